package accounting

import "mafalda/internal/fault"

// Known are the parameters of a Gaussian mechanism that are given to Convert; nil ones are not.
type Known struct {
	Mu, Epsilon, Delta *float64
	Alpha, RDP         *float64 // Rényi divergence of order Alpha, which stands for Mu
}

// Conversion is what is known of a Gaussian mechanism; absent is what was neither given nor computed.
type Conversion struct {
	Mu           float64  `json:"mu"`
	Epsilon      *float64 `json:"epsilon,omitempty"`
	Delta        *float64 `json:"delta,omitempty"` // the smallest positive number where it underflows
	LogDelta     *float64 `json:"log_delta,omitempty"`
	Alpha        *float64 `json:"alpha,omitempty"`
	RDP          *float64 `json:"rdp,omitempty"`
	EpsilonByRDP *float64 `json:"epsilon_by_rdp,omitempty"` // what an accountant that only knows Renyi DP reports
}

// Convert computes the third of μ, ε and δ from two, rounded to the safe side: a μ for an (ε, δ) down, all else up.
// With Alpha it adds the Rényi divergence. It fails with a fault.Argument about RDP if it stands without Alpha or beside
// Mu, about Delta if μ, ε and δ are all known, and about Mu if too little is known; and as the conversions do.
func Convert(k Known) (c *Conversion, err error) {
	c = &Conversion{Epsilon: k.Epsilon, Delta: k.Delta, Alpha: k.Alpha, RDP: k.RDP}
	known := k.Mu != nil || k.RDP != nil
	switch {
	case k.RDP != nil && (k.Mu != nil || k.Alpha == nil):
		return nil, fault.New("RDP", nil, "needs alpha, and stands for mu")
	case k.RDP != nil:
		c.Mu, err = MuFromRDP(*k.Alpha, *k.RDP)
	case known:
		c.Mu = *k.Mu
	}
	switch {
	case err != nil:
	case known && k.Epsilon != nil && k.Delta != nil:
		return nil, fault.New("Delta", nil, "give two of mu, epsilon and delta, not three")
	case known && k.Delta != nil:
		c.Epsilon, c.EpsilonByRDP = new(float64), new(float64)
		if *c.Epsilon, err = Epsilon(c.Mu, *k.Delta); err == nil {
			*c.EpsilonByRDP, _, err = EpsilonByRDP(c.Mu, *k.Delta)
		}
	case known && k.Epsilon != nil:
		c.Delta, c.LogDelta = new(float64), new(float64)
		if *c.LogDelta, err = LogDelta(c.Mu, *k.Epsilon); err == nil {
			*c.Delta, err = Delta(c.Mu, *k.Epsilon)
		}
	case k.Epsilon != nil && k.Delta != nil:
		c.Mu, err = MuFromDP(*k.Epsilon, *k.Delta)
	case !known || k.Alpha == nil:
		return nil, fault.New("Mu", nil, "give two of mu, epsilon and delta, or mu and alpha")
	}
	if err == nil && c.Alpha != nil && c.RDP == nil {
		c.RDP = new(float64)
		*c.RDP, err = RDP(c.Mu, *c.Alpha)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}
