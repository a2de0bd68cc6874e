package plan

import (
	"context"
	"fmt"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/workload"
)

// source is what errors on a network depend on, and how it is computed.
type source struct {
	gram     *export.Gram
	network  *graph.Network // nil for the prefix workload
	workload workload.Spec
	progress func(done, total int) // may be nil
	sketch   *workload.Sketch      // of the network, where there is one already
	known    *workload.Kernel      // of another workload on it, or nil
}

// kernel computes what the errors of so many steps depend on, and what it comes from, if it is an estimate.
func (s source) kernel(ctx context.Context, steps int) (*workload.Kernel, workload.Estimate, error) {
	var w *graph.CSR
	if s.network != nil {
		w = s.network.Gossip.Matrix()
	}
	if s.known != nil {
		if k := s.known.Under(s.workload); k != nil {
			return k, nil, nil
		}
	}
	if s.gram == nil || s.gram.Method == GramExact.String() || s.network == nil {
		k, err := workload.NewKernel(ctx, w, steps, workload.Options{Spec: s.workload, Progress: s.progress})
		return k, nil, err
	}
	var of workload.Estimate
	var err error
	if s.gram.Method == GramSampled.String() {
		of, err = workload.NewSampled(ctx, w, steps, workload.SampledOptions{Spec: s.workload, Probes: s.gram.Probes,
			Seed: s.gram.Seed, Progress: s.progress})
	} else {
		of, err = s.sketched(ctx)
	}
	if err != nil {
		return nil, nil, err
	}
	return of.Kernel(steps), of, nil
}

// sketched returns the sketch of the network for the workload.
func (s source) sketched(ctx context.Context) (*workload.Sketch, error) {
	if s.sketch != nil {
		return s.sketch.Under(s.workload), nil
	}
	g := s.gram
	if g.Method != GramLanczos.String() {
		return nil, fmt.Errorf("unknown way to a Gram matrix %q", g.Method)
	}
	pi, reversible := s.network.Gossip.Stationary()
	if !reversible {
		return nil, workload.ErrReversible
	}
	return workload.NewSketch(ctx, s.network.Gossip.Matrix(), pi, workload.SketchOptions{Spec: s.workload,
		Probes: g.Probes, LanczosSteps: g.LanczosSteps, Seed: g.Seed, Independent: g.Confidence == 0,
		Progress: s.progress})
}

// responses computes how the network responds to a single step's noise, for very many steps, and the sketch that this
// comes from, if it is an estimate.
func (s source) responses(ctx context.Context) (factorize.Responses, *workload.Sketch, error) {
	if s.network == nil {
		return func(steps int, _ bool) (factorize.Response, error) {
			return workload.CentralizedResponse(s.workload, steps)
		}, nil, nil
	}
	var whole *workload.Response
	var sketch *workload.Sketch
	var err error
	if s.gram.Method == GramExact.String() {
		whole, err = s.exactResponse()
	} else if sketch, err = s.sketched(ctx); err == nil {
		whole, err = sketch.Response(1)
	}
	if err != nil {
		return nil, nil, err
	}
	rough, err := whole.Reduced()
	return func(steps int, search bool) (factorize.Response, error) {
		if search {
			return rough.For(steps), nil
		}
		return whole.For(steps), nil
	}, sketch, err
}

func (s source) exactResponse() (*workload.Response, error) {
	pi, _ := s.network.Gossip.Stationary()
	whole, ok, err := workload.ExactResponse(s.network.Gossip.Matrix(), pi, s.workload, 1)
	if err == nil && !ok {
		err = fmt.Errorf("an exact response takes a gossip matrix of at most %d nodes in detailed balance",
			workload.MaxSpectralNodes)
	}
	return whole, err
}
