package export

import (
	"errors"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/accounting/bins"
	"mafalda/internal/rounding"
)

// binnedManifest is of an export for random bins, with the noise that its strategy takes: two of its patterns are alike, so that
// samples ask for less of it than the bound without them.
func binnedManifest(t testing.TB) (*Manifest, mat.Matrix) {
	t.Helper()
	m := sampledManifest(t)
	c := mat.NewDense(7, 7, nil)
	for i := range 7 {
		c.Set(i, i, 0.7)
	}
	c.Set(1, 0, 0.6)
	c.Set(5, 4, 0.6)
	mechanism, err := bins.New(c, 4)
	if err != nil {
		t.Fatal(err)
	}
	seed, epsilon := uint64(2), 2.0
	m.Strategy.Bandwidth = 1
	m.Sampling = &Sampling{Scheme: SchemeBins, Groups: 4, Probability: 1, Rounds: 2, Epsilon: &epsilon, Delta: 1e-5,
		Failure: 2e-9, Samples: 2048, Seed: &seed}
	s := m.Sampling
	s.Candidates = make([]Candidate, 2)
	p, err := mechanism.NoiseMultiplier(t.Context(), 2, 1e-5, s.MonteCarlo())
	if err != nil || p.Rounds == 0 {
		t.Fatal(p, err)
	}
	s.NoiseMultiplier, s.NoiseMultiplierEstimate, s.Confirmations = p.NoiseMultiplier, p.Estimated, p.Rounds
	s.ConfirmedDelta = p.Confirmed.Upper
	for i := range s.Candidates {
		s.Candidates[i] = Candidate{1 + 6*i, p.NoiseMultiplier, 1, SchemeBins}
	}
	m.Privacy.NoiseStd = rounding.MulUp(p.NoiseMultiplier, 3)
	return m, c
}

// copied returns a manifest whose sampling and privacy can be changed.
func copied(m *Manifest) *Manifest {
	c, s, p, seed := *m, *m.Sampling, *m.Privacy, *m.Sampling.Seed
	s.Seed, s.Candidates = &seed, slices.Clone(s.Candidates)
	c.Sampling, c.Privacy = &s, &p
	return &c
}

// What bins claim must follow from what they say, and, with the strategy, from samples that are drawn again.
func TestContradictoryBins(t *testing.T) {
	m, c := binnedManifest(t)
	if err := m.CheckPrivacy(); err != nil {
		t.Fatal(err)
	}
	if err := m.ConfirmBins(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if s, err := m.Schema(); err != nil || s.Participations() != 2 || !m.Binned() {
		t.Errorf("%v, %v", s, err)
	}
	number := func(x float64) *float64 { return &x }
	for name, spoil := range map[string]func(m *Manifest, s *Sampling, p *Privacy){
		"no privacy":      func(m *Manifest, _ *Sampling, _ *Privacy) { m.Privacy = nil },
		"smaller epsilon": func(_ *Manifest, _ *Sampling, p *Privacy) { p.Epsilon = number(1.9) },
		"smaller delta":   func(_ *Manifest, _ *Sampling, p *Privacy) { p.Delta = number(1e-6) },
		"less noise":      func(_ *Manifest, _ *Sampling, p *Privacy) { p.NoiseStd *= 1 - 1e-15 },
		"fewer bins":      func(_ *Manifest, s *Sampling, _ *Privacy) { s.Groups, s.Rounds = 3, 3 },
		"fewer rounds":    func(_ *Manifest, s *Sampling, _ *Privacy) { s.Rounds = 1 },
		"several":         func(m *Manifest, _ *Sampling, _ *Privacy) { m.PerNode = &PerNode{} },
		"min-sep":         func(m *Manifest, _ *Sampling, _ *Privacy) { m.Participation.Schema = "min-sep" },
	} {
		m := copied(m)
		spoil(m, m.Sampling, m.Privacy)
		if err := m.CheckPrivacy(); !errors.Is(err, ErrPrivacy) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, spoil := range map[string]func(s *Sampling){
		"less noise":      func(s *Sampling) { s.NoiseMultiplier /= 2 },
		"smaller epsilon": func(s *Sampling) { s.Epsilon = number(1.9) },
		"another seed":    func(s *Sampling) { *s.Seed = 3 },
		"fewer bins":      func(s *Sampling) { s.Groups = 3 },
		"more bins":       func(s *Sampling) { s.Groups = 40 },
		"candidates left": func(s *Sampling) { s.Candidates = s.Candidates[:1] },
	} {
		m := copied(m)
		spoil(m.Sampling)
		if err := m.ConfirmBins(t.Context(), c); !errors.Is(err, ErrPrivacy) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Numbers that say nothing of bins are refused before anything is drawn.
func TestBinsOutOfRange(t *testing.T) {
	lower := 1.0
	good, _ := binnedManifest(t)
	for name, spoil := range map[string]func(s *Sampling){
		"probability":    func(s *Sampling) { s.Probability = 0.5 },
		"a lower bound":  func(s *Sampling) { s.EpsilonLower = &lower },
		"no epsilon":     func(s *Sampling) { s.Epsilon = nil },
		"no confidence":  func(s *Sampling) { s.Failure = 0 },
		"few samples":    func(s *Sampling) { s.Samples = 100 },
		"many samples":   func(s *Sampling) { s.Samples = MaxSamples + 1 },
		"no seed":        func(s *Sampling) { s.Seed = nil },
		"confirmations":  func(s *Sampling) { s.Confirmations = 99 },
		"larger delta":   func(s *Sampling) { s.ConfirmedDelta = 2e-5 },
		"no candidates":  func(s *Sampling) { s.Candidates = nil },
		"of what":        func(s *Sampling) { s.Candidates[0].OptimizedFor = "" },
		"as for poisson": func(s *Sampling) { s.Scheme, s.EpsilonLower = SchemePoisson, &lower },
		"as in turn":     func(s *Sampling) { *s = Sampling{Scheme: SchemeCyclic, Seed: s.Seed} },
	} {
		m := copied(good)
		if err := m.checkSamplingRange(7); err != nil {
			t.Fatal(err)
		}
		spoil(m.Sampling)
		if err := m.checkSamplingRange(7); err == nil {
			t.Errorf("%s: not refused", name)
		}
	}
}
