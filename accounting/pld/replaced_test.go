package pld

import (
	"math"
	"math/rand/v2"
	"testing"

	"mafalda/accounting"
)

// replacedOnce is δ of one round that replaces a contribution u by v, in the plane, by integration.
func replacedOnce(q, s, epsilon float64, u, v [2]float64) float64 {
	const cells = 200
	reach, sum := 1+8*s, 0.0
	step := 2 * reach / cells
	density := func(x, y float64, at [2]float64) float64 {
		return math.Exp(-((x-at[0])*(x-at[0]) + (y-at[1])*(y-at[1])) / (2 * s * s))
	}
	for i := range cells {
		for j := range cells {
			x, y := -reach+(float64(i)+0.5)*step, -reach+(float64(j)+0.5)*step
			none := (1 - q) * density(x, y, [2]float64{})
			sum += math.Max(none+q*density(x, y, u)-math.Exp(epsilon)*(none+q*density(x, y, v)), 0)
		}
	}
	return sum * step * step / (2 * math.Pi * s * s)
}

// replacedOnALine is δ of one round, or two, of opposite contributions on a line.
func replacedOnALine(rounds int, q, s, epsilon float64) float64 {
	cells := map[int]int{1: 20000, 2: 700}[rounds]
	reach, sum := 1+8*s, 0.0
	step := 2 * reach / float64(cells)
	var p, r []float64
	for i := range cells {
		x := -reach + (float64(i)+0.5)*step
		none, scale := (1-q)*math.Exp(-x*x/(2*s*s)), step/(s*math.Sqrt(2*math.Pi))
		p = append(p, scale*(none+q*math.Exp(-(x-1)*(x-1)/(2*s*s))))
		r = append(r, scale*(none+q*math.Exp(-(x+1)*(x+1)/(2*s*s))))
	}
	for i := range cells {
		if rounds == 1 {
			sum += math.Max(p[i]-math.Exp(epsilon)*r[i], 0)
			continue
		}
		for j := range cells {
			sum += math.Max(p[i]*p[j]-math.Exp(epsilon)*r[i]*r[j], 0)
		}
	}
	return sum
}

func replaced(t *testing.T, e Rounds) *Distribution {
	t.Helper()
	d, err := Compose(accounting.ReplaceOne, e)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// 60 random replacements, in directions of any kind, of one round and two: δ is never below the integral, and it is the
// integral's for opposite contributions.
func TestReplacedRecordsAreNeverBelowTheIntegral(t *testing.T) {
	const integration, plane = 2e-4, 0.01 // what the integrals may be off by, where the integrand has an edge
	r := rand.New(rand.NewPCG(31, 7))
	for i := range 60 {
		q, s, epsilon := between(r, 0.02, 0.9), between(r, 0.5, 3), 1.5*r.Float64()
		rounds := 1 + i%2
		upper, lower, err := replaced(t, sampledRounds(q, s, rounds)).Delta(epsilon)
		if err != nil {
			t.Fatal(err)
		}
		opposite, other := replacedOnALine(rounds, q, s, epsilon), 0.0
		if rounds == 1 {
			contribution := func() [2]float64 {
				angle, size := 2*math.Pi*r.Float64(), math.Sqrt(r.Float64())
				return [2]float64{size * math.Cos(angle), size * math.Sin(angle)}
			}
			other = replacedOnce(q, s, epsilon, contribution(), contribution())
		}
		if upper < opposite*(1-integration)-1e-9 || upper < other*(1-plane)-1e-9 || lower > opposite*(1+integration)+1e-9 {
			t.Errorf("%d rounds, q = %v, s = %v, ε = %v: δ from %v to %v, integral %v, other directions %v", rounds, q, s, epsilon,
				lower, upper, opposite, other)
		}
		if opposite > 1e-4 && upper > opposite*(1+2e-3) {
			t.Errorf("%d rounds, q = %v, s = %v, ε = %v: δ = %v, integral %v", rounds, q, s, epsilon, upper, opposite)
		}
	}
}

// Losses and outcomes are inverse to each other, with the derivative that goes with them; the loss is odd.
func TestReplacedLosses(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 8))
	for range 300 {
		p := lossPair{q: between(r, 1e-6, 1), s: between(r, 0.05, 20), replace: true}
		x := (4*r.Float64() - 2) * (1 + 4*p.s)
		l := p.loss(x)
		if back := p.outcome(l); math.Abs(back-x) > 1e-9*(p.s+math.Abs(x)) && p.stretch(l) < 1e5 {
			t.Errorf("%+v: %v has loss %v, which has %v", p, x, l, back)
		}
		if p.loss(-x) != -l {
			t.Errorf("%+v: %v and %v have losses %v and %v", p, x, -x, l, p.loss(-x))
		}
		h := 1e-4 * p.s
		if slope := (p.loss(x+h) - p.loss(x-h)) / (2 * h); slope > 1e-3 && math.Abs(p.stretch(l)*slope*p.s*p.s-1) > 1e-3 {
			t.Errorf("%+v: at %v slope %v, stretch %v", p, x, slope, p.stretch(l))
		}
	}
}

// Without sampling a replaced record is one of twice the contribution, and with it one of less; bounds are close, more
// rounds and another adjacency tell more, and calibration comes back.
func TestReplacedRounds(t *testing.T) {
	whole, err := accounting.Epsilon(2*math.Sqrt(5)/3, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	if e, _, err := replaced(t, sampledRounds(1, 3, 5)).Epsilon(1e-6); err != nil || math.Abs(e/whole-1) > 1e-9 {
		t.Errorf("%v, want %v, %v", e, whole, err)
	}
	r := rand.New(rand.NewPCG(31, 9))
	for range 20 {
		e := sampledRounds(between(r, 1e-3, 0.9), between(r, 0.6, 10), 2+r.IntN(500))
		delta := math.Pow(10, -3-5*r.Float64())
		b, err := replaced(t, e).EpsilonBounds(delta)
		if err != nil || !b.Accurate() {
			t.Errorf("%+v, δ = %v: %+v, %v", e, delta, b, err)
		}
		zero, err := composeSampled(t, e).EpsilonBounds(delta)
		twice := e
		twice.NoiseMultiplier /= 2
		double, err2 := composeSampled(t, twice).EpsilonBounds(delta)
		if err != nil || err2 != nil || b.Upper < zero.Lower || b.Upper > 3*double.Upper+1e-9 {
			t.Errorf("%+v, δ = %v: replaced %+v, zero-out %+v, of twice the contribution %+v", e, delta, b, zero, double)
		}
	}
	noise, err := sampledRounds(0.05, 1, 380).NoiseFor(accounting.ReplaceOne, 8, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	if e, _, err := replaced(t, sampledRounds(0.05, noise, 380)).Epsilon(1e-6); err != nil || e > 8 || e < 7.99 {
		t.Errorf("noise %v has ε = %v, %v", noise, e, err)
	}
}
