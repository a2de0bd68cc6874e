package cli

import (
	"math"

	"github.com/spf13/cobra"

	"fmt"
	"mafalda/accounting"
	"mafalda/export"
)

// PrivacyFlags say how much privacy is wanted, if any.
type PrivacyFlags struct {
	mu, epsilon, delta, clip float64
	adjacency                string
}

func (f *PrivacyFlags) Bind(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.Float64Var(&f.mu, "mu", 0, "privacy wanted, as the parameter of Gaussian DP")
	fl.Float64Var(&f.epsilon, "epsilon", 0, "privacy wanted, with --delta, instead of --mu")
	fl.Float64Var(&f.delta, "delta", 0, "the delta of --epsilon, or to report an epsilon for --mu")
	fl.Float64Var(&f.clip, "clip", 1, "norm to which each record's gradient is clipped")
	fl.StringVar(&f.adjacency, "adjacency", "zero-out", "neighbouring datasets: zero-out (a record or nothing) or replace-one (twice the noise)")
	CompleteWith(cmd, "adjacency", accounting.Adjacencies())
}

// wanted reports whether noise is to be calibrated.
func (f *PrivacyFlags) wanted() bool { return f.mu != 0 || f.epsilon != 0 || f.delta != 0 }

// Check finds wrong values before anything is computed.
func (f *PrivacyFlags) Check(cmd *cobra.Command) error {
	for name, v := range map[string]float64{"mu": f.mu, "epsilon": f.epsilon, "delta": f.delta} {
		if cmd.Flags().Changed(name) && !(v > 0) {
			return Usagef("--%s %v: must be positive", name, v)
		}
	}
	if !(f.clip > 0) || math.IsInf(f.clip, 1) {
		return Usagef("--clip %v: must be positive and finite", f.clip)
	}
	if _, err := accounting.ParseAdjacency(f.adjacency); err != nil {
		return Usage(err)
	}
	_, err := f.Calibrate(1)
	return Usage(err)
}

// Calibrate returns nil if no privacy is asked for.
func (f *PrivacyFlags) Calibrate(sens float64) (*export.Privacy, error) {
	if !f.wanted() {
		return nil, nil
	}
	adjacency, err := accounting.ParseAdjacency(f.adjacency)
	if err != nil {
		return nil, err
	}
	p, err := accounting.Calibrate(accounting.Target{Mu: f.mu, Epsilon: f.epsilon, Delta: f.delta}, sens, f.clip, adjacency)
	if err != nil {
		return nil, err
	}
	out := &export.Privacy{Mu: p.Mu, Sigma: p.Sigma, Clip: f.clip, Adjacency: adjacency.String(), NoiseStd: p.NoiseStd}
	if p.Delta != 0 {
		out.Epsilon, out.Delta = &p.Epsilon, &p.Delta
	}
	return out, nil
}

func (f *PrivacyFlags) AdjacencyLine() string {
	a, err := accounting.ParseAdjacency(f.adjacency)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%v: one record moves a sum of gradients by at most %s", a, f.Contribution())
}

// Contribution says how far one record can move a sum of gradients, by accounting.Adjacency.Contribution.
func (f *PrivacyFlags) Contribution() string {
	if a, err := accounting.ParseAdjacency(f.adjacency); err == nil && a.Contribution(1) == 1 {
		return "clip"
	}
	return "2·clip"
}

// PrivacyLine states a guarantee. A μ that was computed for an (ε, δ) has no more digits than are printed here.
func PrivacyLine(p *export.Privacy) string {
	s := "mu = " + DecimalUp(p.Mu, accounting.MuDigits)
	if p.Epsilon != nil {
		s += fmt.Sprintf(", that is (%s, %g)-DP", DecimalUp(*p.Epsilon, 6), *p.Delta)
	}
	return s + " against everybody who sees all messages (local DP)"
}
