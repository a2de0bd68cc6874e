package spacetime

import (
	"cmp"
	"math"
	"slices"

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

// direction is a step of all that a point has.
type direction struct{ x, slack, weight, lower, upper []float64 }

// step makes an iteration toward products that are no less than least, and returns false where arithmetic allows none.
func (s *interior) step(w *working, least float64) bool {
	s.matrix.assemble(s.position, w, lists.Make(len(s.x), func(i int) float64 {
		return s.lower[i]/s.x[i] + s.upper[i]/(s.design.limit[i]-s.x[i])
	}))
	if !s.matrix.factorize() {
		return false
	}
	complement := s.complement(w)
	aim := s.products(w, 0)
	affine := s.solve(w, aim)
	ap, ad := s.lengths(w, affine, 1)
	after := s.complementAfter(w, affine, ap, ad)
	s.mu = math.Max(math.Pow(after/complement, 3), 1e-2) * complement
	s.mu = math.Max(s.mu, math.Min(least, 0.5*complement))
	aim = s.products(w, s.mu)
	aim.less(affine, ap*ad)
	d := s.correctRepeatedly(w, aim)
	ap, ad = s.lengths(w, d, fraction)
	return s.move(w, d, ap, ad)
}

// complement returns the mean of all products of a multiplier and what it belongs to.
func (s *interior) complement(w *working) float64 {
	sum := dot(w.slack, w.weight) + dot(s.lower, s.x)
	for i, v := range s.upper {
		sum += v * (s.design.limit[i] - s.x[i])
	}
	return sum / float64(len(w.slack)+2*len(s.x))
}

func (s *interior) complementAfter(w *working, d *direction, ap, ad float64) float64 {
	var sum float64
	for k, t := range w.slack {
		sum += (t + ap*d.slack[k]) * (w.weight[k] + ad*d.weight[k])
	}
	for i, v := range s.x {
		sum += (v + ap*d.x[i]) * (s.lower[i] + ad*d.lower[i])
		sum += (s.design.limit[i] - v - ap*d.x[i]) * (s.upper[i] + ad*d.upper[i])
	}
	return sum / float64(len(w.slack)+2*len(s.x))
}

// products are values for the products of multipliers and what they belong to.
type products struct{ slack, lower, upper []float64 }

// products returns products that are all mu.
func (s *interior) products(w *working, mu float64) *products {
	all := func(n int) []float64 { return slices.Repeat([]float64{mu}, n) }
	return &products{all(len(w.slack)), all(len(s.x)), all(len(s.x))}
}

// less takes away the products of a direction's steps, times a share.
func (p *products) less(d *direction, share float64) {
	for k, v := range d.slack {
		p.slack[k] -= share * v * d.weight[k]
	}
	for i, v := range d.x {
		p.lower[i] -= share * v * d.lower[i]
		p.upper[i] += share * v * d.upper[i]
	}
}

// correctRepeatedly returns the direction to the products aimed at, with changes to these, which it makes in aim, as long as they
// make steps longer (Gondzio, "Multiple centrality corrections in a primal-dual method for linear programming", 1996).
func (s *interior) correctRepeatedly(w *working, aim *products) *direction {
	d := s.solve(w, aim)
	ap, ad := s.lengths(w, d, 1)
	for range corrections {
		s.correct(w, aim, d, math.Min(1, 1.1*ap+0.1), math.Min(1, 1.1*ad+0.1))
		next := s.solve(w, aim)
		nextP, nextD := s.lengths(w, next, 1)
		if nextP < 1.01*ap && nextD < 1.01*ad || nextP < 0.9*ap || nextD < 0.9*ad {
			break
		}
		d, ap, ad = next, nextP, nextD
	}
	return d
}

// correct changes what is aimed at where a longer step would end far from the central path.
func (s *interior) correct(w *working, aim *products, d *direction, ap, ad float64) {
	least, most := s.mu/central, s.mu*central
	change := func(p float64) float64 {
		switch {
		case p < least:
			return least - p
		case p > most:
			return math.Max(most-p, -most)
		}
		return 0
	}
	for k, t := range w.slack {
		aim.slack[k] += change((t + ap*d.slack[k]) * (w.weight[k] + ad*d.weight[k]))
	}
	for i, v := range s.x {
		aim.lower[i] += change((v + ap*d.x[i]) * (s.lower[i] + ad*d.lower[i]))
		aim.upper[i] += change((s.design.limit[i] - v - ap*d.x[i]) * (s.upper[i] + ad*d.upper[i]))
	}
}

// solve returns the direction to where the products are those aimed at.
func (s *interior) solve(w *working, aim *products) *direction {
	d := &direction{x: make([]float64, len(s.x)), slack: make([]float64, len(w.slack)),
		weight: make([]float64, len(w.slack)), lower: make([]float64, len(s.x)), upper: make([]float64, len(s.x))}
	pull := make([]float64, len(w.slack))
	residual := make([]float64, len(w.slack)) // reach - 1 - t
	for k, t := range w.slack {
		residual[k] = w.reach[k] - 1 - t
		pull[k] = (aim.slack[k] - w.weight[k]*residual[k]) / t
	}
	w.pullTo(s.design, d.x, pull)
	for i, v := range s.x {
		d.x[i] += aim.lower[i]/v - aim.upper[i]/(s.design.limit[i]-v) - s.design.cost[i]
	}
	s.matrix.solve(d.x)
	w.mulTo(d.slack, d.x)
	for k, t := range w.slack {
		d.slack[k] += residual[k]
		d.weight[k] = (aim.slack[k] - w.weight[k]*(t+d.slack[k])) / t
	}
	for i, v := range s.x {
		d.lower[i] = (aim.lower[i] - s.lower[i]*(v+d.x[i])) / v
		d.upper[i] = (aim.upper[i] - s.upper[i]*(s.design.limit[i]-v-d.x[i])) / (s.design.limit[i] - v)
	}
	return d
}

// lengths returns the longest steps of variables and multipliers, up to 1, that go at most a fraction of the way to where
// one of them is zero.
func (s *interior) lengths(w *working, d *direction, fraction float64) (primal, dual float64) {
	primal, dual = 1, 1
	for i, v := range s.x {
		primal = math.Min(primal, longest(v, d.x[i], fraction))
		primal = math.Min(primal, longest(s.design.limit[i]-v, -d.x[i], fraction))
		dual = math.Min(dual, longest(s.lower[i], d.lower[i], fraction))
		dual = math.Min(dual, longest(s.upper[i], d.upper[i], fraction))
	}
	for k, t := range w.slack {
		primal = math.Min(primal, longest(t, d.slack[k], fraction))
		dual = math.Min(dual, longest(w.weight[k], d.weight[k], fraction))
	}
	return primal, dual
}

func longest(v, step, fraction float64) float64 {
	if step >= 0 {
		return 1
	}
	return -fraction * v / step
}

// move goes along a direction, as far as the point stays inside.
func (s *interior) move(w *working, d *direction, primal, dual float64) bool {
	x := make([]float64, len(s.x))
	var next *position
	for next == nil {
		for i, v := range s.x {
			x[i] = v + primal*d.x[i]
		}
		if next = newPosition(s.design, x); next == nil {
			if primal /= 2; !(primal >= 1e-9) { // nor NaN
				return false
			}
		}
	}
	s.x, s.position = x, next
	for i := range x {
		s.lower[i] += dual * d.lower[i]
		s.upper[i] += dual * d.upper[i]
	}
	k := 0
	for _, g := range w.of {
		for i := range s.active[g.threat] {
			c := &s.active[g.threat][i]
			c.slack = math.Max(next.reach[g.threat][c.at]-1, w.slack[k]+primal*d.slack[k])
			c.weight = w.weight[k] + dual*d.weight[k]
			k++
		}
	}
	s.admit(worstOf, newcomer)
	return true
}
