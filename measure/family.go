package measure

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/internal/lists"
	"mafalda/internal/rounding"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/workload"
)

// Members returns the sources of the problems one of which will come about, unknown which: of several networks or, with one,
// of every second derivative of the curvature alone.
func (s Source) Members() []Source {
	if len(s.Others) == 0 {
		return lists.Map(s.Curvature, func(d workload.Direction) Source {
			one := s
			one.Curvature = workload.Curvature{{X: d.X, Weight: 1}}
			return one
		})
	}
	return lists.Map(append([]*graph.Network{s.Network}, s.Others...), func(n *graph.Network) Source {
		one := s
		one.Network, one.Others = n, nil
		return one
	})
}

// mixtureKernel computes the kernel of Σ Mixture_i H_i.
func (s Source) mixtureKernel(ctx context.Context, steps int) (*workload.Kernel, error) {
	sum := mat.NewSymDense(steps, nil)
	for i, one := range s.Members() {
		k, _, err := one.Kernel(ctx, steps)
		if err != nil {
			return nil, err
		}
		var part mat.SymDense
		part.ScaleSym(s.Mixture[i], k.Gram())
		sum.AddSym(sum, &part)
	}
	return workload.KernelOf(sum), nil
}

// Family computes the Gram matrices of all members and, for each of them, the loss of the best strategy of a class that is
// found, and what none has less than, to a gap.
func (s Source) Family(ctx context.Context, class factorize.Class, schema participation.Schema, gap float64) (f factorize.Family, reached []float64, err error) {
	for i, one := range s.Members() {
		one.Known = s.Known
		k, _, err := one.Kernel(ctx, schema.Steps())
		if err != nil {
			return f, nil, err
		}
		if len(s.Others) == 0 {
			s.Known = k
		}
		h := k.Gram()
		best, err := class.Optimize(ctx, factorize.Mean(h), schema, factorize.Options{Gap: gap})
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return f, nil, fmt.Errorf("optimizing for member %d of the family: %w", i+1, err)
		}
		f.Grams, f.Optima, reached = append(f.Grams, h), append(f.Optima, best.Bound()), append(reached, best.Loss)
	}
	return f, reached, nil
}

// DescribeFamily returns the ratios of a strategy to the optima of a family and, for a bound on its loss for the mixture with
// these weights, what follows for the largest ratio to reached losses: max_i loss_i/o_i ≥ Σ w_i loss_i / Σ w_i o_i.
func DescribeFamily(c strategy.Strategy, schema participation.Schema, f factorize.Family, weights, reached []float64, bound float64) (*export.Family, error) {
	d := &export.Family{Bound: bound / (floats.Dot(weights, reached) * (1 + 0x1p-40))}
	for i, h := range f.Grams {
		q, err := factorize.Evaluate(c, factorize.Mean(h), schema)
		if err != nil {
			return nil, err
		}
		d.Ratios = append(d.Ratios, rounding.DivUp(q.Loss, f.Optima[i]))
	}
	return d, nil
}
