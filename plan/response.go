package plan

import (
	"context"
	"fmt"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/workload"
)

// ResponsesBy returns how a network (nil: of the prefix workload) responds, and the sketch that this comes from, if any.
func ResponsesBy(ctx context.Context, g *export.Gram, n *graph.Network, kind workload.Kind, progress func(done, total int)) (factorize.Responses, *workload.Sketch, error) {
	if n == nil {
		return func(steps int, _ bool) (factorize.Response, error) { return workload.PrefixResponse(steps), nil }, nil, nil
	}
	if g.Method == "exact" {
		pi, _ := n.Gossip.Stationary()
		whole, ok, err := workload.ExactResponse(n.Gossip.Matrix(), pi, kind, 1)
		if err != nil {
			return nil, nil, err
		}
		if !ok {
			return nil, nil, fmt.Errorf("an exact response takes a gossip matrix of at most %d nodes in detailed balance",
				workload.MaxSpectralNodes)
		}
		rough, err := whole.Reduced()
		return responsesOf(whole, rough), nil, err
	}
	s, err := sketchBy(ctx, g, n, kind, progress)
	if err != nil {
		return nil, nil, err
	}
	whole, err := s.Response(1)
	if err != nil {
		return nil, nil, err
	}
	rough, err := whole.Reduced()
	return responsesOf(whole, rough), s, err
}

func responsesOf(whole, rough *workload.Response) factorize.Responses {
	return func(steps int, search bool) (factorize.Response, error) {
		if search {
			return rough.For(steps), nil
		}
		return whole.For(steps), nil
	}
}
