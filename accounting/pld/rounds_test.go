package pld

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// slowDelta is δ(ε) of a few rounds by the definition, in double precision: one round in closed form, and each further
// one an integral over its outcomes by the trapezoidal rule, which converges exponentially.
func slowDelta(pairs []lossPair, epsilon float64) float64 {
	p := pairs[0]
	if len(pairs) == 1 {
		return plainDelta(p, epsilon)
	}
	h, sum := p.s/100, 0.0 // twice as many points change nothing before the ninth digit
	if len(pairs) > 2 {
		h = p.s / 30
	}
	for x := -9 * p.s; x <= 1+9*p.s; x += h {
		sum += h * p.density(x) * slowDelta(pairs[1:], epsilon-p.loss(x))
	}
	return sum
}

// plainDelta is δ(ε) = P(loss > ε) - e^ε Q(loss > ε) of one round.
func plainDelta(p lossPair, epsilon float64) float64 {
	tail := func(x float64) float64 { return math.Erfc(x/p.s/math.Sqrt2) / 2 }
	x := p.outcome(p.direction() * epsilon)
	if math.IsInf(x, -1) {
		if p.add {
			return 0
		}
		return -math.Expm1(epsilon)
	}
	if p.add {
		return tail(-x) - math.Exp(epsilon)*((1-p.q)*tail(-x)+p.q*tail(1-x))
	}
	return (1-p.q)*tail(x) + p.q*tail(x-1) - math.Exp(epsilon)*tail(x)
}

// Two and three rounds, of equal and of different events, enclose the definition in both directions.
func TestFewRoundsEncloseTheDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	cases := 6
	if testing.Short() {
		cases = 3 // none of three events
	}
	for i := range cases {
		var events []Rounds
		for range 2 + i%6/5 {
			events = append(events, sampledRounds(between(r, 0.05, 1), between(r, 0.5, 5), 1))
		}
		if i%4 == 0 {
			events[1] = events[0]
		}
		d := composeSampled(t, events...)
		for _, add := range []bool{false, true} {
			var pairs []lossPair
			for _, e := range events {
				pairs = append(pairs, lossPair{q: e.Probability, s: e.NoiseMultiplier, add: add})
			}
			delta := between(r, 1e-7, 1e-3)
			upper, lower := d.direction(add, delta).epsilon(delta, 0)
			if add {
				upper = math.Min(upper, d.largestLoss())
			}
			if v := slowDelta(pairs, upper); v > delta*(1+1e-7) {
				t.Errorf("%+v, add %v: δ(%v) = %v is above %v", events, add, upper, v, delta)
			}
			if v := slowDelta(pairs, lower); lower > 0 && v < delta*(1-1e-7) {
				t.Errorf("%+v, add %v: δ(%v) = %v is below %v", events, add, lower, v, delta)
			}
			if !add && upper-lower > 2e-3*upper {
				t.Errorf("%+v: %v to %v", events, lower, upper)
			}
		}
	}
}

// A tiltedDraw draws outcomes of a pair with about the density of P·e^{tilt·loss}: constant on cells.
type tiltedDraw struct {
	lossPair
	from, width float64
	sums        []float64
}

func newTiltedDraw(p lossPair, tilt float64) tiltedDraw {
	d := tiltedDraw{lossPair: p, from: -10 * p.s, width: p.s / 50}
	sum := 0.0
	for x := d.from; x < 3+12*p.s; x += d.width {
		sum += p.density(x+d.width/2) * math.Exp(tilt*p.loss(x+d.width/2))
		d.sums = append(d.sums, sum)
	}
	return d
}

// draw returns an outcome, and the logarithm of P's density there over that with which it is drawn.
func (d tiltedDraw) draw(r *rand.Rand) (x, log float64) {
	all := d.sums[len(d.sums)-1]
	i, _ := slices.BinarySearch(d.sums, all*r.Float64())
	mass := d.sums[i]
	if i > 0 {
		mass -= d.sums[i-1]
	}
	x = d.from + (float64(i)+r.Float64())*d.width
	return x, math.Log(d.density(x) * d.width * all / mass)
}

// Many rounds, by drawing them with importance: outcomes are drawn with a tilt to large losses and weighted with the
// likelihood ratio. E weight·(1 - e^{ε - loss})₊ is δ(ε), in both directions.
func TestManyRoundsAgainstDraws(t *testing.T) {
	const rounds, draws = 380, 5000
	d := composeSampled(t, sampledRounds(1./19, 1, rounds))
	r := rand.New(rand.NewPCG(5, 2))
	for _, tc := range []struct {
		add     bool
		epsilon float64
	}{{false, 7.8}, {false, 3}, {true, 4}} {
		direction := d.direction(tc.add, leastDelta)
		draw := newTiltedDraw(direction.pairs[0], direction.saddleAt(tc.epsilon).tilt)
		var sum, squares float64
		for range draws {
			var log, loss float64
			for range rounds {
				x, l := draw.draw(r)
				log += l
				loss += draw.loss(x)
			}
			if loss > tc.epsilon {
				v := -math.Exp(log) * math.Expm1(tc.epsilon-loss)
				sum += v
				squares += v * v
			}
		}
		mean := sum / draws
		deviation := math.Sqrt((squares/draws - mean*mean) / draws)
		upper, lower := direction.delta(tc.epsilon)
		t.Logf("%+v: drawn %.4g ± %.1g, bounds %.6g to %.6g", tc, mean, deviation, lower, upper)
		if mean > upper+4*deviation || mean < lower-4*deviation || !(deviation < 0.04*mean) {
			t.Errorf("%+v: drawn %v ± %v, bounds %v to %v", tc, mean, deviation, lower, upper)
		}
	}
}
