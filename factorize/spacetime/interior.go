package spacetime

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"mafalda/internal/lists"
)

// interior is a primal-dual interior point of the problem
//
//	minimize costᵀx   subject to   reach_k(x) - t_k = 1,  t ≥ 0,  0 ≤ x ≤ limit,
//
// with multipliers y of the constraints, λ and ν of the bounds. Its steps are Newton's for
//
//	cost - Σ y_k ∇reach_k - λ + ν = 0,    y_k t_k = λ_i x_i = ν_i (limit_i - x_i) = μ,
//
// with Mehrotra's predictor and corrector. reach_k is concave and homogeneous of degree one, so that reach = ∇reachᵀx:
// near the optimum the problem is as good as linear.
type interior struct {
	design       *design
	position     *position
	x            []float64
	lower, upper []float64      // λ, ν
	active       [][]constraint // active constraints of every threat, by victim
	matrix       newton
	mu           float64
}

// negligible is the weight, relative to the mean of a node's, below which a constraint does not count.
const negligible = 1e-5

// start sets slacks and multipliers as near as possible to a central point at x with parameter μ.
func (s *interior) start(x []float64, mu float64) bool {
	s.x = x
	if s.position = newPosition(s.design, x); s.position == nil {
		return false
	}
	s.mu, s.matrix.significant = mu, 1e-3
	s.lower, s.upper = make([]float64, len(x)), make([]float64, len(x))
	for i, v := range x {
		s.lower[i], s.upper[i] = mu/v, mu/(s.design.limit[i]-v)
	}
	s.active = make([][]constraint, len(s.position.reach))
	s.admit(startOf, 0.3)
	return true
}

// widen moves the point away from where constraints and bounds are tight, until no product is below mu: it raises whichever
// of its factors is the smaller one for its kind. It returns false where arithmetic does not allow that.
func (s *interior) widen(mu float64) bool {
	var weights float64
	for _, active := range s.active {
		for _, c := range active {
			weights += c.weight
		}
	}
	weights /= float64(s.design.nodes)
	for t := range s.active {
		for i := range s.active[t] {
			if c := &s.active[t][i]; c.slack*c.weight < mu {
				if c.weight > weights*c.slack {
					c.slack = mu / c.weight
				} else {
					c.weight = mu / c.slack
				}
			}
		}
	}
	x := slices.Clone(s.x)
	for i, limit := range s.design.limit {
		cost := s.design.cost[i]
		if s.lower[i]*x[i] < mu {
			if s.lower[i] > cost*x[i] {
				x[i] = math.Min(mu/s.lower[i], 0.5*limit)
			}
			s.lower[i] = math.Max(s.lower[i], mu/x[i])
		}
		if rest := limit - x[i]; s.upper[i]*rest < mu {
			if s.upper[i] > cost*rest {
				x[i] = math.Max(limit-mu/s.upper[i], 0.5*limit)
			}
			s.upper[i] = math.Max(s.upper[i], mu/(limit-x[i]))
		}
	}
	s.x, s.position, s.mu = x, newPosition(s.design, x), mu
	return s.position != nil
}

// newcomer is the share of a node's mean weight that a constraint has at most when it comes in later.
const newcomer = 0.01

// worstOf is how many of the attackers that a victim has most to fear from are always counted.
const worstOf = 4

// startOf is that number for a first point.
const startOf = 6

// admit drops constraints without weight and adds, for every victim, those that are nearest to being tight, with at most
// such a share of the mean weight of a node.
func (s *interior) admit(count int, share float64) {
	d := s.design
	type candidate struct {
		threat, at int
		reach      float64
	}
	best := make([][]candidate, d.nodes)
	var total float64
	for t, threat := range d.threats {
		for _, c := range s.active[t] {
			total += c.weight
		}
		for i, v := range threat.Victims {
			c := candidate{t, i, s.position.reach[t][i]}
			at, _ := slices.BinarySearchFunc(best[v], c, func(a, b candidate) int { return cmp.Compare(a.reach, b.reach) })
			if at < count {
				best[v] = slices.Insert(best[v][:min(len(best[v]), count-1)], at, c)
			}
		}
	}
	for t := range s.active {
		s.active[t] = slices.DeleteFunc(s.active[t], func(c constraint) bool {
			worst := best[d.threats[t].Victims[c.at]]
			near := s.position.reach[t][c.at] <= worst[len(worst)-1].reach
			return !near && c.weight < negligible*total/float64(d.nodes)
		})
	}
	for _, candidates := range best {
		for _, c := range candidates {
			at, in := slices.BinarySearchFunc(s.active[c.threat], c.at, func(a constraint, b int) int { return a.at - b })
			if !in {
				// the slack that gives it such a share of the mean weight of a node
				slack := math.Max(c.reach-1, s.mu*float64(d.nodes)/(share*dot(d.cost, s.x)))
				s.active[c.threat] = slices.Insert(s.active[c.threat], at, constraint{c.at, slack, s.mu / slack})
			}
		}
	}
}

const (
	// fraction of the way to where a variable, a slack or a multiplier is zero that a step goes at most.
	fraction = 0.95
	// corrections of a direction at most: each costs two triangular solves, next to nothing beside the matrix.
	corrections = 6
	// central products are between mu/central and mu·central.
	central = 10
)

// pairs are all numbers that are at least zero, slacks, variables, and what is left to their limits, each with its
// multiplier; or what a step changes of them.
type pairs struct{ value, multiplier []float64 }

// pairs returns the pairs of a point: those of constraints, λ's, ν's.
func (s *interior) pairs(w *working) pairs {
	p := pairs{slices.Concat(w.slack, s.x, s.design.limit), slices.Concat(w.weight, s.lower, s.upper)}
	floats.Sub(p.value[len(p.value)-len(s.x):], s.x)
	return p
}

// product returns the product of pair j after steps of these lengths.
func (p pairs) product(d pairs, j int, primal, dual float64) float64 {
	return (p.value[j] + primal*d.value[j]) * (p.multiplier[j] + dual*d.multiplier[j])
}

// step makes an iteration toward products that are no less than least, and returns false where arithmetic allows none.
func (s *interior) step(w *working, least float64) bool {
	p, n := s.pairs(w), len(s.x)
	bounds := len(w.slack)
	s.matrix.assemble(s.position, w, lists.Make(n, func(i int) float64 {
		lower, upper := bounds+i, bounds+n+i
		return p.multiplier[lower]/p.value[lower] + p.multiplier[upper]/p.value[upper]
	}))
	if !s.matrix.factorize() {
		return false
	}
	complement := dot(w.slack, w.weight) + dot(s.lower, s.x) // the mean of all products
	for j := bounds + n; j < len(p.value); j++ {
		complement += p.multiplier[j] * p.value[j]
	}
	complement /= float64(len(p.value))
	aim := make([]float64, len(p.value))
	affine := s.solve(w, p, aim)
	ap, ad := p.lengths(affine, 1)
	var after float64
	for k := range bounds {
		after += p.product(affine, k, ap, ad)
	}
	for i := range n {
		after += p.product(affine, bounds+i, ap, ad)
		after += p.product(affine, bounds+n+i, ap, ad)
	}
	after /= float64(len(p.value))
	s.mu = math.Max(math.Pow(after/complement, 3), 1e-2) * complement
	s.mu = math.Max(s.mu, math.Min(least, 0.5*complement))
	for j, v := range affine.value {
		aim[j] = s.mu - ap*ad*v*affine.multiplier[j]
	}
	d := s.correctRepeatedly(w, p, aim)
	ap, ad = p.lengths(d, fraction)
	return s.move(w, p, d, ap, ad)
}

// correctRepeatedly returns the direction to the products aimed at, with changes to these, which it makes in aim, as long as they
// make steps longer (Gondzio, "Multiple centrality corrections in a primal-dual method for linear programming", 1996).
func (s *interior) correctRepeatedly(w *working, p pairs, aim []float64) pairs {
	d := s.solve(w, p, aim)
	ap, ad := p.lengths(d, 1)
	for range corrections {
		s.correct(p, aim, d, math.Min(1, 1.1*ap+0.1), math.Min(1, 1.1*ad+0.1))
		next := s.solve(w, p, aim)
		nextP, nextD := p.lengths(next, 1)
		if nextP < 1.01*ap && nextD < 1.01*ad || nextP < 0.9*ap || nextD < 0.9*ad {
			break
		}
		d, ap, ad = next, nextP, nextD
	}
	return d
}

// correct changes what is aimed at where a longer step would end far from the central path.
func (s *interior) correct(p pairs, aim []float64, d pairs, ap, ad float64) {
	least, most := s.mu/central, s.mu*central
	for j := range aim {
		switch product := p.product(d, j, ap, ad); {
		case product < least:
			aim[j] += least - product
		case product > most:
			aim[j] += math.Max(most-product, -most)
		}
	}
}

// solve returns the direction to where the products are those aimed at.
func (s *interior) solve(w *working, p pairs, aim []float64) pairs {
	k, n := len(w.slack), len(s.x)
	d := pairs{make([]float64, len(aim)), make([]float64, len(aim))}
	slack, x, rest := d.value[:k], d.value[k:k+n], d.value[k+n:]
	pull, residual := make([]float64, k), make([]float64, k) // reach - 1 - t
	for i, t := range w.slack {
		residual[i] = w.reach[i] - 1 - t
		pull[i] = (aim[i] - w.weight[i]*residual[i]) / t
	}
	w.pullTo(s.design, x, pull)
	for i, cost := range s.design.cost {
		x[i] += aim[k+i]/p.value[k+i] - aim[k+n+i]/p.value[k+n+i] - cost
	}
	s.matrix.solve(x)
	w.mulTo(slack, x)
	floats.Add(slack, residual)
	floats.ScaleTo(rest, -1, x)
	for j, v := range p.value {
		d.multiplier[j] = (aim[j] - p.multiplier[j]*(v+d.value[j])) / v
	}
	return d
}

// lengths returns the longest steps of values and multipliers, up to 1, that go at most a fraction of the way to where
// one of them is zero.
func (p pairs) lengths(d pairs, fraction float64) (primal, dual float64) {
	longest := func(at, steps []float64) float64 {
		least := 1.0
		for j, step := range steps {
			if !(step >= 0) { // nor NaN
				least = math.Min(least, -fraction*at[j]/step)
			}
		}
		return least
	}
	return longest(p.value, d.value), longest(p.multiplier, d.multiplier)
}

// move goes along a direction, as far as the point stays inside.
func (s *interior) move(w *working, p, d pairs, primal, dual float64) bool {
	k, n := len(w.slack), len(s.x)
	x := make([]float64, n)
	var next *position
	for next == nil {
		floats.AddScaledTo(x, s.x, primal, d.value[k:k+n])
		if next = newPosition(s.design, x); next == nil {
			if primal /= 2; !(primal >= 1e-9) { // nor NaN
				return false
			}
		}
	}
	s.x, s.position = x, next
	floats.AddScaled(s.lower, dual, d.multiplier[k:k+n])
	floats.AddScaled(s.upper, dual, d.multiplier[k+n:])
	k = 0
	for _, g := range w.of {
		for i := range s.active[g.threat] {
			c := &s.active[g.threat][i]
			c.slack = math.Max(next.reach[g.threat][c.at]-1, w.slack[k]+primal*d.value[k])
			c.weight = w.weight[k] + dual*d.multiplier[k]
			k++
		}
	}
	s.admit(worstOf, newcomer)
	return true
}
