package simulate

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/accounting"
	"mafalda/internal/fault"
	"mafalda/participation"
	"mafalda/strategy"
)

// drawBanded returns a random lower-triangular strategy of w bands without negative entries.
func drawBanded(steps, w int, r *rand.Rand) strategy.Strategy {
	m := mat.NewDense(steps, steps, nil)
	for t := range steps {
		for s := max(t-w+1, 0); s < t; s++ {
			m.Set(t, s, 0.5*r.Float64())
		}
		m.Set(t, t, 0.5+r.Float64())
	}
	c, err := strategy.NewDense(m)
	if err != nil {
		panic(err)
	}
	return c
}

// A run with drawn batches, some of them empty, is Algorithm 1 with sums that are divided by the expected size: noise
// of Multiplier·clip for columns of norm one is added to the sum.
func TestDrawnRunIsAlgorithm1(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "draws"), 0))
		m := twins{NewLinear(2), slowLinear(2, 1, false), 0}
		n, steps := rapid.IntRange(1, 3).Draw(t, "n"), rapid.IntRange(2, 7).Draw(t, "T")
		turns := rapid.IntRange(1, steps).Draw(t, "w or b")
		var sampling participation.Sampling = participation.BinsSampling{Bins: turns}
		schema, bands := cyclic(t, steps, (steps-1)/turns+1, turns), steps
		if rapid.Bool().Draw(t, "poisson") {
			q := rapid.Float64Range(0.05, 1).Draw(t, "q")
			sampling = participation.PoissonSampling{Groups: turns, Probability: q}
			schema, bands = cyclic(t, steps, 1, steps), turns
		}
		train, test := m.data(n+rapid.IntRange(0, 20).Draw(t, "more"), r), m.data(5, r)
		c := Config{Task: Task{Model: m.fast, Split: func(uint64) (Dataset, Dataset) { return train, test }},
			Gossip: drawGossip(n, r), Schema: cyclic(t, steps, 1, steps), Sampling: sampling,
			LearningRate: 0.1, Clip: 0.5, TestRows: -1, Every: 1}
		var noise *Noise
		strategies := make([]strategy.Strategy, n)
		if rapid.Bool().Draw(t, "noise") {
			for u := range strategies {
				strategies[u] = drawBanded(steps, bands, r)
			}
			of := correlation(t, n, func(u int) strategy.Strategy { return strategies[u] }, schema)
			noise = &Noise{Correlation: of, Multiplier: 0.3}
		}
		seed := rapid.Uint64().Draw(t, "seed")
		got, err := Run(context.Background(), c, noise, seed)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range slowRun(c, m, strategies, noise, seed) {
			if got.Steps[i] != i+1 || math.Abs(got.Losses[i]-want) > 2e-4*(1+want) {
				t.Fatalf("%v: loss after %d steps is %v, must be %v", sampling, got.Steps[i], got.Losses[i], want)
			}
		}
	})
}

// Whether anything was drawn does not show: empty batches take noise and a step, of the size that full ones take.
func TestEmptyBatchesTakeNoise(t *testing.T) {
	c := florentine(t, 12, 1, 12)
	c.Sampling = participation.PoissonSampling{Groups: 1, Probability: 1e-9}
	quiet, err := Run(t.Context(), c, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	if quiet.Losses[0] != *quiet.Final || quiet.Clipped != 0 {
		t.Errorf("nobody takes part, and the loss goes from %v to %v", quiet.Losses[0], *quiet.Final)
	}
	of := correlation(t, 15, Shared(strategy.Identity(12)), c.Schema)
	noisy, err := Run(t.Context(), c, &Noise{Correlation: of, Multiplier: 1e-8}, 1) // over 1e-9 of the records
	if err != nil {
		t.Fatal(err)
	}
	for i := range noisy.Losses {
		if noisy.Losses[i] == quiet.Losses[i] || i > 0 && noisy.Losses[i] == noisy.Losses[i-1] {
			t.Errorf("step %d has no noise", noisy.Steps[i])
		}
	}
}

// Drawn runs do not depend on the number of workers, and their batches do on the seed.
func TestDrawnRunsAreReproducible(t *testing.T) {
	c := florentine(t, 40, 1, 40)
	c.Sampling = participation.PoissonSampling{Groups: 4, Probability: 0.2}
	var runs []*Result
	for _, workers := range []int{1, 3, 16} {
		c.Workers = workers
		r, err := Run(t.Context(), c, nil, 7)
		if err != nil {
			t.Fatal(err)
		}
		r.Seconds = 0
		if runs = append(runs, r); !reflect.DeepEqual(r, runs[0]) {
			t.Errorf("%d workers: %+v, one: %+v", workers, r, runs[0])
		}
	}
}

// Noise must be what the accountant knows: level, adjacency and strategy.
func TestDrawnRunsRefuseNoise(t *testing.T) {
	const steps = 12
	r := rand.New(rand.NewPCG(1, 1))
	single, bins := cyclic(t, steps, 1, steps), cyclic(t, steps, 3, 4)
	three := correlation(t, 15, Shared(drawBanded(steps, 3, r)), single)
	signed := correlation(t, 15, Shared(strategy.Strategy(drawStrategy(steps, r))), bins)
	plain := correlation(t, 15, Shared(strategy.Identity(steps)), bins)
	poisson := func(w int) participation.Sampling { return participation.PoissonSampling{Groups: w, Probability: 0.5} }
	binned := func(b int) participation.Sampling { return participation.BinsSampling{Bins: b} }
	turns := func(b int, drawn bool) participation.Sampling {
		return participation.CyclicSampling{Batches: b, Drawn: drawn}
	}
	for name, tc := range map[string]struct {
		sampling participation.Sampling
		noise    *Noise
		err      error // nil: none; errAny: some
	}{
		"bands and groups": {poisson(3), &Noise{Correlation: three, Multiplier: 1}, nil},
		"more groups":      {poisson(4), &Noise{Correlation: three, Multiplier: 1}, nil},
		"fewer groups":     {poisson(2), &Noise{Correlation: three, Multiplier: 1}, participation.ErrViolated},
		"mu":               {poisson(3), &Noise{Correlation: three, Mu: 1}, ErrData},
		"mu, too":          {poisson(3), &Noise{Correlation: three, Mu: 1, Multiplier: 1}, ErrData},
		"no level":         {poisson(3), &Noise{Correlation: three}, errAny},
		"no number":        {poisson(3), &Noise{Correlation: three, Multiplier: math.NaN()}, errAny},
		"replace-one": {poisson(3), &Noise{Correlation: three, Multiplier: 1, Adjacency: accounting.ReplaceOne},
			ErrData},
		"in turn":            {nil, &Noise{Correlation: three, Multiplier: 1}, ErrData},
		"bins":               {binned(4), &Noise{Correlation: plain, Multiplier: 1}, nil},
		"bins, more often":   {binned(3), &Noise{Correlation: plain, Multiplier: 1}, participation.ErrViolated},
		"bins, of signs":     {binned(4), &Noise{Correlation: signed, Multiplier: 1}, ErrData},
		"cyclic":             {turns(4, false), &Noise{Correlation: plain, Mu: 1}, nil},
		"cyclic, drawn":      {turns(4, true), &Noise{Correlation: plain, Mu: 1}, nil},
		"cyclic, more often": {turns(3, false), &Noise{Correlation: plain, Mu: 1}, participation.ErrViolated},
		"a false claim": {participation.MinSepSampling{Participations: 3, Separation: 2, Probability: 0.5},
			&Noise{Correlation: plain, Mu: 1}, participation.ErrViolated},
	} {
		c := florentine(t, steps, 1, steps)
		c.Sampling = tc.sampling
		_, err := Run(t.Context(), c, tc.noise, 1)
		if good := errors.Is(err, tc.err) || tc.err == errAny && err != nil; !good {
			t.Errorf("%s: %v, want %v", name, err, tc.err)
		}
	}
	c := florentine(t, steps, 1, steps)
	c.Sampling = poisson(13)
	var a *fault.Argument
	if _, err := Run(t.Context(), c, nil, 1); !errors.As(err, &a) || a.Field != "Groups" {
		t.Errorf("13 groups in 12 steps: %v", err)
	}
}

var errAny = errors.New("any")

// repeated takes every batch twice.
type repeated struct{ participation.Sampler }

func (s repeated) Batch(step int) []int { return s.Sampler.Batch(step / 2) }

// That batches are what was accounted for is checked while training.
func TestDrawsAreCheckedWhileTraining(t *testing.T) {
	c := florentine(t, 12, 1, 12)
	c.Sampling = participation.PoissonSampling{Groups: 4, Probability: 0.9}
	c, err := c.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	tr, err := newTrainer(c, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	d := tr.batches.(*draws)
	d.samplers[3] = repeated{d.samplers[3]}
	for step := range 12 {
		if err = tr.descend(step); err != nil {
			break
		}
	}
	if !errors.Is(err, participation.ErrViolated) {
		t.Errorf("batches of other groups: %v", err)
	}
}
