package plan

import (
	"context"
	"fmt"

	"mafalda/export"
	"mafalda/graph"
	"mafalda/workload"
)

// KernelBy computes what errors on a network (nil: of the prefix workload) depend on, and the sketch that it comes from, if any.
func KernelBy(ctx context.Context, g *export.Gram, n *graph.Network, kind workload.Kind, steps int, progress func(done, total int)) (*workload.Kernel, *workload.Sketch, error) {
	var w *graph.CSR
	if n != nil {
		w = n.Gossip.Matrix()
	}
	if g == nil || g.Method == "exact" || n == nil {
		k, err := workload.NewKernel(ctx, w, steps, workload.Options{Kind: kind, Progress: progress})
		return k, nil, err
	}
	s, err := sketchBy(ctx, g, n, kind, progress)
	if err != nil {
		return nil, nil, err
	}
	return s.Kernel(steps), s, nil
}

func sketchBy(ctx context.Context, g *export.Gram, n *graph.Network, kind workload.Kind, progress func(done, total int)) (*workload.Sketch, error) {
	if g.Method != "lanczos" {
		return nil, fmt.Errorf("unknown way to a Gram matrix %q", g.Method)
	}
	pi, reversible := n.Gossip.Stationary()
	if !reversible {
		return nil, workload.ErrReversible
	}
	return workload.NewSketch(ctx, n.Gossip.Matrix(), pi, workload.SketchOptions{Kind: kind, Probes: g.Probes,
		LanczosSteps: g.LanczosSteps, Seed: g.Seed,
		Independent: g.Confidence == 0, Progress: progress})
}
