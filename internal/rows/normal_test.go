package rows

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// TestQuantileIsInverse compares with the distribution function, down to the smallest probability there is.
func TestQuantileIsInverse(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	check := func(p float64) {
		z := quantile(p)
		if got := distuv.UnitNormal.CDF(z); math.Abs(got-p) > 1e-14*p*(1+z*z) {
			t.Errorf("quantile of %v is %v, whose probability is %v", p, z, got)
		}
	}
	for range 100000 {
		check(rng.Float64() / 2)
		check(math.Exp(-37*rng.Float64() - 0.7))
	}
	for _, p := range []float64{0x1p-54, 0x1p-53, 1e-10, 0.075, 0.07499999999999999, 0.4999999999999999, 1.389e-11} {
		check(p)
	}
}

func TestLogarithm(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 100000 {
		x := math.Exp(-37.4*rng.Float64() - 0.7)
		if got, want := logarithm(x), math.Log(x); math.Abs(got-want) > 4e-16*math.Abs(want) {
			t.Fatalf("log %v is %v, want %v", x, got, want)
		}
	}
}

// TestNormalOfBits: sign bit, extremes, symmetry, and that every bit pattern gives a finite number that is not zero.
func TestNormalOfBits(t *testing.T) {
	largest := normal(0)
	if largest < 8.2 || largest > 8.4 || normal(1<<63) != -largest {
		t.Errorf("extremes %v and %v", largest, normal(1<<63))
	}
	if least := normal(1<<52 - 1); !(least > 0) || least > 1e-15 {
		t.Errorf("least %v", least)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for range 10000 {
		bits := rng.Uint64()
		if z := normal(bits); normal(bits^1<<63) != -z || z-z != 0 || z == 0 || normal(bits^1<<55) != z {
			t.Fatalf("bits %x give %v", bits, z)
		}
	}
}
