package bins

import (
	"context"
	"errors"
	"math"
	"runtime"
	"testing"

	"pgregory.net/rapid"

	"mafalda/accounting"
	"mafalda/internal/fault"
	_ "mafalda/internal/seeded"
)

// The confidence is what it is said to be: of bounds that may fail with a probability of 0.3, hardly more than that
// fail, and the estimate is right on average.
func TestBoundsHoldAsOftenAsTheySay(t *testing.T) {
	const a, correlation, epsilon, runs, failure = 0.3, 0.5, 1.0, 50, 0.3
	b := binsOf(t, 2, a, a*correlation, a*correlation, a)
	removal, addition := pairDeltas(a, a*correlation, a, epsilon)
	truth := math.Max(removal, addition)
	below := 0
	var estimates moments
	for seed := range uint64(runs) {
		d, err := b.Delta(t.Context(), epsilon, 1, MonteCarlo{Samples: 1024, Failure: failure, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		estimates.add(d.Removal.Value)
		if d.Upper < truth {
			below++
		}
	}
	if limit := failure*runs + 3*math.Sqrt(runs*failure*(1-failure)); float64(below) > limit {
		t.Errorf("%d of %d bounds are below the truth", below, runs)
	}
	if z := (estimates.mean - removal) / math.Sqrt(estimates.variance()/runs); math.Abs(z) > 4 {
		t.Errorf("the mean of the estimates is %v, %v standard errors from %v", estimates.mean, z, removal)
	}
}

// No sample is above the peak that the bound relies on, whatever the Gram matrix; and the δ with the draw known is
// never exceeded.
func TestSamplesStayBelowTheirPeak(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(2, 6).Draw(r, "bins")
		gram := make([]float64, n*n)
		for range n {
			v := rapid.SliceOfN(rapid.Float64Range(0, 1), n, n).Draw(r, "v")
			for i := range n {
				for j := range n {
					gram[i*n+j] += v[i] * v[j]
				}
			}
		}
		gram[0] += 0.01
		b := binsOf(t, n, gram...)
		noise, epsilon := rapid.Float64Range(0.3, 10).Draw(r, "noise"), rapid.Float64Range(0, 5).Draw(r, "epsilon")
		m, h := newMixture(b, noise, epsilon, 1), newHalfSpace(b, noise, epsilon)
		d := m.newDrawer(stream{1, forRemoval, 0}.chunk(0))
		for range 100 {
			if v := d.removal(); !(v >= 0 && v <= m.peak) {
				r.Fatalf("removal: %v above %v", v, m.peak)
			}
		}
		addition := h.sample(context.Background(), stream{1, forAddition, 0}, 100)
		if known, _ := b.knownDraw(point{epsilon, noise}); addition.mean > math.Max(1.3*known, 1e-3) {
			r.Fatalf("addition: %v, but %v when the draw is known", addition.mean, known)
		}
	})
}

// More bins hide more, if the batches have nothing in common.
func TestMoreBinsNeedLessNoise(t *testing.T) {
	last := math.Inf(1)
	for _, n := range []int{1, 2, 5} {
		p, err := binsOf(t, n, alike(n, 0)...).NoiseMultiplier(t.Context(), 2, 1e-5, MonteCarlo{Samples: 1 << 13})
		if err != nil || p.NoiseMultiplier >= last || p.Estimated > p.NoiseMultiplier ||
			p.Confirmed.Upper > 1e-5*(1+1e-12) {
			t.Errorf("%d bins: %+v, %v; fewer need %v", n, p, err, last)
		}
		last = p.NoiseMultiplier
	}
}

// ε and noise multiplier invert each other, up to the price of confidence, and both are confirmed.
func TestEpsilonOfTheCalibratedNoise(t *testing.T) {
	gram := alike(4, 0.1)
	gram[1], gram[4] = 0.9, 0.9 // two patterns are more alike than others: samples ask for less noise
	b := binsOf(t, 4, gram...)
	o := MonteCarlo{Samples: 1 << 13, Seed: 5}
	noise, err := b.NoiseMultiplier(t.Context(), 1, 1e-6, o)
	if err != nil {
		t.Fatal(err)
	}
	e, err := b.Epsilon(t.Context(), 1e-6, noise.NoiseMultiplier, o)
	if err != nil || math.Abs(e.Epsilon-1) > 0.02 || e.Confirmed.Upper > 1e-6 || e.Rounds < 1 {
		t.Errorf("%+v, %v", e, err)
	}
	if again, err := b.Confirm(t.Context(), noise, o); err != nil || again != noise.Confirmed {
		t.Errorf("confirmed again: %+v, %v; before %+v", again, err, noise.Confirmed)
	}
	half := noise
	half.NoiseMultiplier /= 2
	if again, err := b.Confirm(t.Context(), half, o); err != nil || again.Upper < 1e-4 {
		t.Errorf("half the noise: %+v, %v", again, err)
	}
	mu, _ := accounting.MuFromDP(1, 1e-6)
	if gain := noise.NoiseMultiplier * noise.NoiseMultiplier * mu * mu; gain > 0.55 || gain < 0.4 {
		t.Errorf("squared noise %v of that without the secret; the mean entry of the Gram matrix is 0.425", gain)
	}
	if none, err := b.Epsilon(t.Context(), 0.9, 5, o); err != nil || none.Epsilon > 1e-3 {
		t.Errorf("a δ that needs no ε: %+v, %v", none, err)
	}
}

func TestBinsAreReproducible(t *testing.T) {
	b := binsOf(t, 5, alike(5, 0.4)...)
	o := MonteCarlo{Samples: 5000, Seed: 9}
	want, err := b.Delta(t.Context(), 1, 1.5, o)
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if got, err := b.Delta(t.Context(), 1, 1.5, o); err != nil || got != want {
		t.Errorf("on one processor %+v, %v; want %+v", got, err, want)
	}
	o.Seed++
	if got, err := b.Delta(t.Context(), 1, 1.5, o); err != nil || got == want {
		t.Errorf("another seed: %+v, %v", got, err)
	}
}

func TestBinsStopWithTheirContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := binsOf(t, 3, alike(3, 0)...).NoiseMultiplier(ctx, 1, 1e-6, MonteCarlo{}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("%v", err)
	}
}

// A δ that samples cannot resolve is refused at once: with 1e-300 the search for the noise did not end.
func TestBinsRefuseWhatSamplesDoNotResolve(t *testing.T) {
	b := binsOf(t, 2, 1.25, 0.5, 0.5, 1)
	o := MonteCarlo{Samples: 1024}
	for _, delta := range []float64{1e-300, 0.9e-100, 0.51, 1 - 1e-9} {
		var argument *fault.Argument
		if _, err := b.NoiseMultiplier(t.Context(), 1, delta, o); !errors.As(err, &argument) || argument.Field != "Delta" {
			t.Errorf("noise for δ = %v: %v", delta, err)
		}
		argument = nil
		if _, err := b.Epsilon(t.Context(), delta, 1, o); delta < 0.5 && (!errors.As(err, &argument) ||
			argument.Field != "Delta") || delta > 0.5 && err != nil {
			t.Errorf("ε for δ = %v: %v", delta, err)
		}
	}
	for _, delta := range []float64{LeastDelta, MostDelta} {
		if p, err := b.NoiseMultiplier(t.Context(), 1, delta, o); err != nil || !(p.Confirmed.Upper <= delta) {
			t.Errorf("noise for δ = %v: %+v, %v", delta, p, err)
		}
	}
}
