package export

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mafalda/accounting"
)

// calibrated returns a manifest with the noise of a target.
func calibrated(t interface{ Fatal(...any) }, target accounting.Target, sensSquared, clip float64,
	a accounting.Adjacency) *Manifest {
	p, err := accounting.Calibrate(target, math.Sqrt(sensSquared), clip, a)
	if err != nil {
		t.Fatal(err)
	}
	m := manifest(2)
	m.SensSquared = sensSquared
	m.Privacy = &Privacy{Mu: p.Mu, Sigma: p.Sigma, Clip: clip, Adjacency: a.String(), NoiseStd: p.NoiseStd}
	if p.Delta != 0 {
		m.Privacy.Epsilon, m.Privacy.Delta = &p.Epsilon, &p.Delta
	}
	return m
}

// Whatever accounting calibrates passes.
func TestCalibratedPrivacyIsConsistent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		target := accounting.Target{Delta: math.Exp(rapid.Float64Range(-60, -1).Draw(t, "log delta"))}
		if x := math.Exp(rapid.Float64Range(-4, 4).Draw(t, "log mu or epsilon")); rapid.Bool().Draw(t, "mu") {
			target.Mu = x
		} else {
			target.Epsilon = x
		}
		m := calibrated(t, target, 1-rapid.Float64Range(0, 1e-12).Draw(t, "below 1"), math.Exp(rapid.Float64Range(-9,
			9).Draw(t, "log clip")),
			accounting.Adjacency(rapid.IntRange(0, 1).Draw(t, "adjacency")))
		if err := m.CheckPrivacy(); err != nil {
			t.Fatalf("%+v: %v", m.Privacy, err)
		}
	})
}

// A noise level, or a guarantee, that does not follow from the others is refused, and so are numbers that are none:
// they ended in a panic.
func TestContradictoryPrivacy(t *testing.T) {
	number := func(x float64) *float64 { return &x }
	for name, tc := range map[string]struct {
		spoil func(m *Manifest)
		say   string
	}{
		"less noise":        {func(m *Manifest) { m.Privacy.NoiseStd *= 1 - 1e-15 }, "noise_std"},
		"much less noise":   {func(m *Manifest) { m.Privacy.NoiseStd = 1e-3 }, "noise_std"},
		"infinite noise":    {func(m *Manifest) { m.Privacy.NoiseStd = 1.7e308 }, "noise_std"},
		"more noise":        {func(m *Manifest) { m.Privacy.NoiseStd *= 1 + 1e-6 }, "noise_std"},
		"noise of zero-out": {func(m *Manifest) { m.Privacy.Adjacency = "replace-one" }, "noise_std"},
		"smaller mu": {func(m *Manifest) {
			m.Privacy.Mu, m.Privacy.Sigma = m.Privacy.Mu/2,
				m.Privacy.Sigma*2
		}, "noise_std"},
		"sigma":                  {func(m *Manifest) { m.Privacy.Sigma *= 1 + 1e-14 }, "sigma"},
		"clip":                   {func(m *Manifest) { m.Privacy.Clip *= 1 + 1e-6 }, "noise_std"},
		"smaller epsilon":        {func(m *Manifest) { *m.Privacy.Epsilon *= 1 - 1e-10 }, "epsilon"}, // μ is cut to 12 digits,
		"larger epsilon":         {func(m *Manifest) { *m.Privacy.Epsilon *= 1 + 1e-6 }, "epsilon"},
		"smaller delta":          {func(m *Manifest) { *m.Privacy.Delta *= 1 - 1e-6 }, "epsilon"},
		"no delta":               {func(m *Manifest) { m.Privacy.Delta = nil }, "belong together"},
		"no epsilon":             {func(m *Manifest) { m.Privacy.Epsilon = nil }, "belong together"},
		"delta zero":             {func(m *Manifest) { m.Privacy.Delta = number(0) }, "delta is 0"},
		"delta one":              {func(m *Manifest) { m.Privacy.Delta = number(1) }, "delta is 1"},
		"epsilon negative":       {func(m *Manifest) { m.Privacy.Epsilon = number(-1) }, "epsilon is -1"},
		"empty":                  {func(m *Manifest) { m.Privacy = &Privacy{} }, "clip is 0"},
		"adjacency":              {func(m *Manifest) { m.Privacy.Adjacency = "none" }, "adjacency"},
		"infinite clip":          {func(m *Manifest) { m.Privacy.Clip = math.Inf(1) }, "clip"},
		"sensitivity":            {func(m *Manifest) { m.SensSquared = 1e300 }, "sens_squared"},
		"sensitivity, no claims": {func(m *Manifest) { m.SensSquared, m.Privacy = 1e-300, nil }, "sens_squared"},
		"sensitivity, more":      {func(m *Manifest) { m.SensSquared = 1 + 1e-8 }, "noise_std"},
	} {
		m := calibrated(t, accounting.Target{Epsilon: 8, Delta: 1e-6}, 1, 2, accounting.ZeroOut)
		if err := m.CheckPrivacy(); err != nil {
			t.Fatal(err)
		}
		tc.spoil(m)
		if err := m.CheckPrivacy(); !errors.Is(err, ErrPrivacy) || !strings.Contains(err.Error(), tc.say) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want one about %s", name, err, tc.say)
		}
	}
}
