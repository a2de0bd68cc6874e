package noise

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// normals writes row t of Z, standard normal numbers, to dst.
func (k Key) normals(dst []float64, t int) {
	var r room
	for c := 0; c*chunk < len(dst); c++ {
		k.normalsOf(&r, t, c)
		r.sampler.RestTo(dst[c*chunk : min((c+1)*chunk, len(dst))])
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

// TestTailsAreNormal: Anderson-Darling, which looks at the tails more than at the middle, for five keys with 2¹⁸ numbers
// each. 6.0 is exceeded with probability 0.001.
func TestTailsAreNormal(t *testing.T) {
	const n = 1 << 18
	row := make([]float64, n)
	for seed := range uint64(5) {
		SeededKey(seed, "tails").normals(row, 3)
		slices.Sort(row)
		var sum float64
		for i, z := range row {
			above := distuv.UnitNormal.CDF(-row[n-1-i]) // 1 - Φ, without cancellation
			sum += float64(2*i+1) * (math.Log(distuv.UnitNormal.CDF(z)) + math.Log(above))
		}
		if distance := -n - sum/n; !(distance < 6) {
			t.Errorf("seed %d: Anderson-Darling distance %v", seed, distance)
		}
	}
}

// TestGolden compares with the numpy implementation (python/mafalda/_generator.py), bit for bit: the scheme must
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
