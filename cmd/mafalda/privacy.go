package main

import (
	"math"

	"github.com/spf13/cobra"

	"mafalda/accounting"
	"mafalda/export"
)

// privacyFlags say how much privacy is wanted, if any.
type privacyFlags struct {
	mu, epsilon, delta, clip float64
	adjacency                string
}

func (f *privacyFlags) bind(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.Float64Var(&f.mu, "mu", 0, "privacy wanted, as the parameter of Gaussian DP")
	fl.Float64Var(&f.epsilon, "epsilon", 0, "privacy wanted, with --delta, instead of --mu")
	fl.Float64Var(&f.delta, "delta", 0, "the delta of --epsilon, or to report an epsilon for --mu")
	fl.Float64Var(&f.clip, "clip", 1, "norm to which each record's gradient is clipped")
	fl.StringVar(&f.adjacency, "adjacency", "zero-out", "neighbouring datasets: zero-out (a record or nothing) or replace-one (twice the noise)")
	completeWith(cmd, "adjacency", accounting.Adjacencies())
}

// wanted reports whether noise is to be calibrated.
func (f *privacyFlags) wanted() bool { return f.mu != 0 || f.epsilon != 0 || f.delta != 0 }

// check finds wrong values before anything is computed.
func (f *privacyFlags) check(cmd *cobra.Command) error {
	for name, v := range map[string]float64{"mu": f.mu, "epsilon": f.epsilon, "delta": f.delta} {
		if cmd.Flags().Changed(name) && !(v > 0) {
			return usagef("--%s %v: must be positive", name, v)
		}
	}
	if !(f.clip > 0) || math.IsInf(f.clip, 1) {
		return usagef("--clip %v: must be positive and finite", f.clip)
	}
	if _, err := accounting.ParseAdjacency(f.adjacency); err != nil {
		return usage(err)
	}
	_, err := f.calibrate(1)
	return usage(err)
}

// calibrate returns nil if no privacy is asked for.
func (f *privacyFlags) calibrate(sens float64) (*export.Privacy, error) {
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
