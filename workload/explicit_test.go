package workload

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
	"mafalda/internal/lists"
)

// maxExplicit is the largest n·T the explicit construction accepts: its matrices have (nT)² entries, 128 MB each here.
const maxExplicit = 4096

// maxAbsences is the largest T for which the explicit construction goes through all 2^T ways to be absent.
const maxAbsences = 12

// errTooLarge is returned by the explicit construction for more than it can do; Gram has no such limit.
var errTooLarge = errors.New("too large for the explicit construction")

// explicitGram returns H = Σ_i H_i (T×T) by its definition, for reading and for testing Gram: the recursion of the spec
// (State) is run on a unit impulse of noise for every step and node, and the squares of what shows are summed up.
// Random networks are taken as they were drawn, without an expectation; absences are averaged over all ways to be
// absent, of all nodes together under a curvature, where all is summed up over its directions. For the Prefix kind
// networks is not read and may be nil.
//
// It needs (nT)² numbers. The errors are Spec.Check's, and errTooLarge for n·T > 4096, or T > 12 with absences, n·T > 12
// under a curvature.
func explicitGram(networks *Networks, steps int, s Spec, c Curvature) (*mat.SymDense, error) {
	grams, err := explicitGramsOfNodes(networks, steps, s, c)
	if err != nil {
		return nil, err
	}
	h := mat.NewSymDense(steps, nil)
	for _, hi := range grams {
		h.AddSym(h, hi)
	}
	return h, nil
}

// explicitGramsOfNodes returns H_i = A_iᵀA_i (T×T) for the noise of every node i alone, as explicitGram does.
func explicitGramsOfNodes(networks *Networks, steps int, s Spec, c Curvature) ([]*mat.SymDense, error) {
	if c == nil {
		return explicitNodeGrams(networks, steps, s)
	}
	var sum []*mat.SymDense
	for _, d := range c {
		grams, err := explicitReacting(networks, steps, s, d.X)
		if err != nil {
			return nil, err
		}
		for i, h := range grams {
			if h.ScaleSym(d.Weight, h); sum != nil {
				h.AddSym(h, sum[i])
			}
		}
		sum = grams
	}
	return sum, nil
}

func explicitNodeGrams(networks *Networks, steps int, s Spec) ([]*mat.SymDense, error) {
	grams, err := squaresOf(networks, steps, s, 0, 0)
	if err != nil || s.MissedSteps == 0 {
		return grams, err
	}
	if steps > maxAbsences {
		return nil, fmt.Errorf("%d steps with absences: %w (at most %d)", steps, errTooLarge, maxAbsences)
	}
	return lists.Map(grams, s.Absence.explicit), nil
}

// explicitReacting returns the average over all ways in which nodes are absent, with feedback x where they are there.
func explicitReacting(networks *Networks, steps int, s Spec, x float64) ([]*mat.SymDense, error) {
	if s.MissedSteps == 0 {
		return squaresOf(networks, steps, s, x, 0)
	}
	n := 1
	if s.Kind != Prefix {
		n = networks.Nodes()
	}
	size := n * steps
	if size > maxAbsences {
		return nil, fmt.Errorf("%d steps of nodes with absences: %w (at most %d)", size, errTooLarge, maxAbsences)
	}
	sum := lists.Make(n, func(int) *mat.SymDense { return mat.NewSymDense(steps, nil) })
	for missed := range 1 << size {
		grams, err := squaresOf(networks, steps, s, x, missed)
		if err != nil {
			return nil, err
		}
		count := float64(bits.OnesCount(uint(missed)))
		probability := math.Pow(s.MissedSteps, count) * math.Pow(1-s.MissedSteps, float64(size)-count)
		for i, h := range grams {
			h.ScaleSym(probability, h)
			sum[i].AddSym(sum[i], h)
		}
	}
	return sum, nil
}

// squaresOf returns A_iᵀA_i for the columns of every node i, where a run misses steps.
func squaresOf(networks *Networks, steps int, s Spec, x float64, missed int) ([]*mat.SymDense, error) {
	a, err := explicit(networks, steps, s, x, missed)
	if err != nil {
		return nil, err
	}
	weights, err := s.Weights.Vector(steps)
	if err != nil {
		return nil, err
	}
	rows, _ := a.Dims()
	n := rows / steps
	a.Apply(func(r, _ int, v float64) float64 { return v * math.Sqrt(weights[r/n]) }, a)
	grams := make([]*mat.SymDense, n)
	for i := range grams {
		ai := mat.NewDense(rows, steps, nil)
		for t := range steps {
			ai.SetCol(t, mat.Col(nil, t*n+i, a))
		}
		grams[i] = mat.NewSymDense(steps, nil)
		grams[i].SymOuterK(1, ai.T())
	}
	return grams, nil
}

// explicitWorkload returns the workload of the spec, without weights and absences: nT×nT, rows and columns sorted "time, then
// node". Column (s, i) is what a unit impulse of noise at node i in step s makes of the models, or of the messages, of
// all steps and nodes, times -1, where a gradient has x times its model in it.
func explicitWorkload(networks *Networks, steps int, s Spec, x float64) (*mat.Dense, error) {
	return explicit(networks, steps, s, x, 0)
}

// explicit is explicitWorkload of a run in which node i has no gradient in step t if bit tn+i of missed is set.
func explicit(networks *Networks, steps int, s Spec, x float64, missed int) (*mat.Dense, error) {
	n := 1
	if s.Kind != Prefix {
		n = networks.Nodes()
	}
	size := n * steps
	if size > maxExplicit {
		return nil, fmt.Errorf("workload of n·T = %d·%d rows: %w (at most %d)", n, steps, errTooLarge, maxExplicit)
	}
	state, err := NewState[float64](s, steps, n, size, 1) // a model has one number for every impulse
	if err != nil {
		return nil, err
	}
	a := mat.NewDense(size, size, nil)
	impulses, waiting := make([]float64, n*size), make([]float64, n*size)
	for t := range steps {
		clear(impulses)
		for i := range n {
			own := waiting[i*size : (i+1)*size]
			own[t*n+i] = 1
			absent := missed>>(t*n+i)&1 == 1
			if !absent {
				floats.AddScaledTo(impulses[i*size:(i+1)*size], own, x, state.Model(i))
			}
			if !absent || !s.Carry {
				clear(own)
			}
		}
		state.Step(impulses, networks, func(models []float64) {
			a.Slice(t*n, (t+1)*n, 0, size).(*mat.Dense).Scale(-1, mat.NewDense(n, size, models))
		})
	}
	return a, nil
}

// explicit returns E[MᵀHM] over all ways to be absent: M[t,s] = 1 if row s of the noise is sent in step t.
func (a Absence) explicit(h *mat.SymDense) *mat.SymDense {
	steps := h.SymmetricDim()
	sum := mat.NewSymDense(steps, nil)
	for missed := range 1 << steps { // bit t: step t is missed
		sent := mat.NewDense(steps, steps, nil)
		probability := 1.0
		next := -1 // the first step from t on that is not missed
		for t := steps - 1; t >= 0; t-- {
			if missed>>t&1 == 1 {
				probability *= a.MissedSteps
			} else {
				probability *= 1 - a.MissedSteps
				next = t
			}
			if next == t || a.Carry && next >= 0 {
				sent.Set(next, t, 1)
			}
		}
		var half, whole mat.Dense
		half.Mul(h, sent)
		whole.Mul(sent.T(), &half)
		for i := range steps {
			for j := i; j < steps; j++ {
				sum.SetSym(i, j, sum.At(i, j)+probability*whole.At(i, j))
			}
		}
	}
	return sum
}

func TestExplicitWorkload(t *testing.T) {
	w := graph.NewCSRFromDense(mat.NewDense(2, 2, []float64{0.5, 0.5, 0, 1})) // W² = [.25 .75; 0 1]
	message, err := paperWorkload(w, 3, Message)
	if err != nil {
		t.Fatal(err)
	}
	want := mat.NewDense(6, 6, []float64{
		1, 0, 0, 0, 0, 0,
		0, 1, 0, 0, 0, 0,
		0.5, 0.5, 1, 0, 0, 0,
		0, 1, 0, 1, 0, 0,
		0.25, 0.75, 0.5, 0.5, 1, 0,
		0, 1, 0, 1, 0, 1,
	})
	if !mat.Equal(message, want) {
		t.Errorf("W_T =\n%v", mat.Formatted(message))
	}
	model, err := paperWorkload(w, 2, Model)
	if err != nil {
		t.Fatal(err)
	}
	want = mat.NewDense(4, 4, []float64{
		0.5, 0.5, 0, 0,
		0, 1, 0, 0,
		0.25, 0.75, 0.5, 0.5,
		0, 1, 0, 1,
	})
	if !mat.Equal(model, want) {
		t.Errorf("(I⊗W)W_T =\n%v", mat.Formatted(model))
	}
}

func TestExplicitRefusesLargeSizes(t *testing.T) {
	if _, err := explicitGram(networksOf(t, Spec{}, complete(5)), 1000, Spec{}, nil); !errors.Is(err, errTooLarge) {
		t.Errorf("n·T = 5000: error %v, want errTooLarge", err)
	}
	if _, err := paperWorkload(complete(2), 2, Prefix); err == nil {
		t.Error("the prefix workload was built from a network")
	}
}
