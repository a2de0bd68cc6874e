package pld

import "math"

// A privacyCurve is δ(ε) of a composed loss from one side, at the points of its window. Between them e^ε ↦ δ is a
// straight line.
//
//	δ(ε) = Σ_{loss > ε} mass·(1 - e^{ε - loss})
type privacyCurve struct {
	composed *composedLoss
	delta    []float64 // δ at point k
	fall     []float64 // -dδ/dε just above point k
}

// upper returns a curve that is nowhere below the exact one. What went around the circle only adds to it.
func (d *composedLoss) upper() privacyCurve {
	c := d.curve(d.err, d.scale*(1+d.slack))
	for k := range c.delta {
		c.delta[k] += d.lost
	}
	return c
}

// lower returns a curve that is nowhere above the exact one. Tilted mass from beyond the window may lie anywhere in it.
func (d *composedLoss) lower() privacyCurve {
	scale := d.scale / (1 + d.slack)
	c := d.curve(-d.err, scale)
	most := scale * d.outside * d.largestWeight(len(d.tilted))
	for k := range c.delta {
		c.delta[k] -= most * d.untilt(k)
	}
	return c
}

// curve sums from the top, all terms positive: with R(k) = Σ_{i>k} mass_i e^{-(i-k)step}, which is -dδ/dε,
// δ(k) = δ(k+1) + (e^step - 1) R(k).
func (d *composedLoss) curve(err, scale float64) privacyCurve {
	n := len(d.tilted)
	c := privacyCurve{composed: d, delta: make([]float64, n), fall: make([]float64, n)}
	up, down := math.Expm1(d.step), math.Exp(-d.step)
	var delta, fall, mass float64
	for k := n - 1; k >= 0; k-- {
		fall = down * (mass + fall)
		delta += up * fall
		c.delta[k], c.fall[k] = delta, fall
		mass = 0
		if v := d.tilted[k] + err; !(v <= 0) {
			mass = scale * v * d.untilt(k)
		}
	}
	return c
}

// untilt returns e^{-tilt·(loss - centre)} at point k.
func (d *composedLoss) untilt(k int) float64 { return math.Exp(-d.tilt * float64(k-d.zone) * d.step) }

// largestWeight bounds e^{-tilt·y}(1 - e^{-y}) for y ≥ 0 up to the window's length.
func (d *composedLoss) largestWeight(points int) float64 {
	if t := d.tilt; t > 0 {
		return math.Exp(t*math.Log(t/(1+t))) / (1 + t) * (1 + 1e-9)
	}
	return math.Exp(-d.tilt * d.step * float64(points))
}

// loss returns what point k stands for.
func (c privacyCurve) loss(k int) float64 {
	return c.composed.bottom + float64(k)*c.composed.step
}

// epsilon returns the last ε at which the curve falls to δ, and whether that is within the window's zone.
func (c privacyCurve) epsilon(delta float64) (float64, bool) {
	low := len(c.delta) - 1
	if !(c.delta[low] <= delta) {
		return 0, false
	}
	for !(c.delta[low] > delta) {
		if low--; low < c.composed.zone {
			return 0, false
		}
	}
	// from there it falls by fall·(e^{ε - loss} - 1)
	t := math.Log1p((c.delta[low] - delta) / c.fall[low])
	return c.loss(low) + math.Min(math.Max(t, 0), c.composed.step), true
}

// deltaAt returns δ at ε, and whether that is within the window.
func (c privacyCurve) deltaAt(epsilon float64) (float64, bool) {
	k := int(math.Floor((epsilon - c.composed.bottom) / c.composed.step))
	if k < c.composed.zone || k >= len(c.delta)-1 {
		return 0, false
	}
	t := math.Min(math.Max(epsilon-c.loss(k), 0), c.composed.step)
	return c.delta[k] - math.Expm1(t)*c.fall[k], true
}
