package workload

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// The recursion of the plain workload responds as the paper writes it down.
func TestExplicitIsThePaper(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, steps := rapid.IntRange(1, 5).Draw(t, "n"), rapid.IntRange(1, 6).Draw(t, "T")
		kind := drawKind(t)
		w := randomGossip(t, n, false)
		want, err := paperWorkload(w, steps, kind)
		if err != nil {
			t.Fatal(err)
		}
		got, err := explicitWorkload(networksOf(t, Spec{}, w), steps, Spec{Kind: kind}, 0)
		if err != nil {
			t.Fatal(err)
		}
		if !mat.EqualApprox(got, want, 1e-14) {
			t.Fatalf("%v is not\n%v", mat.Formatted(got), mat.Formatted(want))
		}
		gram, err := paperGram(w, steps, kind)
		if err != nil {
			t.Fatal(err)
		}
		h, err := explicitGram(networksOf(t, Spec{}, w), steps, Spec{Kind: kind}, nil)
		if err != nil || scaledDifference(h, gram) > 1e-14 {
			t.Fatalf("%v: H is\n%v and not\n%v", err, mat.Formatted(h), mat.Formatted(gram))
		}
	})
}

// The recursion is linear: what noise does to the models is the response to it, whatever the gradients are. Single
// precision does the same.
func TestNoiseAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, steps := rapid.IntRange(1, 4).Draw(t, "n"), rapid.IntRange(1, 7).Draw(t, "T")
		s := drawSpec(t, steps)
		networks := networksOf(t, s, randomGossip(t, n, false))
		noise := randomDense(t, "noise", n*steps, 1)
		rate := rapid.Float64Range(0.1, 1).Draw(t, "rate")
		run := func(noise func(t, i int) float64) (last []float64, single []float32) {
			a, err := NewState[float64](s, steps, n, 1, rate)
			if err != nil {
				t.Fatal(err)
			}
			b, err := NewState[float32](s, steps, n, 1, rate)
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				a.Model(i)[0], b.Model(i)[0] = 1, 1
			}
			g, h := make([]float64, n), make([]float32, n)
			for step := range steps {
				for i := range n { // gradients that do not depend on the models
					g[i] = math.Sin(float64(step*n+i)) + noise(step, i)
					h[i] = float32(g[i])
				}
				a.Descend(g, networks)
				b.Descend(h, networks)
				if s.Kind == Message && step == steps-1 {
					break
				}
				a.Gossip(networks)
				b.Gossip(networks)
			}
			return a.Models(), b.Models()
		}
		clean, _ := run(func(int, int) float64 { return 0 })
		noisy, single := run(func(t, i int) float64 { return noise.At(t*n+i, 0) })
		a, err := explicitWorkload(networks, steps, s.At(rate), 0)
		if err != nil {
			t.Fatal(err)
		}
		var response mat.Dense
		response.Mul(a, noise)
		for i := range n {
			want := clean[i] - rate*response.At((steps-1)*n+i, 0)
			if math.Abs(noisy[i]-want) > 1e-11*(1+math.Abs(want)) || math.Abs(float64(single[i])-want) > 1e-3*(1+math.Abs(want)) {
				t.Fatalf("node %d ends with %v and %v, by its response with %v", i, noisy[i], single[i], want)
			}
		}
	})
}
