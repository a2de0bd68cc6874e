package reaction

import (
	"math"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/blas"

	"mafalda/internal/gemm"
)

// gaussian is what is learned of a record's inputs in the steps of a pattern if all nodes answer linearly. The view is
// Gaussian then, and its M exact: aᵀMa is the least Σ|c_t|² that hides inputs a, known from the start, so that shifts
// may begin before the first of them.
//
// With V_t(χ) = χᵀPχ + 2pᵀχ + …, p goes backward from each input: λ = Q·input there, p = moveᵀλ, and through a gate
//
//	w = ontoᵀp,     λ = intoᵀ[F 1]ᵀw,     M −= w_ρᵀ(weight + Y_ρρ)⁻¹w_ρ,
//
// the last for what is saved by shifts before the input.
type gaussian struct {
	*trace
	stages  *stages
	linear  []*answer
	node    int
	pattern []int
	m       []float64   // M, k×k
	shifts  [][]float64 // what later inputs move the free coordinates by in each step, h×k
	future  [][]float64 // λ of later inputs in each step, n×k
	value   float64     // the largest aᵀMa found, a in {−1, 1}^k
	signs   []float64   // the a of value
}

// gaussianOf returns the view behind a trace that goes back to step 0.
func gaussianOf(all *stages, tr *trace, linear []*answer, node int, pattern []int) *gaussian {
	k, steps := len(pattern), len(all.gates)
	g := &gaussian{trace: tr, stages: all, linear: linear, node: node, pattern: pattern, m: make([]float64, k*k),
		shifts: make([][]float64, steps), future: make([][]float64, steps)}
	p := make([]float64, all.n*k)
	for t := pattern[k-1]; t >= 0; t-- {
		lambda := make([]float64, all.n*k)
		if t < pattern[k-1] {
			lambda = g.through(t, p)
		}
		g.future[t] = slices.Clone(lambda)
		if i, in := slices.BinarySearch(pattern, t); in {
			input := linear[t].inject.times(unitVector(all.m, node), 1)
			for j := i + 1; j < k; j++ {
				both := 0.0
				for at, x := range input {
					both += x * lambda[at*k+j]
				}
				g.m[i*k+j] += both
				g.m[j*k+i] += both
			}
			g.m[i*k+i] += tr.single[t][node]
			for at, x := range tr.pull[t][node*all.n : (node+1)*all.n] {
				lambda[at*k+i] = x
			}
		}
		p = linear[t].move.transposeTimes(lambda, k)
	}
	g.choose()
	return g
}

// through returns λ before noise in step t of p after it, and takes from M what shifts there save.
func (g *gaussian) through(t int, p []float64) []float64 {
	f, k := g.back[t], len(g.pattern)
	gate := f.gate
	w := gate.onto.transposeTimes(p, k)
	if gate.h == 0 {
		return gate.into.transposeTimes(w, k)
	}
	free, rows := general(gate.h, k, w), general(gate.h, gate.k, f.f)
	shift := make([]float64, gate.h*k) // (weight + Y_ρρ)⁻¹w_ρ = F_ρ w_ρ/weight
	square := rows
	square.Cols = gate.h
	gemm.Gemm(blas.NoTrans, blas.NoTrans, 1/gate.weight, square, free, 0, general(gate.h, k, shift))
	gemm.Gemm(blas.Trans, blas.NoTrans, -1, free, general(gate.h, k, shift), 1, general(k, k, g.m))
	g.shifts[t] = shift
	steered := make([]float64, gate.k*k)
	copy(steered[gate.h*k:], w[gate.h*k:])
	gemm.Gemm(blas.Trans, blas.NoTrans, 1, rows, free, 1, general(gate.k, k, steered))
	return gate.into.transposeTimes(steered, k)
}

// choose finds signs with a large aᵀMa: the largest for up to 10 participations, a local maximum for more.
func (g *gaussian) choose() {
	k, m := len(g.pattern), g.m
	symmetrize(m, k)
	signs := slices.Repeat([]float64{1}, k)
	row := func(i int) float64 { return dot(m[i*k:(i+1)*k], signs) * signs[i] }
	gain := func(i int) float64 { return 4 * (m[i*k+i] - row(i)) } // of turning sign i
	sum := 0.0
	for i := range k {
		sum += row(i)
	}
	g.value, g.signs = sum, slices.Clone(signs)
	turn := func(i int) {
		sum += gain(i)
		signs[i] = -signs[i]
		if sum > g.value {
			g.value = sum
			copy(g.signs, signs)
		}
	}
	if k <= 10 {
		for code := 1; code < 1<<(k-1); code++ { // a Gray code: one sign at a time
			turn(bits.TrailingZeros(uint(code)))
		}
		return
	}
	for range 100 * k {
		top := 0
		for i := range k {
			if gain(i) > gain(top) {
				top = i
			}
		}
		if !(gain(top) > 1e-12*math.Abs(sum)) {
			return
		}
		turn(top)
	}
}

// improved returns answers at those ends of the class that cost more along the run of least cost against the linear
// answers, for the inputs chosen.
func (g *gaussian) improved(classes [][]Class) [][]float64 {
	all, k := g.stages, len(g.pattern)
	answers := make([][]float64, len(all.gates))
	chi := make([]float64, all.n)
	for t := range answers {
		answers[t] = make([]float64, all.m)
		a := g.linear[t]
		sigma := a.move.times(chi, 1)
		if i, in := slices.BinarySearch(g.pattern, t); in {
			add(sigma, 1, a.inject.times(scaled(unitVector(all.m, g.node), g.signs[i]), 1))
		}
		later := make([]float64, all.n)
		if g.future[t] != nil {
			for at := range later {
				later[at] = dot(g.future[t][at*k:(at+1)*k], g.signs)
			}
		}
		later = a.inject.transposeTimes(later, 1)
		for v, c := range classes[t] {
			answers[t][v] = c.costlier((dot(g.pull[t][v*all.n:(v+1)*all.n], sigma) + later[v]) * chi[v])
		}
		if t+1 == len(all.gates) {
			break
		}
		gate := g.back[t].gate
		free := g.back[t].free(sigma, 1)
		if g.shifts[t] != nil {
			for a := range gate.h {
				free[a] -= dot(g.shifts[t][a*k:(a+1)*k], g.signs)
			}
		}
		chi = gate.onto.times(free, 1)
	}
	return answers
}
