package pld

import (
	"math"

	"mafalda/accounting/internal/gaussian"
)

// A saddle is the tilt under which the composed loss has its mean at an ε: there a Gaussian of the tilted variance
// approximates the composed loss well, however small δ is.
type saddle struct {
	tilt, epsilon, variance float64
	logDelta                float64 // logarithm of the δ that the approximation gives
}

// leastTilt returns a tilt that moves the mean towards 0: -1/2 moves a symmetric pair's mean to 0. It moves the mean by
// a standard deviation at most.
func (c composition) leastTilt() float64 {
	_, _, variance := c.evaluate(0)
	return math.Max(-0.5, -0.3/math.Sqrt(variance))
}

func (c composition) saddle(tilt float64) saddle {
	log, mean, variance := c.evaluate(tilt)
	std := math.Sqrt(variance)
	// E (e^{-τy} - e^{-(τ+1)y})₊ for y ~ N(0, variance)
	tail := (gaussian.Mills(tilt*std) - gaussian.Mills((tilt+1)*std)) / math.Sqrt(2*math.Pi)
	return saddle{tilt, mean, variance, log - tilt*mean + math.Log(tail)}
}

// saddleFor returns the saddle with the least ε whose δ is at most e^logDelta, nearly.
func (c composition) saddleFor(logDelta float64) saddle {
	return c.saddleWhere(func(s saddle) bool { return !(s.logDelta <= logDelta) })
}

// saddleAt returns the saddle at ε, nearly.
func (c composition) saddleAt(epsilon float64) saddle {
	return c.saddleWhere(func(s saddle) bool { return s.epsilon < epsilon })
}

// saddleWhere bisects for the first tilt where below does not hold.
func (c composition) saddleWhere(below func(saddle) bool) saddle {
	high := 1.0
	s := c.saddle(high)
	for below(s) && s.variance > 0 && high < 1e12 {
		high *= 4
		s = c.saddle(high)
	}
	low := c.leastTilt()
	for range 30 {
		if high-low < 1e-4*(0.5+math.Abs(low)) {
			break
		}
		middle := (low + high) / 2
		if low > 0.1 {
			middle = math.Sqrt(low * high)
		}
		if t := c.saddle(middle); below(t) {
			low = middle
		} else {
			high, s = middle, t
		}
	}
	return s
}
