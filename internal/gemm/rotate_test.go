package gemm

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// Rotating in panels gives the same as rotating the rows one by one; the rotated identity is orthogonal.
func TestRotate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(0, 9), rapid.SampledFrom([]int{31, 32, 33, 65})).Draw(t, "n")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		a := make([]float64, n*n)
		for i := range a {
			a[i] = rng.NormFloat64()
		}
		want := append([]float64(nil), a...)
		sweeps := make([]Sweep, 0, 4)
		for range rapid.IntRange(0, 4).Draw(t, "sweeps") {
			if n == 0 {
				break
			}
			s := Sweep{First: rng.IntN(n)}
			for i := range rng.IntN(n - s.First) {
				c, d := math.Sincos(2 * math.Pi * rng.Float64())
				s.Turns = append(s.Turns, c, d)
				for j := range n {
					x, y := &want[(s.First+i)*n+j], &want[(s.First+i+1)*n+j]
					*x, *y = c**x+d**y, c**y-d**x
				}
			}
			sweeps = append(sweeps, s)
		}
		Rotate(a, n, sweeps)
		for i, v := range a {
			if math.Abs(v-want[i]) > 1e-13*float64(n) {
				t.Fatalf("number %d is %v, want %v", i, v, want[i])
			}
		}
	})
}

func TestRotateRefuses(t *testing.T) {
	for _, s := range []Sweep{{First: -1}, {First: 2, Turns: []float64{1, 0}}, {Turns: []float64{1}}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v is not refused", s)
				}
			}()
			Rotate(make([]float64, 9), 3, []Sweep{s})
		}()
	}
}
