package workload

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/parallel"
)

// stepwise is a workload whose steps count one by one: u_s is what the models are moved by in step s.
type stepwise interface {
	gram(weights []float64) *mat.SymDense // Σ_t weights[t]·G_t (T×T); nil: weights of 1
	errors(y *mat.SymDense) []float64     // ⟨G_t, Y⟩ of every step

	// counts returns how often every entry of the kernel's lower triangle counts in ⟨gram(weights), Y⟩.
	counts(weights []float64, y *mat.SymDense) *diagonals
}

// lagged is the workload of a network that does not change: what u_s has become in step t is
//
//	P_t/P_s · x_(q(t)-r(s)),   P_t/P_s = the product of keep[s+1] … keep[t],
//
// and k has the inner products of the x. Mostly q(t) = t and r(s) = s, which nil stands for; local steps count rounds
// of gossip. Ratios P_t/P_s are made by multiplication, as P may vanish.
type lagged struct {
	steps int
	k     *diagonals
	q, r  []int
	keep  []float64 // nil: 1
}

// newLagged is the workload of s, whose kernel is k.
func newLagged(s Spec, steps int, k *diagonals) *lagged {
	g := &lagged{steps: steps, k: k}
	if s.WeightDecay > 0 && (!s.LearningRates.constant() || s.localSteps() > 1) {
		g.keep = s.keeps(s.rates(steps))
	}
	if local := s.localSteps(); local > 1 {
		g.q, g.r = make([]int, steps), make([]int, steps)
		for t := range steps {
			g.q[t], g.r[t] = (t+1)/local, t/local
			if s.Kind == Message {
				g.q[t] = t / local
			}
		}
	}
	return g
}

// reach returns q(t) - r(s).
func (g *lagged) reach(t, s int) int {
	if g.q == nil {
		return t - s
	}
	return g.q[t] - g.r[s]
}

// startExponent returns r(s).
func (g *lagged) startExponent(s int) int {
	if g.r == nil {
		return s
	}
	return g.r[s]
}

// gram sums along diagonals where nothing but the lag counts, from the last step to the first: G[s,s'] = G[s+1,s'+1] +
// k[T-1-s, T-1-s']. Otherwise it collects what counts at every lag, O(T³/6).
func (g *lagged) gram(weights []float64) *mat.SymDense {
	h := mat.NewSymDense(g.steps, nil)
	if weights == nil && g.q == nil && g.keep == nil {
		for lag := range g.steps {
			var sum float64
			for q, v := range g.k.lag(lag) {
				sum += v
				h.SetSym(g.steps-1-lag-q, g.steps-1-q, sum)
			}
		}
		return h
	}
	parallel.For(g.steps, func(later int) {
		v := g.weightsSince(later, weights)
		g.pairs(later, func(lag, from, to int, ratios []float64) {
			dot := floats.Dot(v, g.k.lag(lag)[:len(v)])
			for s := from; s <= to; s++ {
				h.SetSym(s, later, ratios[s]*dot)
			}
		})
	})
	return h
}

// weightsSince returns how much all steps from one on count that gossip has reached so far: weights[t]·(P_t/P_later)².
func (g *lagged) weightsSince(later int, weights []float64) []float64 {
	v := make([]float64, g.reach(g.steps-1, later)+1)
	ratio := 1.0 // P_t/P_later
	for t := later; t < g.steps; t++ {
		if g.keep != nil && t > later {
			ratio *= g.keep[t]
		}
		w := ratio * ratio
		if weights != nil {
			w *= weights[t]
		}
		v[g.reach(t, later)] += w
	}
	return v
}

// counts is the transpose of gram. O(T³/6).
func (g *lagged) counts(weights []float64, y *mat.SymDense) *diagonals {
	c := &diagonals{g.k.count, make([]float64, len(g.k.data))}
	for later := range g.steps {
		v := g.weightsSince(later, weights)
		g.pairs(later, func(lag, from, to int, ratios []float64) {
			var sum float64
			for s := from; s <= to; s++ {
				sum += twice(s, later) * ratios[s] * y.At(s, later)
			}
			floats.AddScaled(c.lag(lag)[:len(v)], sum, v)
		})
	}
	return c
}

// twice returns how often the pair of two steps is in a symmetric sum.
func twice(s, later int) float64 {
	if s == later {
		return 1
	}
	return 2
}

// pairs calls visit for every run from … to of steps, none after later, with the same r; lag is how much lower this r
// is than the r of step later, and ratios[s] is P_later/P_s.
func (g *lagged) pairs(later int, visit func(lag, from, to int, ratios []float64)) {
	ratios := make([]float64, later+1)
	ratios[later] = 1
	for s := later - 1; s >= 0; s-- {
		ratios[s] = ratios[s+1]
		if g.keep != nil {
			ratios[s] *= g.keep[s+1]
		}
	}
	for to := later; to >= 0; {
		from := to
		for from > 0 && g.startExponent(from-1) == g.startExponent(to) {
			from--
		}
		visit(g.startExponent(later)-g.startExponent(to), from, to, ratios)
		to = from - 1
	}
}

// errors is the other way of gram, O(T³/6).
func (g *lagged) errors(y *mat.SymDense) []float64 {
	parts := make([][]float64, g.steps) // of all pairs of a step with earlier ones
	parallel.For(g.steps, func(later int) {
		sums := make([]float64, g.reach(g.steps-1, later)+1)
		g.pairs(later, func(lag, from, to int, ratios []float64) {
			var v float64
			for s := from; s <= to; s++ {
				v += twice(s, later) * ratios[s] * y.At(s, later)
			}
			floats.AddScaled(sums, v, g.k.lag(lag)[:len(sums)])
		})
		part := make([]float64, g.steps-later)
		ratio := 1.0
		for t := later; t < g.steps; t++ {
			if g.keep != nil && t > later {
				ratio *= g.keep[t]
			}
			part[t-later] = ratio * ratio * sums[g.reach(t, later)]
		}
		parts[later] = part
	})
	total := make([]float64, g.steps)
	for later, part := range parts { // in order, so that the result does not depend on the number of workers
		floats.Add(total[later:], part)
	}
	return total
}
