package accounting

import (
	"math"

	"mafalda/internal/fault"
)

// rounded is what an ε or δ found on a curve may be off by its own arithmetic.
const rounded = 1e-12

// epsilon returns bounds of ε for this direction.
func (r *direction) epsilon(delta float64) (upper, lower float64, err error) {
	s := r.saddleFor(math.Log(delta))
	upper = math.Inf(1)
	for try := range tries {
		u, l, err := r.bounds(s, r.step(s, accuracy*math.Pow(0.25, float64(try))), true)
		if err != nil {
			if try == 0 {
				return 0, 0, err
			}
			break
		}
		upper, lower = math.Min(upper, u.upperEpsilon(delta)), math.Max(lower, l.lowerEpsilon(delta))
		if upper-lower <= 4*accuracy*upper {
			break
		}
	}
	if math.IsInf(upper, 1) {
		return 0, 0, fault.New("Delta", delta, "leaves no finite epsilon")
	}
	return upper, lower, nil
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

// delta returns bounds of δ for this direction.
func (r *direction) delta(epsilon float64) (upper, lower float64, err error) {
	s := r.saddleAt(epsilon)
	u, l, err := r.bounds(s, r.step(s, accuracy), true)
	if err != nil {
		return 0, 0, err
	}
	upper = 1
	if v, ok := u.at(epsilon); ok {
		upper = math.Nextafter(v*(1+rounded), 2)
	} else if epsilon > u.loss(len(u.delta)-1) {
		upper = u.delta[len(u.delta)-1]
	}
	if v, ok := l.at(epsilon + l.composed.shift); ok {
		lower = v * (1 - rounded)
	}
	return upper, math.Max(lower, 0), nil
}
