package reaction

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"mafalda/internal/lists"
	"mafalda/strategy"
)

// fitted returns a BLT of two poles that is good at standing for C: of those that dominate C with a factor γ, one for
// which γ times the cost of the pattern in local DP is small. All steps of a BLT are alike, so that only patterns that
// begin in step 0 need to be looked at. It returns nil where no start is finite.
func fitted(c strategy.Strategy, pattern []int) *strategy.Toeplitz {
	var (
		steps = c.Steps()
		x     = gram(whole(c))
		top   = start(steps) // the direction that dominates least, kept from BLT to BLT
		best  *strategy.Toeplitz
		least = math.Inf(1)
	)
	cost := func(p []float64) float64 {
		b := blt(steps, p)
		if b == nil {
			return math.Inf(1)
		}
		value := dominance(x, b, top) * spread(b, pattern)
		if value < least {
			best, least = b, value
		}
		if !finite(value) {
			return math.Inf(1)
		}
		return value
	}
	for _, from := range [][]float64{{0, 2, -2.3, -1.2}, {0, 5, -1.2, -2.3}} {
		// an error says that it goes no further: what was found so far counts
		_, _ = optimize.Minimize(optimize.Problem{Func: cost}, from,
			&optimize.Settings{FuncEvaluations: 150, Concurrent: 1}, &optimize.NelderMead{SimplexSize: 0.5})
	}
	return best
}

// blt returns the strategy with c_0 = 1 and c_j = Σ ω_i θ_i^(j−1), two positive buffers: the parameters are the logits of
// θ and the logarithms of ω. It returns nil for what is not finite.
func blt(steps int, p []float64) *strategy.Toeplitz {
	a, b := 1/(1+math.Exp(-p[0])), 1/(1+math.Exp(-p[1]))
	u, v := math.Exp(p[2]), math.Exp(p[3])
	out, err := strategy.NewBLT(steps, 1, []strategy.Section{{A: a + b, B: a * b, P: a + b - u - v, Q: a*b - u*b - v*a}})
	if err != nil {
		return nil
	}
	return out
}

// start returns a direction for dominance to begin with.
func start(n int) []float64 {
	return lists.Make(n, func(i int) float64 { return 1 + 1/float64(i+1) })
}

// dominance returns nearly the least γ with X ⪯ γ·C'ᵀC', by power steps from the direction in top, where it leaves the
// last one; +Inf where numbers are too large.
func dominance(x []float64, by strategy.Strategy, top []float64) float64 {
	var inverse mat.TriDense
	if by.NoisingTo(&inverse) != nil {
		return math.Inf(1)
	}
	raw, n := inverse.RawTriangular(), len(top)
	row := func(t int) []float64 { return raw.Data[t*raw.Stride:][:t+1] }
	value := 0.0
	low, moved := make([]float64, n), make([]float64, n)
	for range 12 {
		length := norm(top)
		if !(length > 0) || !finite(length) {
			copy(top, start(n))
			return math.Inf(1)
		}
		scaled(top, 1/length)
		for t := range low { // C'⁻¹ top
			low[t] = dot(row(t), top[:t+1])
		}
		for i := range moved {
			moved[i] = dot(x[i*n:(i+1)*n], low)
		}
		clear(top)
		for t, v := range moved { // C'⁻ᵀ moved
			add(top[:t+1], v, row(t))
		}
		value = norm(top)
	}
	return value
}

// spread returns what the participations of a pattern cost in local DP with C' if gradients have the worst signs, no one
// of which cancels another.
func spread(by strategy.Strategy, pattern []int) float64 {
	c := strategy.LowerOf(by)
	columns := make([][]float64, len(pattern))
	for i, t := range pattern {
		columns[i] = make([]float64, by.Steps())
		for s := t; s < by.Steps(); s++ {
			columns[i][s] = c.At(s, t)
		}
	}
	sum := 0.0
	for i, x := range columns {
		for _, y := range columns[:i] {
			sum += 2 * math.Abs(dot(x[pattern[i]:], y[pattern[i]:]))
		}
		sum += dot(x, x)
	}
	return sum
}
