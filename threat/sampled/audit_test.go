package sampled

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/accounting"
	"mafalda/internal/fault"
	"mafalda/internal/limits"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/threat"
)

// banded returns a banded strategy whose columns are (1, x, x, ...), scaled to norm 1.
func banded(t *testing.T, steps, bands int, x float64) strategy.Strategy {
	c := mat.NewDense(steps, steps, nil)
	for s := range steps {
		norm := 0.0
		for i := s; i < min(s+bands, steps); i++ {
			c.Set(i, s, x)
			if i == s {
				c.Set(i, s, 1)
			}
			norm += c.At(i, s) * c.At(i, s)
		}
		for i := s; i < min(s+bands, steps); i++ {
			c.Set(i, s, c.At(i, s)/math.Sqrt(norm))
		}
	}
	b, err := strategy.NewBanded(c, bands)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// ratioByDefinition returns the logarithm of the ratio of the two densities of y: a sum over everything that may be
// drawn.
func ratioByDefinition(c columns, y []float64, std float64, patterns map[*[]int]float64) float64 {
	sum := 0.0
	for steps, probability := range patterns {
		squares, moved := 0.0, c.sum(*steps)
		for t := range y {
			squares += y[t]*y[t] - (y[t]-moved[t])*(y[t]-moved[t])
		}
		sum += probability * math.Exp(squares/(2*std*std))
	}
	return math.Log(sum)
}

// The statistics are the likelihood ratios by definition: a sum over all patterns, of the data with the record and of
// those without it, or with another one.
func TestSampledRatios(t *testing.T) {
	const steps, std = 7, 0.7
	rng := rand.New(rand.NewPCG(5, 6))
	every := func(from, apart int) (out []int) {
		for s := from; s < steps; s += apart {
			out = append(out, s)
		}
		return out
	}
	poisson := func(groups int, q float64) map[*[]int]float64 {
		of, patterns := every(0, groups), map[*[]int]float64{}
		for set := range 1 << len(of) {
			var chosen []int
			probability := 1.0
			for i, s := range of {
				if set>>i&1 == 1 {
					chosen, probability = append(chosen, s), probability*q
				} else {
					probability *= 1 - q
				}
			}
			patterns[&chosen] = probability
		}
		return patterns
	}
	bins := func(b int) map[*[]int]float64 {
		patterns := map[*[]int]float64{}
		for j := range b {
			chosen := every(j, b)
			patterns[&chosen] = 1 / float64(b)
		}
		return patterns
	}
	allocated := func(blocks ...[]int) map[*[]int]float64 {
		patterns := map[*[]int]float64{}
		all := [][]int{{}}
		probability := 1.0
		for _, block := range blocks {
			var longer [][]int
			for _, chosen := range all {
				for _, step := range block {
					longer = append(longer, append(append([]int(nil), chosen...), step))
				}
			}
			all, probability = longer, probability/float64(len(block))
		}
		for _, chosen := range all {
			patterns[&chosen] = probability
		}
		return patterns
	}
	for name, tc := range map[string]struct {
		sampling participation.Sampling
		bands    int
		patterns map[*[]int]float64
	}{
		"poisson, one band":         {participation.PoissonSampling{Groups: 1, Probability: 0.3}, 1, poisson(1, 0.3)},
		"poisson, bands and groups": {participation.PoissonSampling{Groups: 3, Probability: 0.2}, 3, poisson(3, 0.2)},
		"poisson, no secret":        {participation.PoissonSampling{Groups: 2, Probability: 1}, 2, poisson(2, 1)},
		"bins, disjoint":            {participation.BinsSampling{Bins: 3}, 2, bins(3)},
		"bins, overlapping":         {participation.BinsSampling{Bins: 3}, 5, bins(3)},
		"bins, one":                 {participation.BinsSampling{Bins: 1}, 2, bins(1)},
		"allocation, one band": {participation.AllocationSampling{Groups: 1, Participations: 3}, 1,
			allocated([]int{0, 1}, []int{2, 3}, []int{4, 5, 6})},
		"allocation, groups": {participation.AllocationSampling{Groups: 3, Participations: 1}, 3, allocated([]int{1, 4})},
		"truncated: as poisson": {participation.TruncatedSampling{MaxBatch: 4, Most: 9,
			PoissonSampling: participation.PoissonSampling{Groups: 3, Probability: 0.4}}, 3, poisson(3, 0.4)},
		"permutation": {Permutation{participation.BinsSampling{Bins: 3}}, 5, bins(3)},
		"shuffle, one band": {Permutation{participation.AllocationSampling{Groups: 1, Participations: 3}}, 1,
			allocated([]int{0, 1}, []int{2, 3}, []int{4, 5, 6})},
		"shuffle, groups": {Permutation{participation.AllocationSampling{Groups: 3, Participations: 1}}, 3,
			allocated([]int{1, 4})},
		"cyclic, the worst of three": {participation.CyclicSampling{Batches: 3}, 2, map[*[]int]float64{ptr(every(0, 3)): 1}},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := columnsOf(banded(t, steps, tc.bands, 0.6))
			if err != nil {
				t.Fatal(err)
			}
			without := map[accounting.Adjacency][2]float64{accounting.ZeroOut: {1, 0}, accounting.ReplaceOne: {1, -1}}
			if _, shuffles := tc.sampling.(Permutation); shuffles { // one of its neighbours, with the opposite, lacks
				without = map[accounting.Adjacency][2]float64{accounting.ZeroOut: {2, 1}, accounting.ReplaceOne: {2, 0}}
			}
			for adjacency, moved := range without {
				a, err := attackUnder(adjacency, tc.sampling, c, std)
				if err != nil {
					t.Fatal(err)
				}
				if a.with != moved[0] || a.without != moved[1] {
					t.Errorf("%v: messages are moved by %v and %v, want %v", adjacency, a.with, a.without, moved)
				}
				known := a.knowing(c, std)
				for range 20 {
					y := make([]float64, steps)
					for i := range y {
						y[i] = 1.5 * rng.NormFloat64()
					}
					want := ratioByDefinition(c.times(moved[0]), y, std, tc.patterns)
					want -= ratioByDefinition(c.times(moved[1]), y, std, tc.patterns)
					if got := a.logRatio(y); math.Abs(got-want) > 1e-12*(1+math.Abs(want)) {
						t.Fatalf("%v: %v, want %v", adjacency, got, want)
					}
					drawn := map[*[]int]float64{ptr([]int{0, 4}): 1}
					want = ratioByDefinition(c.times(moved[0]), y, std, drawn)
					want -= ratioByDefinition(c.times(moved[1]), y, std, drawn)
					if got := known.knownRatio(y, []int{0, 4}); math.Abs(got-want) > 1e-12*(1+math.Abs(want)) {
						t.Fatalf("%v, steps known: %v, want %v", adjacency, got, want)
					}
				}
			}
		})
	}
}

func ptr(steps []int) *[]int { return &steps }

// The messages, multiplied by C, are the columns of the steps that were drawn and independent noise of the standard
// deviation that was asked for, whatever the class and its filter.
func TestSampledMessages(t *testing.T) {
	const steps, runs = 8, 4000
	root, err := strategy.SquareRoot(steps, 3)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := strategy.Tree(steps)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []strategy.Strategy{strategy.Identity(steps), banded(t, steps, 3, 0.5), root, tree} {
		cs, err := columnsOf(c)
		if err != nil {
			t.Fatal(err)
		}
		a, err := attackOn(participation.CyclicSampling{Batches: 4}, cs, 1)
		if err != nil {
			t.Fatal(err)
		}
		filter, err := c.Filter()
		if err != nil {
			t.Fatal(err)
		}
		r := sampledRun{columns: cs, filter: filter, attack: a, std: 0.5}
		seen := rows(steps, runs)
		messages, _, err := r.messages([2]uint64{1, 1}, runs, true)
		if err != nil {
			t.Fatal(err)
		}
		cs.multiplyTo(seen, messages)
		moved := cs.sum(cs.worstBatch(4))
		for i := range steps {
			for j := range i + 1 {
				mean, product := 0.0, 0.0
				for k := range runs {
					mean += seen[i][k] / runs
					product += (seen[i][k] - moved[i]) * (seen[j][k] - moved[j]) / runs
				}
				want := 0.0
				if i == j {
					want = 0.25
				}
				if math.Abs(mean-moved[i]) > 5*0.5/math.Sqrt(runs) || math.Abs(product-want) > 5*0.25*1.5/math.Sqrt(runs) {
					t.Errorf("%s: row %d has mean %.3f, want %.3f; covariance with %d %.3f, want %.3f", c.Name(), i, mean,
						moved[i], j, product, want)
				}
			}
		}
	}
}

func TestSampledErrors(t *testing.T) {
	good := Scenario{strategy.Identity(12), 1, claimOf(t, 1, 0.1), participation.CyclicSampling{Batches: 3}}
	options := Options{Random: rand.NewPCG(1, 2), Runs: 10}
	for name, change := range map[string]func(s *Scenario, o *Options){
		"Strategy":        func(s *Scenario, _ *Options) { s.Strategy = nil },
		"Actual":          func(s *Scenario, _ *Options) { s.Actual = nil },
		"NoiseMultiplier": func(s *Scenario, _ *Options) { s.NoiseMultiplier = 0 },
		"Epsilon":         func(s *Scenario, _ *Options) { s.Claim.Epsilon = math.Inf(1) },
		"Delta":           func(s *Scenario, _ *Options) { s.Claim.Delta = 1 },
		"Batches": func(s *Scenario, _ *Options) {
			s.Actual = participation.CyclicSampling{Batches: 13}
		},
		"Bins": func(s *Scenario, _ *Options) { s.Actual = participation.BinsSampling{Bins: 0} },
		"Groups": func(s *Scenario, _ *Options) {
			s.Actual = participation.PoissonSampling{Groups: 0, Probability: 0.1}
		},
		"Probability": func(s *Scenario, _ *Options) {
			s.Actual = participation.PoissonSampling{Groups: 1, Probability: 1.1}
		},
		"Random":     func(_ *Scenario, o *Options) { o.Random = nil },
		"Runs":       func(_ *Scenario, o *Options) { o.Runs = 9 },
		"Confidence": func(_ *Scenario, o *Options) { o.Confidence = 1 },
		"NoiseScale": func(_ *Scenario, o *Options) { o.NoiseScale = -1 },
	} {
		s, o := good, options
		change(&s, &o)
		var a *fault.Argument
		if r, err := Audit(context.Background(), s, o); !errors.As(err, &a) || a.Field != name || r.Passed {
			t.Errorf("%s: %v", name, err)
		}
	}
	run := func(ctx context.Context, change func(*Scenario, *Options), want error) {
		s, o := good, options
		change(&s, &o)
		if r, err := Audit(ctx, s, o); !errors.Is(err, want) || r.Passed {
			t.Errorf("%v, want %v", err, want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	all := context.Background()
	broken := errors.New("no curve")
	run(ctx, func(*Scenario, *Options) {}, context.Canceled)
	run(all, func(_ *Scenario, o *Options) { o.Runs = 1e13 }, limits.ErrMemory)
	run(all, func(_ *Scenario, o *Options) { o.Noising = mat.NewDense(3, 3, nil) }, threat.ErrStrategy)
	run(all, func(s *Scenario, _ *Options) { s.Strategy = strategy.Identity(1e6) }, threat.ErrAudit)
	run(all, func(s *Scenario, _ *Options) {
		s.Strategy, s.Actual = banded(t, 40, 20, 0.1), participation.PoissonSampling{Groups: 1, Probability: 0.1}
	}, threat.ErrAudit)
	run(all, func(s *Scenario, _ *Options) {
		s.Claim.Curve = func(float64) (float64, error) { return 0, broken }
	}, broken)
}
