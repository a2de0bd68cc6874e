package measure

import (
	"context"
	"errors"
	"fmt"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/participation"
	"mafalda/workload"
)

// Source is what errors on a network depend on, and how it is computed.
type Source struct {
	Gram    *export.Gram
	Network *graph.Network // nil for the prefix workload
	// Others are more networks: it is unknown whether Network or one of them will be used. Mixture is how much the
	// Gram matrix of each counts, Network first.
	Others   []*graph.Network
	Mixture  []float64
	Workload workload.Spec
	// Curvature is how gradients react to errors; nil: they do not.
	Curvature workload.Curvature
	Progress  func(done, total int) // may be nil
	Sketch    *workload.Sketch      // sketch of the network, where there is one already
	Known     *workload.Kernel      // kernel of another workload on the network, or nil
	// Weights are of the nodes: how much the noise of each counts, for the exact method; nil: all alike.
	Weights []float64
}

// Kernel computes what the errors of a number of steps depend on, and what it comes from, if it is an estimate.
func (s Source) Kernel(ctx context.Context, steps int) (*workload.Kernel, workload.Estimate, error) {
	var w *graph.CSR
	if s.Network != nil {
		w = s.Network.Gossip.Matrix()
	}
	if len(s.Others) > 0 {
		k, err := s.mixtureKernel(ctx, steps)
		return k, nil, err
	}
	if s.Known != nil {
		if k := s.Known.Under(s.Workload, s.Curvature); k != nil {
			return k, nil, nil
		}
	}
	if s.Weights != nil {
		k, err := s.weightedKernel(ctx, w, steps)
		return k, nil, err
	}
	if s.Gram == nil || s.Gram.Method == GramExact.String() || s.Network == nil {
		k, err := workload.NewKernel(ctx, w, steps, s.Options(s.Progress))
		return k, nil, err
	}
	var of workload.Estimate
	var err error
	if s.Gram.Method == GramSampled.String() {
		of, err = workload.NewSampled(ctx, w, steps, s.Options(s.Progress))
	} else {
		of, err = s.networkSketch(ctx)
	}
	if err != nil {
		return nil, nil, err
	}
	return of.Kernel(steps), of, nil
}

// Options returns what package workload computes Gram matrices by.
func (s Source) Options(progress func(done, total int)) workload.Options {
	o := workload.Options{Spec: s.Workload, Curvature: s.Curvature, Progress: progress}
	if s.Gram != nil {
		o.Probes, o.LanczosSteps, o.Seed = s.Gram.Probes, s.Gram.LanczosSteps, s.Gram.Seed
	}
	return o
}

// weightedKernel computes the kernel of Σ Weights_i H_i: what noise makes whose variance differs from node to node.
func (s Source) weightedKernel(ctx context.Context, w *graph.CSR, steps int) (*workload.Kernel, error) {
	of, err := workload.NewSpaceTime(w, steps, s.Options(nil))
	if err != nil {
		return nil, err
	}
	if len(s.Weights) != of.Nodes() {
		return nil, fmt.Errorf("%d weights for %d nodes", len(s.Weights), of.Nodes())
	}
	return of.VarianceKernel(ctx, s.Weights)
}

// networkSketch returns the sketch of the network for the workload.
func (s Source) networkSketch(ctx context.Context) (*workload.Sketch, error) {
	if s.Sketch != nil {
		return s.Sketch.Under(s.Workload, s.Curvature), nil
	}
	if s.Gram.Method != GramLanczos.String() {
		return nil, fmt.Errorf("unknown way to a Gram matrix %q", s.Gram.Method)
	}
	pi, reversible := s.Network.Gossip.Stationary()
	if !reversible {
		return nil, workload.ErrReversible
	}
	return workload.NewSketch(ctx, s.Network.Gossip.Matrix(), pi, s.Options(s.Progress))
}

// Responses computes how the network responds to a single step's noise, for very many steps, and the sketch that this
// comes from, if it is an estimate.
func (s Source) Responses(ctx context.Context) (factorize.Responses, *workload.Sketch, error) {
	if s.Network == nil {
		return func(steps int, _ bool) (factorize.Response, error) {
			return workload.CentralizedResponse(s.Workload, s.Curvature, steps)
		}, nil, nil
	}
	var whole *workload.Response
	var sketch *workload.Sketch
	var err error
	if s.Gram.Method == GramExact.String() {
		var ok bool
		pi, _ := s.Network.Gossip.Stationary()
		whole, ok, err = workload.ExactResponse(s.Network.Gossip.Matrix(), pi, s.Workload, s.Curvature, 1)
		if err == nil && !ok {
			err = fmt.Errorf("an exact response takes a gossip matrix of at most %d nodes in detailed balance",
				workload.MaxSpectralNodes)
		}
	} else if sketch, err = s.networkSketch(ctx); err == nil {
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

// LongBound returns a number that no strategy's loss is below, for the responses of Responses, with 0 where none is
// known: the errors of some steps count more than others, there are too many periods, or an estimate is indefinite.
func LongBound(ctx context.Context, of factorize.Responses, schema participation.Cyclic) (float64, error) {
	response, err := of(schema.Steps(), false)
	if err != nil {
		return 0, err
	}
	network, ok := response.(*workload.Response)
	if !ok {
		return 0, fmt.Errorf("a lower bound from a %T", response)
	}
	impulses, err := network.Impulses()
	if err == nil {
		var bound float64
		if bound, err = factorize.LongBound(ctx, impulses, schema); err == nil {
			return bound, nil
		}
	}
	if errors.Is(err, workload.ErrWeighted) || errors.Is(err, workload.ErrIndefinite) ||
		errors.Is(err, factorize.ErrTooManyPeriods) {
		return 0, nil
	}
	return 0, err
}
