package allocation

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"mafalda/accounting"
	"mafalda/internal/fault"
	_ "mafalda/internal/seeded"
)

func mechanism(t interface{ Fatal(...any) }, blocks ...Blocks) Mechanism {
	m, err := New(blocks...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// exact returns δ of one block of up to three steps in both directions, by integration over all its outcomes.
func exact(choices int, noise, epsilon float64) (removed, added float64) {
	step := []float64{0, 0.01, 0.03, 0.16}[choices]
	var visit func(depth int, mass, ratio float64)
	visit = func(depth int, mass, ratio float64) {
		if depth == choices {
			ratio /= float64(choices)
			removed += mass * math.Max(ratio-math.Exp(epsilon), 0)
			added += mass * math.Max(1-math.Exp(epsilon)*ratio, 0)
			return
		}
		for x := -8.0; x < 8+1/noise; x += step {
			visit(depth+1, mass*step*math.Exp(-x*x/2)/math.Sqrt(2*math.Pi), ratio+math.Exp(x/noise-1/(2*noise*noise)))
		}
	}
	visit(0, 1, 0)
	return removed, added
}

// One block of one, two and three steps, by the definition: never below it, and hardly above.
func TestOneBlockIsAsIntegrated(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 15 {
		choices := 1 + i%3
		noise, epsilon := 0.7*math.Exp(1.2*rng.Float64()), 1.5*rng.Float64()
		want, added := exact(choices, noise, epsilon)
		l := mechanism(t, Blocks{choices, 1}).compose(noise, 1e-3*want, fineStep)
		const integration = 3e-4
		if got := l.removed.delta(epsilon); got < want*(1-integration) || got > want*(1+2e-3)+1e-9 {
			t.Errorf("%d steps, noise %v, ε = %v: removed %v, want %v", choices, noise, epsilon, got, want)
		}
		if got := l.added.delta(epsilon); got < added*(1-integration)-1e-12 || got > added*(1+2e-3)+1e-6 {
			t.Errorf("%d steps, noise %v, ε = %v: added %v, want %v", choices, noise, epsilon, got, added)
		}
	}
}

// A single step hides nothing: the grid is then the Gaussian mechanism's, for any number of blocks.
func TestBlocksOfOneStepAreGaussian(t *testing.T) {
	for _, count := range []int{1, 2, 7} {
		m := mechanism(t, Blocks{1, count})
		for _, epsilon := range []float64{0.3, 1, 4} {
			want, err := accounting.Delta(math.Sqrt(float64(count))/2, epsilon)
			if got := m.compose(2, want, fineStep).delta(epsilon); err != nil || got < want || got > want*(1+5e-3) {
				t.Errorf("%d blocks, ε = %v: %v, want %v, %v", count, epsilon, got, want, err)
			}
		}
	}
}

// 60 random mechanisms of several blocks, against samples of their losses by the definition: never below what these
// show with confidence, and not far from their mean.
func TestManyBlocksAreAsSampled(t *testing.T) {
	const samples = 2000
	rng := rand.New(rand.NewPCG(3, 4))
	var ratio float64
	for range 60 {
		first := Blocks{1 + rng.IntN(6), 1 + rng.IntN(4)}
		second := Blocks{first.Choices + 1, rng.IntN(3)}
		noise, epsilon := 0.8*math.Exp(rng.Float64()), 0.8*rng.Float64()
		m := mechanism(t, first, second)
		delta := m.compose(noise, 1e-4, fineStep)
		var sum, squares float64
		for range samples { // under P
			var loss float64
			for _, b := range []Blocks{first, second} {
				for range b.Rounds {
					drawn, s := rng.IntN(b.Choices), 0.0
					for j := range b.Choices {
						x := noise * rng.NormFloat64()
						if j == drawn {
							x++
						}
						s += math.Exp((x - 0.5) / (noise * noise))
					}
					loss += math.Log(s / float64(b.Choices))
				}
			}
			v := math.Max(-math.Expm1(epsilon-loss), 0)
			sum += v
			squares += v * v
		}
		mean := sum / samples
		spread := math.Sqrt((squares/samples - mean*mean) / samples)
		if got := delta.removed.delta(epsilon); math.Abs(got-mean) > 5*spread {
			t.Errorf("%v, %v, noise %v, ε = %v: %v, samples say %v ± %v", first, second, noise, epsilon, got, mean, spread)
		}
		ratio += delta.removed.delta(epsilon) / mean / 60
	}
	if math.Abs(ratio-1) > 0.01 {
		t.Errorf("on the mean %v of what samples say", ratio)
	}
}

// Half the step changes ε by less than 0.1 %, and never to the larger side: the grid is on the safe side.
func TestFinerGridsAreBelow(t *testing.T) {
	for _, noise := range []float64{0.6, 5} {
		for _, b := range []Blocks{{2, 3}, {19, 8}} {
			m := mechanism(t, b)
			coarse, err := m.epsilon(1e-6, noise, fineStep)
			fine, err2 := m.epsilon(1e-6, noise, fineStep/2)
			if errors.Join(err, err2) != nil || fine > coarse*(1+1e-9) || fine < coarse*(1-1e-3) {
				t.Errorf("%v, noise %v: ε = %v, finer %v", b, noise, coarse, fine)
			}
		}
	}
}

// Means keep their mean, and every option on them is worth no less: that is what makes the pair dominate.
func TestMeansOnGridsAreLargerInConvexOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) ratio {
			r := ratio{step: 0.25, low: rapid.IntRange(-8, 4).Draw(t, name)}
			for range rapid.IntRange(1, 6).Draw(t, name) {
				r.mass = append(r.mass, rapid.Float64Range(0.001, 1).Draw(t, name))
			}
			r.zero = rapid.Float64Range(0, 0.3).Draw(t, name)
			total := r.zero
			for _, m := range r.mass {
				total += m
			}
			for i := range r.mass {
				r.mass[i] /= total
			}
			r.zero /= total
			return r
		}
		a, b := draw("a"), draw("b")
		points := func(r ratio) (at, mass []float64) {
			at, mass = []float64{0}, []float64{r.zero}
			for i, m := range r.mass {
				at, mass = append(at, r.value(i)), append(mass, m)
			}
			return at, mass
		}
		own := rapid.Float64Range(0.1, 0.9).Draw(t, "own")
		sum := a.mean(b, own).trim(0.05, 0.05)
		option := func(strike float64) (exact, grid float64) {
			x, p := points(a)
			y, q := points(b)
			for i := range x {
				for j := range y {
					exact += p[i] * q[j] * math.Max(own*x[i]+(1-own)*y[j]-strike, 0)
				}
			}
			z, r := points(sum)
			for i := range z {
				grid += r[i] * math.Max(z[i]-strike, 0)
			}
			return exact, grid + sum.beyond
		}
		if exact, grid := option(0); math.Abs(grid-exact) > 1e-12*(1+exact) {
			t.Fatalf("mean %v, on the grid %v", exact, grid)
		}
		for _, strike := range []float64{0.1, 0.5, 1, 2, 5, 20} {
			if exact, grid := option(strike); grid < exact-1e-12*(1+exact) {
				t.Fatalf("an option at %v: %v, on the grid %v", strike, exact, grid)
			}
		}
	})
}

func TestRefuses(t *testing.T) {
	var argument *fault.Argument
	for _, bad := range [][]Blocks{nil, {{0, 1}}, {{2, -1}}, {{2, MaxRounds + 1}}, {{MaxChoices + 1, 1}}, {{2, 0}}} {
		if _, err := New(bad...); !errors.As(err, &argument) {
			t.Errorf("%v: %v", bad, err)
		}
	}
	m := mechanism(t, Blocks{2, 2})
	for _, bad := range [][2]float64{{0, 1}, {1, 1}, {1e-6, 0}, {1e-6, math.NaN()}, {1e-200, 1}} {
		if _, err := m.Epsilon(bad[0], bad[1]); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
	if _, err := m.NoiseMultiplier(0, 1e-6); !errors.As(err, &argument) {
		t.Error(err)
	}
	if _, err := m.Delta(-1, 1); !errors.Is(err, accounting.ErrParameter) {
		t.Error(err)
	}
}

// Cut leaves no step out, and blocks differ by a step at most.
func TestCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.IntRange(1, 100).Draw(t, "steps")
		count := rapid.IntRange(1, steps).Draw(t, "count")
		all := Cut(steps, count)
		if all[0].Choices*all[0].Rounds+all[1].Choices*all[1].Rounds != steps || all[0].Rounds+all[1].Rounds != count {
			t.Fatalf("%d steps in %d blocks: %v", steps, count, all)
		}
	})
}
