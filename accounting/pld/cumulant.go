package pld

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
)

// cumulants evaluates K(τ) = log E e^{τ loss} under P, and its derivatives, from losses with weights. It is as exact as
// a quadrature: it chooses grids, tilts and windows, whose bounds are then computed from what was chosen.
type cumulants struct {
	loss, logWeight []float64
	rounds          float64
}

func (p lossPair) cumulants(from, to float64, rounds int) cumulants {
	const points = 6
	c := cumulants{rounds: float64(rounds)}
	cuts := p.panels(from, to)
	x, w := make([]float64, points), make([]float64, points)
	for i := range len(cuts) - 1 {
		quad.Legendre{}.FixedLocations(x, w, cuts[i], cuts[i+1])
		for k := range x {
			c.loss = append(c.loss, p.loss(x[k]))
			c.logWeight = append(c.logWeight, math.Log(w[k]*p.density(x[k])))
		}
	}
	return c
}

// evaluate returns the rounds' K(τ) and its first two derivatives: the mean and the variance of the tilted loss.
func (c cumulants) evaluate(tilt float64) (log, mean, variance float64) {
	shift := math.Inf(-1)
	for i, l := range c.loss {
		shift = math.Max(shift, tilt*l+c.logWeight[i])
	}
	var sum, first, second float64
	for i, l := range c.loss {
		if a := tilt*l + c.logWeight[i] - shift; a > -60 {
			v := math.Exp(a)
			sum += v
			first += v * l
			second += v * l * l
		}
	}
	mean = first / sum
	return c.rounds * (shift + math.Log(sum)), c.rounds * mean, c.rounds * math.Max(second/sum-mean*mean, 0)
}

// A composition adds the cumulants of different events.
type composition []cumulants

func (c composition) evaluate(tilt float64) (log, mean, variance float64) {
	for _, e := range c {
		l, m, v := e.evaluate(tilt)
		log, mean, variance = log+l, mean+m, variance+v
	}
	return log, mean, variance
}
