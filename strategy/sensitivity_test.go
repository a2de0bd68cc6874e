package strategy

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/participation"
)

// The majorant bounds the squared sensitivity, and equals it without negative coefficients; the sum of magnitudes is the
// one of all entries of X. Derivatives agree with differences.
func TestSensitivityOfManySteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.IntRange(1, 40).Draw(t, "T")
		b := rapid.IntRange(1, steps).Draw(t, "b")
		s, err := participation.NewCyclic(steps, rapid.IntRange(1, (steps-1)/b+1).Draw(t, "k"), b)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 6))
		c := make([]float64, rapid.IntRange(1, s.Steps()).Draw(t, "coefficients"))
		signs := rapid.Bool().Draw(t, "negative")
		for i := range c {
			if c[i] = 0.1 + rng.Float64(); signs && i > 0 && rng.IntN(2) == 0 {
				c[i] = -c[i]
			}
		}
		toeplitz, err := NewToeplitz(s.Steps(), c, nil)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Sensitivity(toeplitz, s)
		if err != nil {
			t.Fatal(err)
		}
		got, err := longSensitivity(c, nil, s)
		if err != nil || got.Squared < want.Attained || got.Exact == signs && slices.Min(c) < 0 {
			t.Fatalf("%+v for %+v, %v", got, want, err)
		}
		if slices.Min(c) >= 0 && (!got.Exact || math.Abs(got.Squared-want.Squared) > 1e-12*want.Squared) {
			t.Fatalf("%+v, must be %+v", got, want)
		}
		sum, first := ToeplitzSum(c, s)
		if math.Abs(sum-want.Squared) > 1e-12*want.Squared || got.Squared < sum || got.Squared > sum*(1+1e-10) {
			t.Fatalf("the sum %v, with rounding %v, must be %v", sum, got.Squared, want.Squared)
		}
		ofSum := make([]float64, len(c))
		ToeplitzSumGradient(c, s, first, ofSum)
		pull := make([]float64, len(c))
		ToeplitzMajorant(c, s, pull)
		at := rng.IntN(len(c))
		const h = 1e-5
		c[at] += h
		up := ToeplitzMajorant(c, s, nil)
		c[at] -= 2 * h
		if slope := (up - ToeplitzMajorant(c, s, nil)) / (2 * h); math.Abs(slope-pull[at]) > 1e-6*(1+math.Abs(slope)) {
			t.Fatalf("derivative %d is %v, must be %v", at, pull[at], slope)
		}
		below, also := ToeplitzSum(c, s)
		c[at] += 2 * h
		above, too := ToeplitzSum(c, s)
		slope := (above - below) / (2 * h)
		if also == first && too == first && math.Abs(slope-ofSum[at]) > 1e-6*(1+math.Abs(slope)) {
			t.Fatalf("derivative %d of the sum is %v, must be %v", at, ofSum[at], slope)
		}
	})
}

// counted counts how often a strategy is scaled.
type counted struct {
	powerSeries
	count *int
}

func (c counted) times(by float64, steps int) powerSeries {
	*c.count++
	return counted{c.powerSeries.times(by, steps), c.count}
}

// Where a coefficient of 1/r comes from thousands of others, rounding is stepped over in few steps.
func TestNormalizeTakesFewRounds(t *testing.T) {
	s, err := participation.NewCyclic(LongSteps+4, 41, 100)
	if err != nil {
		t.Fatal(err)
	}
	root, err := BandedInverseSquareRoot(s.Steps(), 51)
	if err != nil {
		t.Fatal(err)
	}
	var scaled int
	c, err := Normalize(&Toeplitz{steps: s.Steps(), series: counted{root.series, &scaled}}, s)
	if err != nil {
		t.Fatal(err)
	}
	if sens, err := Sensitivity(c, s); err != nil || sens.Squared > 1 || sens.Squared < 1-2e-12 || scaled > 12 {
		t.Errorf("sens² %v after %d rounds, %v", sens.Squared, scaled, err)
	}
}

// coarse has squared sensitivities on a grid only, rounded up: none of them is 1, or a little less.
type coarse struct {
	participation.Cyclic
	width, offset float64 // of the grid, which has the number 1 + offset
}

func (c coarse) Sensitivity(x mat.Symmetric) (participation.Sensitivity, error) {
	s, err := c.Cyclic.Sensitivity(x)
	s.Squared = 1 + c.offset + c.width*math.Ceil((s.Squared-1-c.offset)/c.width)
	return s, err
}

// A sensitivity that is rounded coarsely is stepped over, too, and not approached again from below.
func TestNormalizeEndsWhereRoundingIsCoarse(t *testing.T) {
	s, err := participation.NewCyclic(4, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	identity, err := NewToeplitz(4, []float64{1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, schema := range []coarse{{s, 1.5e-12, 4e-13}, {s, 4e-12, 2e-12}} { // one where 1 is nearly hit, one where not
		c, err := Normalize(identity, schema)
		if err != nil {
			t.Fatal(err)
		}
		if sens, err := Sensitivity(c, schema); err != nil || sens.Squared > 1 || sens.Squared < 1-5e-12 {
			t.Errorf("sens² %v, %v", sens.Squared, err)
		}
	}
}

// Coefficients whose squares are below the least numbers would have a sensitivity that is far too small.
func TestSensitivityOfTinyCoefficientsIsRefused(t *testing.T) {
	c := make([]float64, LongSteps+4)
	for i := range c {
		c[i] = 1.5e-162 // its square is rounded to 0
	}
	c[0] = 1.6e-162
	s, err := participation.NewCyclic(len(c), 1, len(c))
	if err != nil {
		t.Fatal(err)
	}
	tiny, err := NewToeplitz(len(c), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	if sens, err := Sensitivity(tiny, s); err == nil {
		t.Errorf("sens² %v, where it is 9.2e-321", sens.Squared)
	}
	few, err := participation.NewCyclic(100, 1, 100)
	if err != nil {
		t.Fatal(err)
	}
	short, err := NewToeplitz(100, c[:100], nil)
	if err != nil {
		t.Fatal(err)
	}
	if sens, err := Sensitivity(short, few); err == nil {
		t.Errorf("sens² %v of few steps, where it is 2.3e-322", sens.Squared)
	}
	if sens, err := longSensitivity(c, Polynomial{1}.Scales(len(c)), s); err == nil {
		t.Errorf("sens² %v of scaled columns, where it is 9.2e-321", sens.Squared)
	}
}
