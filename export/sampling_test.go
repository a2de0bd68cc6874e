package export

import (
	"cmp"
	"errors"
	"testing"

	"mafalda/accounting"
	"mafalda/accounting/pld"
	"mafalda/internal/rounding"
)

// sampledManifest is of an export for batches drawn in secret, with the noise that it takes.
func sampledManifest(t testing.TB) *Manifest {
	t.Helper()
	p, err := pld.Calibrate(pld.Target{Probability: 0.5, Rounds: 4, Epsilon: 2,
		Delta: 1e-5})
	if err != nil {
		t.Fatal(err)
	}
	m := manifest(7)
	m.Participation = Participation{Schema: "cyclic", K: 2, B: 4}
	m.Strategy.Class, m.Strategy.Bandwidth = "banded", 2
	m.Sampling = &Sampling{Scheme: SchemePoisson, Groups: 2, Probability: 0.5, Rounds: 4, Delta: 1e-5,
		NoiseMultiplier: p.NoiseMultiplier}
	if err := m.Sampling.Account(7, accounting.ZeroOut); err != nil {
		t.Fatal(err)
	}
	epsilon, delta := 2*(1+1e-6), 1e-5
	m.Privacy = &Privacy{Epsilon: &epsilon, Delta: &delta, Clip: 3, Adjacency: accounting.ZeroOut.String(),
		NoiseStd: rounding.MulUp(p.NoiseMultiplier, 3)}
	return m
}

// Secret sampling takes the sensitivity of a single participation; every other scheme takes its participation's.
func TestSchema(t *testing.T) {
	m := sampledManifest(t)
	s, err := m.Schema()
	if err != nil || s.Participations() != 1 || !m.Sampled() {
		t.Errorf("%v, %v", s, err)
	}
	for _, other := range []*Sampling{nil, {Scheme: SchemeCyclic}} {
		m.Sampling = other
		if s, err := m.Schema(); err != nil || s.Participations() != 2 || m.Sampled() {
			t.Errorf("%v: %v, %v", other, s, err)
		}
	}
}

// A guarantee that does not follow from the noise, the groups and the draws is refused; so are numbers that are none.
func TestContradictorySampling(t *testing.T) {
	if err := sampledManifest(t).CheckPrivacy(); err != nil {
		t.Fatal(err)
	}
	number := func(x float64) *float64 { return &x }
	for name, spoil := range map[string]func(m *Manifest, s *Sampling, p *Privacy){
		"no privacy":        func(m *Manifest, _ *Sampling, _ *Privacy) { m.Privacy = nil },
		"mu":                func(_ *Manifest, _ *Sampling, p *Privacy) { p.Mu = 1 },
		"sigma":             func(_ *Manifest, _ *Sampling, p *Privacy) { p.Sigma = 1 },
		"replace-one":       func(_ *Manifest, _ *Sampling, p *Privacy) { p.Adjacency = "replace-one" },
		"smaller epsilon":   func(_ *Manifest, _ *Sampling, p *Privacy) { p.Epsilon = number(1.9) },
		"other delta":       func(_ *Manifest, _ *Sampling, p *Privacy) { p.Delta = number(1e-6) },
		"smaller delta":     func(_ *Manifest, s *Sampling, p *Privacy) { s.Delta, p.Delta = 1e-7, number(1e-7) },
		"less noise":        func(_ *Manifest, _ *Sampling, p *Privacy) { p.NoiseStd *= 1 - 1e-15 },
		"more noise":        func(_ *Manifest, _ *Sampling, p *Privacy) { p.NoiseStd *= 1 + 1e-6 },
		"less multiplier":   func(_ *Manifest, s *Sampling, p *Privacy) { s.NoiseMultiplier /= 2; p.NoiseStd /= 2 },
		"fewer rounds":      func(_ *Manifest, s *Sampling, _ *Privacy) { s.Rounds = 3 },
		"more groups":       func(_ *Manifest, s *Sampling, _ *Privacy) { s.Groups = 3 },
		"more bands":        func(m *Manifest, _ *Sampling, _ *Privacy) { m.Strategy.Bandwidth = 3 },
		"another class":     func(m *Manifest, _ *Sampling, _ *Privacy) { m.Strategy.Class = "toeplitz" },
		"several":           func(m *Manifest, _ *Sampling, _ *Privacy) { m.PerNode = &PerNode{} },
		"longer columns":    func(m *Manifest, _ *Sampling, _ *Privacy) { m.SensSquared = 1 + 1e-9 },
		"more draws":        func(_ *Manifest, s *Sampling, _ *Privacy) { s.Probability = 0.6 },
		"smaller bound":     func(_ *Manifest, s *Sampling, _ *Privacy) { *s.Epsilon *= 1 - 1e-6 },
		"larger lower":      func(_ *Manifest, s *Sampling, _ *Privacy) { *s.EpsilonLower *= 1 + 1e-6 },
		"epsilon of no use": func(_ *Manifest, s *Sampling, _ *Privacy) { s.NoiseMultiplier = 1e-300 },
	} {
		m := sampledManifest(t)
		spoil(m, m.Sampling, m.Privacy)
		if err := m.CheckPrivacy(); !errors.Is(err, ErrPrivacy) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, spoil := range map[string]func(s *Sampling){
		"scheme":          func(s *Sampling) { s.Scheme = "shuffled" },
		"cyclic and more": func(s *Sampling) { s.Scheme = SchemeCyclic },
		"no groups":       func(s *Sampling) { s.Groups = 0 },
		"many rounds":     func(s *Sampling) { s.Rounds = 8 },
		"probability":     func(s *Sampling) { s.Probability = 1.1 },
		"no noise":        func(s *Sampling) { s.NoiseMultiplier = 0 },
		"no epsilon":      func(s *Sampling) { s.Epsilon = nil },
		"crossed":         func(s *Sampling) { s.EpsilonLower = number(3) },
		"delta":           func(s *Sampling) { s.Delta = 1 },
		"candidate": func(s *Sampling) {
			s.Candidates = []Candidate{{Bandwidth: 8, NoiseMultiplier: 1,
				ErrorAtPrivacy: 1}}
		},
	} {
		m := sampledManifest(t)
		if err := m.checkSamplingRange(7); err != nil {
			t.Fatal(err)
		}
		spoil(m.Sampling)
		if err := m.checkSamplingRange(7); err == nil {
			t.Errorf("%s: not refused", name)
		}
	}
}

// checkSamplingRange checks what ReadManifest does of the block sampling.
func (m *Manifest) checkSamplingRange(steps int) error {
	return cmp.Or(m.checkRanges("sampling"), m.Sampling.checkRange(steps))
}
