package pld

import (
	"math"
	"math/rand/v2"
	"testing"
)

// onCircle makes a circle of a dense measure.
func onCircle(dense []float64) circle {
	c := circle{dense: dense}
	for i, m := range dense {
		if m != 0 {
			c.at, c.mass = append(c.at, i), append(c.mass, m)
		}
	}
	return c
}

// A few convolutions are off from the definition by less than what is claimed, with two different measures.
func TestConvolutionIsWithinItsError(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for range 20 {
		const length = 64
		measures := [2][]float64{make([]float64, length), make([]float64, length)}
		for _, m := range measures {
			for i := range m {
				m[i] = math.Exp(-float64(i) * r.Float64())
			}
			sum := 0.0
			for _, v := range m {
				sum += v
			}
			for i := range m {
				m[i] /= sum
			}
		}
		want := make([]float64, length)
		want[5] = 1 // turned by 5 back
		for k := range 7 {
			next := make([]float64, length)
			for i, v := range want {
				for j, w := range measures[k%2] {
					next[(i+j)%length] += v * w
				}
			}
			want = next
		}
		s := newSpectrum(length)
		s.include(onCircle(measures[0]), 4)
		s.include(onCircle(measures[1]), 3)
		s.turn(-5)
		have, err := s.invert()
		for i := range have {
			if d := math.Abs(have[i] - want[i]); d > err+1e-16 || err > 1e-12 {
				t.Fatalf("point %d is %v, want %v: off by %g, claimed %g", i, have[i], want[i], d, err)
			}
		}
	}
}

// Of a hundred thousand coins the number of heads is binomial: a case in which a transform alone would lose five
// digits.
func TestConvolutionOfManyRounds(t *testing.T) {
	const length, rounds, p = 1 << 12, 100_000, 0.01
	dense := make([]float64, length)
	dense[0], dense[1] = 1-p, p
	s := newSpectrum(length)
	s.include(onCircle(dense), rounds)
	have, err := s.invert()
	if err > 1e-13 {
		t.Errorf("the error is bounded by %g only", err)
	}
	all, _ := math.Lgamma(rounds + 1)
	for k := range length {
		a, _ := math.Lgamma(float64(k) + 1)
		b, _ := math.Lgamma(float64(rounds-k) + 1)
		want := math.Exp(all - a - b + float64(k)*math.Log(p) + float64(rounds-k)*math.Log1p(-p))
		if d := math.Abs(have[k] - want); d > err+1e-8*want {
			t.Fatalf("%d heads: %v, want %v: off by %g, claimed %g", k, have[k], want, d, err)
		}
	}
}
