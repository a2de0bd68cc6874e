package workload

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
	"mafalda/internal/lists"
)

// Impulses returns few sequences of T numbers each, such that the Gram matrix is, but for what is below 1e-7 of the
// largest, the sum of RᵀR over their lower-triangular Toeplitz matrices R[t,s] = impulse[t-s], and never below that sum:
// they are what the network answers to a single step's noise, seen by orthonormal functions of its state. For a response
// that is an estimate, so are they. The errors are ErrWeighted, ErrIndefinite, and eigenvalues that do not converge.
func (r *Response) Impulses() ([][]float64, error) {
	if !r.spec.Weights.allOne() {
		return nil, ErrWeighted
	}
	unit := make([]float64, r.steps)
	unit[0] = 1
	into := r.input(unit)
	var all [][]float64
	for from := 0; from < len(r.groups); from += r.block {
		own, err := impulsesOf(r.groups[from:from+r.block], into)
		if err != nil {
			return nil, err
		}
		if all = append(all, own...); from > 0 {
			if all, err = compress(all, mostImpulses); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// impulsesOf returns the impulses of the modes of one direction.
func impulsesOf(groups []*modes, into []float64) (all [][]float64, err error) {
	steps := len(into)
	var mean *modes
	if groups[0].mean {
		mean, groups = groups[0], groups[1:]
	}
	for _, g := range groups {
		own, err := g.impulses(into, max(4, min(mostImpulses, impulseFloats/(steps*len(groups)))))
		if err != nil {
			return nil, err
		}
		all = append(all, own...)
	}
	if len(groups) > 1 {
		if all, err = compress(all, mostImpulses); err != nil {
			return nil, err
		}
	}
	if mean == nil {
		return all, nil
	}
	// with x the state of the mode θ = 1 and y the linear form, x² + 2xy = (x + y)² - y²
	x, y := make([]float64, steps), make([]float64, steps)
	first := mean.weight
	if mean.metric != nil {
		first *= mean.metric.At(0, 0)
	}
	root := math.Sqrt(first)
	mean.run(into, func(l int, state []float64) {
		x[l] = root * state[0]
		for j, v := range state[1:] {
			y[l] += mean.weight * mean.metric.At(0, 1+j) * v / root
		}
	})
	if len(mean.theta) > 1 {
		floats.Add(x, y)
		if err := subtractProducts(all, y); err != nil {
			return nil, err
		}
	}
	return append(all, x), nil
}

// ErrWeighted is returned by Response.Impulses if errors of some steps count more than others.
var ErrWeighted = errors.New("impulses are for errors of all steps alike")

// ErrIndefinite is returned by Response.Impulses for an estimate by which some noise has a negative squared error.
var ErrIndefinite = errors.New("by the estimate of the network's response some noise has a negative squared error")

// mostImpulses is how many sequences a network is reduced to, and impulseFloats the room for those of all groups.
const (
	mostImpulses  = 32
	impulseFloats = 4 << 20
)

// impulses returns what up to most orthonormal functions see of √weight·M^½x, driven by a sequence.
func (m *modes) impulses(into []float64, most int) ([][]float64, error) {
	size := len(m.theta)
	root := mat.NewDense(size, size, nil)
	for j := range size {
		root.Set(j, j, math.Sqrt(m.weight))
	}
	if m.metric != nil {
		values, vectors, err := eigen(m.metric)
		if err != nil {
			return nil, err
		}
		root.Apply(func(i, j int, _ float64) float64 {
			return math.Sqrt(m.weight*math.Max(values[i], 0)) * vectors.At(j, i)
		}, root)
	}
	lags := sampledLags(len(into))
	seen := mat.NewDense(size, len(lags), nil)
	m.run(into, func(l int, x []float64) {
		if at, ok := lags[l]; ok {
			seen.SetCol(at, x)
		}
	})
	var samples, project mat.Dense
	dense.Mul(&samples, root, seen)
	functions, err := compression(&samples, most)
	if err != nil {
		return nil, err
	}
	dense.Mul(&project, functions, root)
	rows, _ := project.Dims()
	all := lists.Make(rows, func(int) []float64 { return make([]float64, len(into)) })
	m.run(into, func(l int, x []float64) {
		for j := range all {
			all[j][l] = floats.Dot(project.RawRowView(j), x)
		}
	})
	return all, nil
}

// run drives the filters by a sequence, and shows their states.
func (m *modes) run(into []float64, visit func(l int, x []float64)) {
	state := m.bank()
	for l, v := range into {
		visit(l, state.advance(l, v))
	}
}

// sampledLags returns some hundred lags below T with their numbers, denser where there are more changes: the first.
func sampledLags(steps int) map[int]int {
	lags := map[int]int{}
	for l := 0; l < steps; l += 1 + l/24 {
		lags[l] = len(lags)
	}
	return lags
}

// compress returns what the orthonormal functions that see most of the sequences see of them.
func compress(all [][]float64, most int) ([][]float64, error) {
	lags := sampledLags(len(all[0]))
	samples := mat.NewDense(len(all), len(lags), nil)
	for j, s := range all {
		for l, at := range lags {
			samples.Set(j, at, s[l])
		}
	}
	functions, err := compression(samples, most)
	if err != nil {
		return nil, err
	}
	rows, _ := functions.Dims()
	out := make([][]float64, rows)
	for j := range out {
		out[j] = make([]float64, len(all[0]))
		for i, s := range all {
			floats.AddScaled(out[j], functions.At(j, i), s)
		}
	}
	return out, nil
}

// compression returns orthonormal functions, a row each, of as many sequences as there are rows of samples.
func compression(samples *mat.Dense, most int) (*mat.Dense, error) {
	rows, _ := samples.Dims()
	gram := mat.NewDense(rows, rows, nil)
	dense.Mul(gram, samples, samples.T())
	values, vectors, err := eigen(gram)
	if err != nil {
		return nil, err
	}
	first := max(0, rows-most)
	for first < rows-1 && values[first] <= 1e-14*values[rows-1] {
		first++
	}
	return mat.DenseCopyOf(vectors.Slice(0, rows, first, rows).T()), nil
}

// subtractProducts replaces sequences by others whose products are less by y's: y is nearly Σ a_i all_i, and I - aaᵀ has the root
// I - (1 - √(1-‖a‖²)) aaᵀ/‖a‖².
func subtractProducts(all [][]float64, y []float64) error {
	lags := sampledLags(len(y))
	samples, target := mat.NewDense(len(lags), len(all), nil), mat.NewVecDense(len(lags), nil)
	for l, at := range lags {
		target.SetVec(at, y[l])
		for j, s := range all {
			samples.Set(at, j, s[l])
		}
	}
	var qr mat.QR
	qr.Factorize(samples)
	var a mat.VecDense
	if err := qr.SolveVecTo(&a, false, target); err != nil && !errors.As(err, new(mat.Condition)) {
		return err
	}
	square := mat.Dot(&a, &a)
	if !(square < 1) {
		return ErrIndefinite
	}
	if square == 0 {
		return nil
	}
	sum := make([]float64, len(y))
	for j, s := range all {
		floats.AddScaled(sum, a.AtVec(j), s)
	}
	for j, s := range all {
		floats.AddScaled(s, -a.AtVec(j)*(1-math.Sqrt(1-square))/square, sum)
	}
	return nil
}

// eigen returns the eigenvalues, ascending, and eigenvectors of a symmetric matrix.
func eigen(a *mat.Dense) ([]float64, *mat.Dense, error) {
	n, _ := a.Dims()
	symmetric := dense.NewSym(n, func(i, j int) float64 { return (a.At(i, j) + a.At(j, i)) / 2 })
	values, vectors, ok := dense.Spectrum(symmetric)
	if !ok {
		return nil, nil, errors.New("eigenvalues of the response did not converge")
	}
	return values, vectors, nil
}
