package pld

import (
	"math"
	"math/bits"

	"mafalda/internal/fault"
)

// A window is the part of the composed loss that is computed, tilted, on a circle of points.
type window struct {
	tilt float64
	// The window reaches from below's loss to at least above's. Losses from zone on are free of what came around the
	// circle from either end, but for a mass that below and around bound.
	zone                 float64
	above, around, below chernoff
}

// A chernoff is a loss, and the tilt that shows best how little lies beyond.
type chernoff struct{ loss, tilt float64 }

// What lies outside a window, relative to δ: untilted mass above it, and tilted mass that comes around.
const (
	aboveFraction  = 1e-7
	aroundFraction = 1e-7
)

// restraint is by how much less than to the saddle losses are tilted. It costs few digits, as these are lost with the
// square of what is left out; and where a loss is made of few large jumps it keeps them rare.
const restraint = 0.65

func (c composition) window(s saddle, step float64) window {
	w := window{tilt: s.tilt * restraint}
	if s.tilt < 0 {
		w.tilt = s.tilt
	}
	log, mean, variance := c.evaluate(w.tilt)
	std := math.Sqrt(variance)
	most := c.mostTilt(step)
	w.above = c.bound([2]float64{math.Max(s.tilt, 0.1/std), most}, 1, 0, s.logDelta+math.Log(aboveFraction))
	around := math.Min(s.logDelta-(log-w.tilt*s.epsilon), 0) + math.Log(aroundFraction)
	size := [2]float64{math.Sqrt(-2*around) / std, most}
	w.around = c.bound(size, 1, w.tilt, around)
	w.below = c.bound(size, -1, w.tilt, around)
	w.zone = math.Max(0, math.Min(mean, 0.5*s.epsilon))
	if w.zone > s.epsilon {
		w.zone = s.epsilon - std
	}
	w.below.loss = math.Min(w.below.loss, w.zone)
	w.above.loss = math.Max(w.above.loss, s.epsilon)
	return w
}

// mostTilt returns an additional tilt that the grid can follow: it widens the losses of all rounds by about a step
// each.
func (c composition) mostTilt(step float64) float64 {
	rounds := 0.0
	for _, e := range c {
		rounds += e.rounds
	}
	return 4 / (math.Sqrt(rounds) * step)
}

// bound returns the least loss above which (sign 1), or the largest below which (-1), no more lies of the loss with
// a tilt than e^logMass, as Chernoff's bound shows; it searches for the additional tilt from one that may be right,
// up to the largest one.
func (c composition) bound(start [2]float64, sign, tilt, logMass float64) chernoff {
	log, mean, _ := c.evaluate(tilt)
	reach := func(u float64) float64 {
		l, _, _ := c.evaluate(tilt + sign*u)
		return (l - log - logMass) / u
	}
	size, most := math.Min(start[0], start[1]), start[1]
	best := reach(size)
	enough := 0.01 * math.Abs(best-sign*mean)
	for _, factor := range []float64{2, 0.5, 1.2, 1 / 1.2, 1.05, 1 / 1.05} {
		for range 60 {
			if size*factor > most {
				break
			}
			v := reach(size * factor)
			if !(v < best-enough) {
				break
			}
			size, best = size*factor, v
		}
		enough = 0
	}
	return chernoff{sign * best, sign * size}
}

// maxPoints bounds the memory that a circle takes.
const maxPoints = 1 << 22

// points returns how many points of a grid the circle needs, as a power of 2.
func (w window) points(step float64) (int, error) {
	n := math.Max(w.above.loss-w.below.loss, w.around.loss-w.zone)/step + 8
	if !(n >= 1 && n < maxPoints) {
		return 0, fault.New("NoiseMultiplier", nil, "the losses take a grid of %.3g points: more than %d", n, maxPoints)
	}
	return 1 << bits.Len(uint(n)), nil
}
