package accounting

import (
	"errors"
	"testing"

	"mafalda/internal/fault"
)

// Any two of μ, ε and δ give the third, a Rényi divergence stands for μ, and what is not known is absent.
func TestConvert(t *testing.T) {
	mu, epsilon, delta, alpha, rdp := 1.0, 5.0, 1e-6, 8.0, 4.0
	for name, tc := range map[string]struct {
		k    Known
		want func(c *Conversion) bool
	}{
		"epsilon": {Known{Mu: &mu, Delta: &delta}, func(c *Conversion) bool {
			e, err := Epsilon(mu, delta)
			return err == nil && *c.Epsilon == e && *c.Delta == delta && *c.EpsilonByRDP > e && c.RDP == nil && c.LogDelta == nil
		}},
		"delta": {Known{Mu: &mu, Epsilon: &epsilon}, func(c *Conversion) bool {
			d, err := Delta(mu, epsilon)
			return err == nil && *c.Delta == d && *c.LogDelta < 0 && c.EpsilonByRDP == nil
		}},
		"mu": {Known{Epsilon: &epsilon, Delta: &delta, Alpha: &alpha}, func(c *Conversion) bool {
			m, err := MuFromDP(epsilon, delta)
			r, err2 := RDP(m, alpha)
			return err == nil && err2 == nil && c.Mu == m && *c.RDP == r && *c.Alpha == alpha
		}},
		"from a divergence": {Known{Alpha: &alpha, RDP: &rdp, Delta: &delta}, func(c *Conversion) bool {
			m, err := MuFromRDP(alpha, rdp)
			return err == nil && c.Mu == m && *c.RDP == rdp && c.Epsilon != nil
		}},
		"divergence": {Known{Mu: &mu, Alpha: &alpha}, func(c *Conversion) bool {
			return *c.RDP >= 4 && c.Epsilon == nil && c.Delta == nil
		}},
	} {
		if c, err := Convert(tc.k); err != nil || !tc.want(c) {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
	for field, k := range map[string]Known{
		"RDP":   {RDP: &rdp},
		"Delta": {Mu: &mu, Epsilon: &epsilon, Delta: &delta},
		"Mu":    {Mu: &mu},
	} {
		var a *fault.Argument
		if c, err := Convert(k); !errors.As(err, &a) || a.Field != field {
			t.Errorf("%s: %+v, %v", field, c, err)
		}
	}
	negative := -1.0
	if c, err := Convert(Known{Mu: &negative, Delta: &delta}); err == nil {
		t.Errorf("μ = -1: %+v", c)
	}
}
