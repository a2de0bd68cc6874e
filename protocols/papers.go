package protocols

import (
	"context"

	"mafalda/protocols/averaging"
	"mafalda/protocols/dpps"
	"mafalda/protocols/ppac"
)

// Papers are the experiments of the papers that have averaging: Figures 3, 4, 5 and 7 of Fereydounian et al., and the
// sensitivity of DPPS on averaging, after Figure 2 of Zhou et al., on the graphs of their experiments.
type Papers struct {
	Example     *ppac.Averaging
	Swept       *ppac.Sweep // sweep of Example under other noise
	Cycles      []ppac.CycleLeakage
	Sensitivity []*dpps.Result
}

// RunPapers runs them, with values of DPPS and noise from a seed. The only errors are the context's, but for noise of
// DPPS that makes messages diverge.
func RunPapers(ctx context.Context, seed uint64) (p *Papers, err error) {
	p = &Papers{}
	if p.Example, err = ppac.AppendixExample(ctx, seed); err != nil {
		return nil, err
	}
	if p.Swept, err = p.Example.Sweep(ctx, nil); err != nil {
		return nil, err
	}
	if p.Cycles, err = ppac.Cycles(ctx); err != nil {
		return nil, err
	}
	const rounds = 5
	for _, name := range []string{"d-out:10,2", "exp:10"} {
		s, _, err := dpps.ByName(name)
		if err != nil {
			return nil, err
		}
		r, err := dpps.Average(ctx, dpps.Problem{Plan: dpps.Plan{B: 50, NoiseRate: 1, Sync: rounds}, Sequence: s,
			Name: name, Values: averaging.DrawValues(s.Nodes(), 10, seed), Rounds: rounds, Delta: 1e-6, Seed: seed})
		if err != nil {
			return nil, err
		}
		p.Sensitivity = append(p.Sensitivity, r)
	}
	return p, nil
}
