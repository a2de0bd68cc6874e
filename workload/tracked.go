package workload

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/lists"
	"mafalda/internal/parallel"
)

// tracked is gradient tracking with rates that change: with x_τ = W^τ and P as in lagged, what the gradient of step s
// has become in step t is
//
//	c x_τ + b (x_τ - x_(τ-1)),   τ = t-s,   c = η_s P_t/P_s,   b = Σ over s < j ≤ t of η_j P_t/P_j.
//
// It costs a dozen multiplications for every three steps in order, O(2T³).
type tracked struct {
	k    *diagonals
	c, b [][]float64 // c and b of step s, for τ = 0 … T-1-s
}

func newTracked(s Spec, steps int, k *diagonals) *tracked {
	g := &tracked{k: k, c: make([][]float64, steps), b: make([][]float64, steps)}
	rates := s.rates(steps)
	keep := s.keeps(rates)
	for from := range steps {
		c, b := make([]float64, steps-from), make([]float64, steps-from)
		c[0] = rates[from]
		for tau := 1; tau < len(c); tau++ {
			c[tau] = keep[from+tau] * c[tau-1]
			b[tau] = keep[from+tau]*b[tau-1] + rates[from+tau]
		}
		g.c[from], g.b[from] = c, b
	}
	return g
}

// products are the inner products of what is a lag apart: of x_(q+lag) or its difference with x_q or its difference.
type products struct{ xx, xd, dx, dd []float64 }

func (g *tracked) products(lag int) products {
	count := g.k.count - lag
	at := func(p, q int) float64 {
		if p < 0 || q < 0 {
			return 0
		}
		return g.k.entry(p, q)
	}
	v := products{g.k.lag(lag), make([]float64, count), make([]float64, count), make([]float64, count)}
	for q := range count {
		p := q + lag
		v.xd[q] = at(p, q) - at(p, q-1)
		v.dx[q] = at(p, q) - at(p-1, q)
		v.dd[q] = v.xd[q] - (at(p-1, q) - at(p-1, q-1))
	}
	return v
}

// terms writes ⟨·,·⟩ of what the gradients of steps s and s+lag are in every step from s+lag on.
func (g *tracked) terms(dst []float64, s, lag int, v products) {
	c, b := g.c[s][lag:], g.b[s][lag:]
	later, old := g.c[s+lag], g.b[s+lag]
	for q := range dst {
		dst[q] = c[q]*(later[q]*v.xx[q]+old[q]*v.xd[q]) + b[q]*(later[q]*v.dx[q]+old[q]*v.dd[q])
	}
}

// pairs calls visit with the terms of all pairs of steps s and s+lag, those of one lag in order.
func (g *tracked) pairs(visit func(s, lag int, terms []float64)) {
	steps := len(g.c)
	parallel.For(steps, func(lag int) {
		v := g.products(lag)
		terms := make([]float64, steps-lag)
		for s := 0; s+lag < steps; s++ {
			dst := terms[:steps-lag-s]
			g.terms(dst, s, lag, v)
			visit(s, lag, dst)
		}
	})
}

func (g *tracked) gram(weights []float64) *mat.SymDense {
	h := mat.NewSymDense(len(g.c), nil)
	g.pairs(func(s, lag int, terms []float64) {
		if weights == nil {
			h.SetSym(s, s+lag, floats.Sum(terms))
		} else {
			h.SetSym(s, s+lag, floats.Dot(terms, weights[s+lag:]))
		}
	})
	return h
}

func (g *tracked) errors(y *mat.SymDense) []float64 {
	steps := len(g.c)
	parts := lists.Make(steps, func(lag int) []float64 { return make([]float64, steps-lag) })
	g.pairs(func(s, lag int, terms []float64) {
		floats.AddScaled(parts[lag][s:], twice(s, s+lag)*y.At(s, s+lag), terms)
	})
	total := make([]float64, steps)
	for lag, part := range parts {
		floats.Add(total[lag:], part)
	}
	return total
}

// counts is the transpose of gram.
func (g *tracked) counts(weights []float64, y *mat.SymDense) *diagonals {
	steps := len(g.c)
	counts := &diagonals{g.k.count, make([]float64, len(g.k.data))}
	add := func(p, q int, v float64) {
		if p >= 0 && q >= 0 {
			counts.add(p, q, v)
		}
	}
	for lag := range steps {
		for s := 0; s+lag < steps; s++ {
			c, b := g.c[s][lag:], g.b[s][lag:]
			later, old := g.c[s+lag], g.b[s+lag]
			factor := twice(s, s+lag) * y.At(s, s+lag)
			for q := range steps - lag - s {
				w := factor
				if weights != nil {
					w *= weights[s+lag+q]
				}
				p, x, d := q+lag, w*c[q], w*b[q]
				add(p, q, x*later[q]+x*old[q]+d*later[q]+d*old[q])
				add(p, q-1, -x*old[q]-d*old[q])
				add(p-1, q, -d*later[q]-d*old[q])
				add(p-1, q-1, d*old[q])
			}
		}
	}
	return counts
}
