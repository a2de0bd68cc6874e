package verify

import (
	"context"
	"fmt"

	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/measure"
	"mafalda/strategy"
	"mafalda/workload"
)

// attach completes the workload with the networks that take turns. It reports whether the workload is known then; if
// not, Missing or a failed check says why.
func (v *verification) attach(n *graph.Network) (known bool, err error) {
	q := v.spec.GraphSequence
	switch {
	case q == nil || n == nil:
		return true, nil
	case q.Source() != v.export.Manifest.Graph.SequenceFile:
		v.add("sequence", false, "its file is %q for the workload, and %q for the graph", q.Source(),
			v.export.Manifest.Graph.SequenceFile)
		return false, nil
	case n.Sequence == nil:
		v.Missing = NetworkFiles{GraphSequence: q.Source()}
		if q.Source() == "" {
			v.Missing.GraphSequence = "(without a name)"
		}
		v.skipNetwork()
		return false, nil
	}
	on, err := v.spec.Attached(n)
	if err != nil {
		v.add("sequence", false, "%v", err)
		return false, nil
	}
	v.spec = on
	v.add("sequence", true, "%d networks that take turns, with the SHA-256 of the manifest", q.Len())
	return true, nil
}

// plain checks what the strategy costs, by an objective, that is optimal for the plain workload.
func (v *verification) plain(ctx context.Context, n *graph.Network, by func() factorize.Objective) error {
	m := v.export.Manifest
	says := m.PlainStrategyLoss
	switch {
	case says == 0 && v.spec.IsPlain():
		return nil
	case v.spec.IsPlain():
		v.add("plain strategy", false, "plain_strategy_loss is for workloads other than the plain one")
		return nil
	case says == 0 && len(m.Baselines) > 0: // whoever measures those measures this, too
		v.add("plain strategy", false, "plain_strategy_loss is not there, and baselines are")
		return nil
	case says == 0:
		v.skip("plain_strategy_loss")
		return nil
	}
	on := measure.Source{Gram: m.Gram, Network: n, Workload: v.spec, Weights: v.weights()}
	on.Sketch, _ = v.estimated.(*workload.Sketch)
	is, err := measure.PlainLoss(ctx, m, on, by)
	if err != nil {
		return v.computing("plain strategy", err)
	}
	if m.Objective != "" || m.Steps > strategy.LongSteps {
		v.skip("plain_strategy_loss") // its further digits
	}
	v.again.PlainStrategyLoss = is
	v.compare("plain strategy", fmt.Sprintf("that for plain training has %.6g times the loss", is/m.Loss))
	return nil
}
