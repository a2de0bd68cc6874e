package pld

import (
	"math"
	"math/rand/v2"
	"testing"

	"mafalda/accounting"
	"mafalda/internal/exact"
)

// rare is a measure with nearly all mass around a point of the circle and a long tail of some digits less.
func rare(r *rand.Rand, length int) []float64 {
	m := make([]float64, length)
	at, rate, tail := r.IntN(length), 0.02+0.3*r.Float64(), math.Exp(-25*r.Float64())
	for d := range length / 4 {
		m[(at+d)%length] += tail * math.Exp(-rate*float64(d)) * (0.5 + r.Float64())
	}
	for d := range 5 {
		m[(at+length-2+d)%length] += math.Exp(-float64((d - 2) * (d - 2)))
	}
	return m
}

// byDefinition convolves measures as often, beginning at a point.
func byDefinition(measures [][]float64, rounds []int, first int) []float64 {
	length := len(measures[0])
	all := make([]float64, length)
	all[mod(int64(-first), length)] = 1
	for k, m := range measures {
		for range rounds[k] {
			next := make([]float64, length)
			for i, v := range all {
				for j, w := range m {
					next[(i+j)%length] += v * w
				}
			}
			all = next
		}
	}
	return all
}

// Sharpened bounds enclose what convolving by definition, all of whose errors are relative, gives; and they are close
// where a transform's error is many times what is there.
func TestSharpened(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 2))
	cases := 40
	if testing.Short() {
		cases = 10
	}
	lost := 0
	for range cases {
		length := 1 << (5 + r.IntN(4))
		measures, rounds := [][]float64{rare(r, length)}, []int{1 + r.IntN(12)}
		if r.IntN(3) == 0 {
			measures, rounds = append(measures, rare(r, length)), append(rounds, 1+r.IntN(5))
		}
		first := r.IntN(3*length) - length
		want := byDefinition(measures, rounds, first)
		var circles []circle
		for _, m := range measures {
			circles = append(circles, onCircle(m))
		}
		upper, lower := sharpened(circles, rounds, first, 1), sharpened(circles, rounds, first, -1)
		most := 0.0
		for _, v := range want {
			most = math.Max(most, v)
		}
		for k, v := range want {
			if upper[k] < v*(1-1e-12) || lower[k] > v*(1+1e-12) {
				t.Fatalf("%v rounds, point %d of %d: %v is not between %v and %v", rounds, k, length, v, lower[k],
					upper[k])
			}
			if v < 1e-13*most && upper[k]-lower[k] < 1e-3*v {
				lost++
			}
		}
	}
	if lost < 10*cases {
		t.Errorf("only %d points are known that a transform loses", lost)
	}
	if sharpened([]circle{onCircle(make([]float64, 1<<19))}, []int{1000}, 0, 1) != nil {
		t.Error("too much work was done")
	}
}

// Few rounds in which a record hardly ever takes part, and a small δ: nearly all mass is at a loss of 0. Bounds were
// up to 5 % apart.
func TestHardlyEverDrawn(t *testing.T) {
	for i, c := range []struct {
		event Rounds
		delta float64
	}{
		{Rounds{Mechanism{0.000165, 0.943}, 629}, 2.14e-12},
		{Rounds{Mechanism{0.000249, 0.846}, 310}, 6.56e-12},
		{Rounds{Mechanism{0.000106, 0.797}, 77}, 1.14e-10},
		{Rounds{Mechanism{0.000242, 1.05}, 24}, 2.4e-12},
		{Rounds{Mechanism{0.00015, 0.897}, 2}, 2.59e-12},
		{Rounds{Mechanism{0.000128, 1.14}, 1}, 2.22e-12},
	} {
		if testing.Short() && i%2 == 0 {
			continue // a half of them, the single round among it
		}
		d, err := Compose(accounting.ZeroOut, c.event)
		if err != nil {
			t.Fatal(err)
		}
		upper, lower, err := d.Epsilon(c.delta)
		if err != nil || !(lower > 0 && upper-lower < 2e-3*upper) {
			t.Errorf("%+v, %v: from %v to %v, %v", c.event, c.delta, lower, upper, err)
		}
		p := lossPair{q: c.event.Probability, s: c.event.NoiseMultiplier}
		if c.event.Rounds == 1 && (exactSampledDelta(p, upper).Cmp(exact.Of(c.delta)) > 0 ||
			exactSampledDelta(p, lower).Cmp(exact.Of(c.delta)) < 0) {
			t.Errorf("%+v, %v: ε is not within %v and %v", c.event, c.delta, lower, upper)
		}
	}
}
