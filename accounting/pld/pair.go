package pld

import "math"

// A lossPair is one of the two dominating pairs of the Poisson-subsampled Gaussian. With φ the density of N(0, s²) and
// the mixture m(x) = (1-q)φ(x) + qφ(x-1), whose log-ratio L(x) = log m(x)/φ(x) increases with x, it is
//
//	removed record: P = m, Q = φ, loss  L(x) > log(1-q)
//	added record:   P = φ, Q = m, loss -L(x)
//
// (Zhu, Dong & Wang 2022, Theorem 11; the worst case is a contribution of norm clip, and what is orthogonal to it says
// nothing.)
type lossPair struct {
	q, s    float64
	add     bool
	replace bool // a replaced record: see replaced.go
}

// direction is the sign of the loss in L.
func (p lossPair) direction() float64 {
	if p.add {
		return -1
	}
	return 1
}

// far is where e^-L is below the last bit of 1.
const far = 40.0

// logRatio returns L(x) = log(1-q + q e^z), z = (2x-1)/(2s²), or L(x) - L(-x) of a replaced record.
func (p lossPair) logRatio(x float64) float64 {
	if p.replace {
		one := p.one()
		return one.logRatio(x) - one.logRatio(-x)
	}
	z := (x - 0.5) / (p.s * p.s)
	switch {
	case p.q == 1:
		return z
	case z > far:
		return z + math.Log(p.q) + math.Log1p((1-p.q)/p.q*math.Exp(-z))
	case p.q > 0.5 && z < -0.7:
		return math.Log((1 - p.q) + p.q*math.Exp(z))
	}
	return math.Log1p(p.q * math.Expm1(z))
}

// loss returns the loss of an outcome.
func (p lossPair) loss(x float64) float64 { return p.direction() * p.logRatio(x) }

// outcome is the inverse of logRatio, -Inf at log(1-q) and below.
func (p lossPair) outcome(l float64) float64 {
	switch {
	case p.replace:
		return p.replacedOutcome(l)
	case p.q == 1:
		return p.s*p.s*l + 0.5
	case l > far:
		return p.s*p.s*(l-math.Log(p.q)+math.Log1p(-(1-p.q)*math.Exp(-l))) + 0.5
	}
	ratio := math.Expm1(l) / p.q
	if ratio <= -1 {
		return math.Inf(-1)
	}
	return p.s*p.s*math.Log1p(ratio) + 0.5
}

// stretch returns dx/dL / s² = e^L/(e^L - (1-q)), which is 1 for q = 1 and for large L, and +Inf at log(1-q) and below.
func (p lossPair) stretch(l float64) float64 {
	switch {
	case p.replace:
		return p.replacedStretch(l)
	case p.q == 1:
		return 1
	case l > far:
		return 1
	}
	e := math.Expm1(l)
	if e+p.q <= 0 {
		return math.Inf(1)
	}
	return (e + 1) / (e + p.q)
}

// density returns the density of P at an outcome.
func (p lossPair) density(x float64) float64 {
	if p.add {
		return normalDensity(x/p.s) / p.s
	}
	return ((1-p.q)*normalDensity(x/p.s) + p.q*normalDensity((x-1)/p.s)) / p.s
}

// lossDensity returns the density under P of L, the sign of the loss left out.
func (p lossPair) lossDensity(l float64) float64 {
	x, g := p.outcome(l), p.stretch(l)
	switch {
	case p.replace:
		return p.density(x) * p.s * p.s * g
	case p.add:
		return normalDensity(x/p.s) * p.s * g
	case x > 0.5:
		return p.q * normalDensity((x-1)/p.s) * p.s * g * g
	}
	return normalDensity(x/p.s) * math.Exp(l) * p.s * g
}

func normalDensity(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }

// support returns outcomes beyond which P has at most the mass high on the side of the large losses, and low on the
// other.
func (p lossPair) support(high, low float64) (from, to float64) {
	if p.add {
		return -p.s * tailQuantile(high), p.s * tailQuantile(low)
	}
	return -p.s * tailQuantile(low), 1 + p.s*tailQuantile(high)
}

// tailQuantile returns an x with 1-Φ(x) ≤ mass, or at most leastMass: by 1-Φ(x) ≤ exp(-x²/2)/2 for x ≥ 0.
func tailQuantile(mass float64) float64 {
	return math.Sqrt(math.Max(-2*math.Log(2*math.Max(mass, leastMass)), 0)) * (1 + 1e-12)
}

// leastMass is less than which no tail needs to be: a δ near the least number there is leaves none to cut off.
const leastMass = 1e-300

// panels cuts [from, to] into pieces on which P's density and the loss are smooth: short against s, and against the
// distance to the poles of L, which are at a height of πs² above the outcome where both parts of m are equal.
func (p lossPair) panels(from, to float64) []float64 {
	var bends []float64
	if p.q < 1 {
		bends = append(bends, 0.5+p.s*p.s*math.Log((1-p.q)/p.q))
	}
	if p.q < 1 && p.replace {
		bends = append(bends, -bends[0])
	}
	cuts := []float64{from}
	for x := from; x < to; {
		width := p.s / 4
		for _, bend := range bends {
			distance := math.Abs(bend - x)
			if x < bend {
				distance /= 1.25 // what is left after such a step
			}
			width = math.Min(width, math.Max(p.s*p.s, distance)/4)
		}
		if x += width; x > to-width/100 {
			x = to
		}
		cuts = append(cuts, x)
	}
	return cuts
}
