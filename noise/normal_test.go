package noise

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"
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

// TestNormalsAreNormal: moments, Kolmogorov-Smirnov, tails and correlations of a million numbers of one key. The limits
// are five standard errors, for one fixed key.
func TestNormalsAreNormal(t *testing.T) {
	const n, rows = 1 << 18, 4
	key := SeededKey(1, "a")
	var all []float64
	var previous []float64
	for step := range rows {
		row := make([]float64, n)
		key.normals(row, step)
		if previous != nil {
			if r := stat.Correlation(row, previous, nil); math.Abs(r) > 5/math.Sqrt(n) {
				t.Errorf("rows %d and %d have the correlation %v", step-1, step, r)
			}
		}
		if r := stat.Correlation(row[1:], row[:n-1], nil); math.Abs(r) > 5/math.Sqrt(n) {
			t.Errorf("neighbours in row %d have the correlation %v", step, r)
		}
		previous = row
		all = append(all, row...)
	}
	count := float64(len(all))
	for k, want := range map[int][2]float64{1: {0, 1}, 2: {1, 2}, 3: {0, 15}, 4: {3, 96}} { // mean and variance of z^k
		var sum float64
		for _, z := range all {
			sum += math.Pow(z, float64(k))
		}
		if mean := sum / count; math.Abs(mean-want[0]) > 5*math.Sqrt(want[1]/count) {
			t.Errorf("moment %d is %v, want %v", k, mean, want[0])
		}
	}
	for _, limit := range []float64{2, 3, 4, 4.5} {
		p := 2 * distuv.UnitNormal.CDF(-limit)
		beyond := 0.0
		for _, z := range all {
			if math.Abs(z) > limit {
				beyond++
			}
		}
		if math.Abs(beyond-p*count) > 5*math.Sqrt(p*count) {
			t.Errorf("%v of %v beyond %v, want %v", beyond, count, limit, p*count)
		}
	}
	slices.Sort(all)
	var distance float64
	for i, z := range all {
		f := distuv.UnitNormal.CDF(z)
		distance = math.Max(distance, math.Max(f-float64(i)/count, float64(i+1)/count-f))
	}
	if distance > 1.95/math.Sqrt(count) { // probability 0.001
		t.Errorf("Kolmogorov-Smirnov distance %v", distance)
	}
}

// TestGolden compares with the numpy implementation (examples/pytorch/mafalda_noise.py), bit for bit: the scheme must
// never change, or seeded simulations would, and a state that is resumed.
func TestGolden(t *testing.T) {
	row := make([]float64, 5000)
	SeededKey(1, "node").normals(row, 2)
	for i, want := range map[int]float64{0: -0.943225042052659, 1: -0.7442983499461219, 123: 0.21334255538741906,
		124: -0.11410073298090606, 4095: -0.38370247939053903, 4096: 0.5613412576575337, 4999: 0.9002613918101834} {
		if row[i] != want {
			t.Errorf("coordinate %d is %v, want %v", i, row[i], want)
		}
	}
}
