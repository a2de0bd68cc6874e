package secrecy

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"mafalda/accounting"
	_ "mafalda/internal/seeded"
)

// lineDelta is δ of the removal of a record that shifts a standard normal number by shifts[i] with probability
// chances[i], by the definition: the integral of (p - e^ε q)₊.
func lineDelta(shifts, chances []float64, epsilon float64) float64 {
	const step, far = 4e-3, 30.0 // whoever is that far away is told from 0 for certain, wherever exactly
	least, most := min(0, max(-far, slices.Min(shifts))), max(0, min(far, slices.Max(shifts)))
	var sum float64
	for x := least - 12; x < most+12; x += step {
		q := math.Exp(-x * x / 2)
		var p float64
		for i, a := range shifts {
			a = max(-far, min(far, a))
			p += chances[i] * math.Exp(-(x-a)*(x-a)/2)
		}
		sum += math.Max(p-math.Exp(epsilon)*q, 0)
	}
	return sum * step / math.Sqrt(2*math.Pi)
}

// planeDelta is δ of two bins whose changes are orthogonal, by the definition.
func planeDelta(first, second, epsilon float64) float64 {
	const step = 0.02
	at := func(x, a float64) float64 { return math.Exp(-(x-a)*(x-a)/2) / math.Sqrt(2*math.Pi) }
	var sum float64
	for x := -9.0; x < first+9; x += step {
		x0, x1 := at(x, 0), at(x, first)
		for y := -9.0; y < second+9; y += step {
			y0, y1 := at(y, 0), at(y, second)
			sum += math.Max((x1*y0+x0*y1)/2-math.Exp(epsilon)*x0*y0, 0)
		}
	}
	return sum * step * step
}

func drawPrivacy(t *rapid.T) (epsilon, delta float64) {
	return math.Exp(rapid.Float64Range(math.Log(0.2), math.Log(10)).Draw(t, "log epsilon")),
		math.Pow(10, rapid.Float64Range(-7, -3).Draw(t, "log delta"))
}

// What a bin can change alone is the simple bound: at b = 19 and δ = 1e-6 it leaves these parts of the error for a
// known draw.
func TestShiftOfASingleBin(t *testing.T) {
	for epsilon, want := range map[float64]float64{2: 0.154, 4: 0.303, 8: 0.483, 16: 0.646} {
		b, err := NewBins(19, epsilon, 1e-6)
		mu, err2 := accounting.MuFromDP(epsilon, 1e-6)
		if part := mu / b.cell(1).alone * (mu / b.cell(1).alone); err != nil || err2 != nil || math.Abs(part-want) > 6e-4 {
			t.Errorf("epsilon %v: %v, %v, %v", epsilon, part, err, err2)
		}
	}
}

// One bin hides nothing: all limits are μ.
func TestOneBinIsGaussian(t *testing.T) {
	b, err := NewBins(1, 2, 1e-6)
	mu, err2 := accounting.MuFromDP(2, 1e-6)
	if err != nil || err2 != nil || math.Abs(b.cell(1).alone/mu-1) > 1e-10 || math.Abs(b.MeanSquare(1)/(mu*mu)-1) > 1e-10 {
		t.Error(b.cell(1).alone, b.MeanSquare(1), mu, err, err2)
	}
	p, err := NewPoisson(1, 5, 2, 1e-6)
	if got := p.SquaredSum(); err != nil || math.Abs(got/(mu*mu)-1) > 1e-10 {
		t.Error(got, err)
	}
}

// Bins that change a direction by more than the limits allow, on the mean, are not private: by integration, also where
// some go the other way.
func TestMeanShiftsBeyondTheLimitAreNotPrivate(t *testing.T) {
	claims := 0
	rapid.Check(t, func(t *rapid.T) {
		epsilon, delta := drawPrivacy(t)
		number := rapid.IntRange(2, 8).Draw(t, "bins")
		b, err := NewBins(number, epsilon, delta)
		if err != nil {
			t.Fatal(err)
		}
		limit := b.MeanSquare(number)
		if math.IsInf(limit, 1) {
			return // nothing is claimed
		}
		claims++
		shifts, chances := make([]float64, number), make([]float64, number)
		var mean float64
		for j := range shifts {
			shifts[j] = rapid.Float64Range(-0.5, 1).Draw(t, "shift")
			chances[j] = 1 / float64(number)
			mean += shifts[j] / float64(number)
		}
		if more := 0.05 - mean; more > 0 {
			mean += more
			for j := range shifts {
				shifts[j] += more
			}
		}
		for j := range shifts {
			shifts[j] *= math.Sqrt(limit) / mean * 1.001
		}
		if got := lineDelta(shifts, chances, epsilon); got < delta {
			t.Fatalf("shifts %v of mean² %v tell %v of delta = %v at epsilon = %v", shifts, limit, got, delta, epsilon)
		}
	})
	if claims < 10 {
		t.Errorf("%d cases claim something: the others show nothing", claims)
	}
}

// Two bins with orthogonal changes beyond the limit are not private, by integration over the plane, whether their
// changes are equal or not; and the limit is close to what is private.
func TestBinsApartBeyondTheLimitAreNotPrivate(t *testing.T) {
	for _, epsilon := range []float64{0.5, 2, 5} {
		const delta = 1e-5
		b, err := NewBins(2, epsilon, delta)
		if err != nil {
			t.Fatal(err)
		}
		limit := b.MeanSquare(1)
		for _, part := range []float64{0, 0.2, 0.35, 0.5} {
			first, second := math.Sqrt(2*limit*part*1.002), math.Sqrt(2*limit*(1-part)*1.002)
			if got := planeDelta(first, second, epsilon); got < delta {
				t.Errorf("epsilon %v: %v and %v tell %v", epsilon, first, second, got)
			}
		}
		if got := planeDelta(math.Sqrt(0.8*limit), math.Sqrt(0.8*limit), epsilon); epsilon >= 2 && got > delta {
			t.Errorf("epsilon %v: at 0.8 of the limit δ is %v: the limit is loose", epsilon, got)
		}
	}
}

// Limits fall with the size of the cells, and nothing is proved where δ is nearly a bin's chance.
func TestLimitsOfCells(t *testing.T) {
	b, err := NewBins(16, 4, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	last := math.Inf(1)
	for _, smallest := range []int{1, 2, 4, 8, 16} {
		limit := b.MeanSquare(smallest)
		if !(limit < last) {
			t.Errorf("cells of %d bins: %v, after %v", smallest, limit, last)
		}
		last = limit
	}
	if wide, _ := NewBins(16, 4, 0.1); !math.IsInf(wide.MeanSquare(1), 1) || !math.IsInf(b.MeanSquare(17), 1) {
		t.Error("a limit where nothing is proved")
	}
	if _, err := NewBins(0, 1, 1e-6); err == nil {
		t.Error("no bins")
	}
	for _, bad := range [][2]float64{{0, 1e-6}, {math.NaN(), 1e-6}, {1, 0}, {1, 1}} {
		if _, err := NewBins(2, bad[0], bad[1]); !errors.Is(err, accounting.ErrParameter) {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

// A record whose changes add up to more than the limit, however they are divided among the rounds, is not private: by
// integration over all draws.
func TestSumsOfRoundsBeyondTheLimitAreNotPrivate(t *testing.T) {
	claims := 0
	rapid.Check(t, func(t *rapid.T) {
		epsilon, delta := drawPrivacy(t)
		rounds := rapid.IntRange(1, 5).Draw(t, "rounds")
		p, err := NewPoisson(rapid.Float64Range(0.02, 0.9).Draw(t, "probability"), rounds, epsilon, delta)
		if err != nil {
			t.Fatal(err)
		}
		limit := p.SquaredSum()
		if math.IsInf(limit, 1) {
			return // nothing is claimed
		}
		claims++
		parts, total := make([]float64, rounds), 0.0
		for i := range parts {
			parts[i] = rapid.Float64Range(-0.5, 1).Draw(t, "part")
			total += parts[i]
		}
		if more := 0.1 - total; more > 0 {
			total += more
			for i := range parts {
				parts[i] += more / float64(rounds)
			}
		}
		var shifts, chances []float64
		for drawn := range 1 << rounds {
			shift, chance := 0.0, 1.0
			for i, part := range parts {
				if drawn>>i&1 == 1 {
					shift, chance = shift+part/total*math.Sqrt(limit)*1.0001, chance*p.Probability
				} else {
					chance *= 1 - p.Probability
				}
			}
			shifts, chances = append(shifts, shift), append(chances, chance)
		}
		if got := lineDelta(shifts, chances, epsilon); got < delta {
			t.Fatalf("parts %v of a sum² of %v, q = %v, tell %v of delta = %v at epsilon = %v", parts, limit, p.Probability,
				got, delta, epsilon)
		}
	})
	if claims < 10 {
		t.Errorf("%d cases claim something: the others show nothing", claims)
	}
}

// The minorant is convex, and below Φ as far as it has to be.
func TestMinorant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		threshold := rapid.Float64Range(0.1, 10).Draw(t, "threshold")
		most := rapid.Float64Range(0, 1000).Draw(t, "most")
		f := minorant(threshold, most)
		const step = 0.05
		for x := -10.0; x+2*step <= most && x < 30; x += step {
			if a, b, c := f(x), f(x+step), f(x+2*step); a+c-2*b < -1e-15 || b > math.Erfc((threshold-x-step)/math.Sqrt2)/2*(1+1e-12) {
				t.Fatalf("f(%v) = %v between %v and %v", x+step, b, a, c)
			}
		}
		if got := f(most); got > math.Erfc((threshold-most)/math.Sqrt2)/2 {
			t.Fatalf("f(%v) = %v", most, got)
		}
	})
}
