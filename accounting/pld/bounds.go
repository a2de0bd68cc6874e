package pld

import (
	"math"

	"mafalda/internal/rounding"
)

// rounded is what an ε or δ found on a curve may be off by its own arithmetic.
const rounded = 1e-12

// epsilon returns bounds of ε for this direction: in the worst case +Inf and 0. Grids are made finer until the bounds are
// close, or an upper one is not above enough, or a finer one would show no more or take too many points.
func (r *direction) epsilon(delta, enough float64) (upper, lower float64) {
	s := r.saddleFor(math.Log(delta))
	slope, finer := s.tilt, 1.0
	upper = math.Inf(1)
	last, points := math.Inf(1), 0 // step; points of grids
	for try := range tries {
		step := r.step(s, slope, accuracy/finer)
		if try > 1 && (step > 0.9*last || points > manyPoints) {
			break
		}
		last = step
		u, l, err := r.bounds(s, step, true)
		if err != nil {
			break
		}
		upper = math.Min(upper, u.upperEpsilon(delta))
		points += len(u.delta)
		if l != nil {
			lower = math.Max(lower, l.lowerEpsilon(delta))
			points += len(l.delta)
		}
		if upper-lower <= goodEnough*upper || math.IsInf(upper, 1) || upper <= enough ||
			l == nil && try > 0 {
			break
		}
		// The approximation was poor. Now ε and the slope are known.
		s, slope = r.saddleAt(upper), u.slope(upper)
		s.epsilon, s.logDelta = upper, math.Log(delta)
		if try > 0 {
			finer *= 2
		}
	}
	return upper, lower
}

// manyPoints are a second's work, or two: after that number of points bounds are what they are.
const manyPoints = 1 << 23

// A guide is what is known of the curve near an ε, from noise that is nearly the same. It decides on grids only, and
// counts their points.
type guide struct {
	epsilon, slope float64
	points         int
}

// forget leaves a guide that knows nothing.
func (g *guide) forget() { g.epsilon, g.slope = 0, 0 }

// upperEpsilon returns the upper bound that epsilon returns, without the lower one: the grid is made a second time if
// the approximation was poor. A guide with an ε above 0 stands for the approximation, and learns of a better one.
func (r *direction) upperEpsilon(delta float64, g *guide) float64 {
	s := r.saddleFor(math.Log(delta))
	slope, upper := s.tilt, math.Inf(1)
	if g.epsilon > 0 {
		s, slope = r.saddleAt(g.epsilon), g.slope
		s.epsilon, s.logDelta = g.epsilon, math.Log(delta)
	}
	for range tries {
		step := r.step(s, slope, accuracy)
		u, _, err := r.bounds(s, step, false)
		if err == nil {
			upper = math.Min(upper, u.upperEpsilon(delta))
			g.points += len(u.delta)
		}
		if math.IsInf(upper, 1) && g.epsilon > 0 { // misled
			g.forget()
			return r.upperEpsilon(delta, g)
		}
		if err != nil || math.IsInf(upper, 1) {
			break
		}
		s, slope = r.saddleAt(upper), u.slope(upper)
		s.epsilon, s.logDelta = upper, math.Log(delta)
		g.epsilon, g.slope = upper, slope
		if step < 1.3*r.step(s, slope, accuracy) {
			break
		}
	}
	return upper
}

// slope returns about -d log δ/dε at ε.
func (c *privacyCurve) slope(epsilon float64) float64 {
	k := int(math.Floor((epsilon - c.composed.bottom) / c.composed.step))
	k = min(max(k, 0), len(c.delta)-1)
	if c.delta[k] > 0 {
		return c.fall[k] / c.delta[k]
	}
	return 1
}

// upperEpsilon returns an ε ≥ 0 at which δ is not above the one given, +Inf if the window has none.
func (c *privacyCurve) upperEpsilon(delta float64) float64 {
	last := len(c.delta) - 1
	switch e, ok := c.epsilon(delta); {
	case ok:
		return math.Max(0, e+rounded*(math.Abs(e)+c.composed.step))
	case c.delta[c.composed.zone] <= delta:
		return math.Max(0, c.loss(c.composed.zone))
	case c.delta[last] <= delta:
		return math.Max(0, c.loss(last))
	}
	return math.Inf(1)
}

// lowerEpsilon returns an ε ≥ 0 at which δ is not below the one given, or 0.
func (c *privacyCurve) lowerEpsilon(delta float64) float64 {
	if e, ok := c.epsilon(delta); ok {
		return math.Max(0, e-c.composed.shift-rounded*(math.Abs(e)+c.composed.step))
	}
	return 0
}

// delta returns bounds of δ for this direction: in the worst case 1 and 0.
func (r *direction) delta(epsilon float64) (upper, lower float64) {
	s := r.saddleAt(epsilon)
	s.epsilon = epsilon
	upper = 1
	step := r.step(s, s.tilt, accuracy)
	for range tries {
		u, l, err := r.bounds(s, step, true)
		if err != nil {
			break
		}
		if v, ok := u.deltaAt(epsilon); ok {
			upper = math.Min(upper, math.Nextafter(v*(1+rounded), 2))
		}
		if l != nil {
			if v, ok := l.deltaAt(epsilon + l.composed.shift); ok {
				lower = math.Max(lower, v*(1-rounded))
			}
		}
		slope := u.slope(epsilon)
		if upper-lower <= goodEnough*upper*math.Max(1, slope*epsilon) || upper < leastDelta {
			break
		}
		step = math.Min(step/4, rounding.Few(math.Sqrt(accuracy/(0.18*r.total*slope*(slope+1)))))
	}
	return upper, lower
}
