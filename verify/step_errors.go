package verify

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/floats"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/factorize/baselines"
	"mafalda/graph"
	"mafalda/strategy"
	"mafalda/workload"
)

// MethodErrors has the errors of a method step by step.
type MethodErrors struct {
	Method  string    // a baseline, d-mf or dp-d-sgd; mafalda: what was exported
	Squared []float64 // errors of the steps: sens² times the squared error for unit noise, summed over the nodes
}

// ErrNoSteps is returned by StepErrors for workloads on networks that change: only the sum over the steps is known.
var ErrNoSteps = errors.New("the errors of single steps are not known of networks that change")

// StepErrors returns the errors of every step on the network, as of NetworkOf, times the step's weight: for the
// strategies of an export, each at its nodes, and for the baselines D-MF and DP-D-SGD, unless batches are drawn in
// secret. It fails with ErrNoSteps, and if the computation does.
func StepErrors(ctx context.Context, e *export.Export, n *graph.Network) ([]MethodErrors, error) {
	v, err := newVerification(e, n)
	if err != nil {
		return nil, err
	}
	if !v.spec.IsStatic() {
		return nil, ErrNoSteps
	}
	if err := v.checkSketch(n); err != nil {
		return nil, err
	}
	k, err := v.gramKernel(ctx, n)
	if err != nil {
		return nil, err
	}
	own, err := v.ownErrors(ctx, k)
	if err != nil {
		return nil, fmt.Errorf("errors of the export: %w", err)
	}
	all := []MethodErrors{{"mafalda", own}}
	if e.Manifest.Sampled() { // others take other noise for the same privacy
		return all, nil
	}
	for _, name := range []string{baselines.DMF, baselines.DPDSGD} {
		if name == baselines.DMF && !baselines.HasDMF(v.spec, k.Steps()) {
			continue
		}
		c, err := baselines.NewFor(ctx, name, v.spec, v.schema)
		if err != nil {
			return nil, err
		}
		squared, err := v.scaledErrors(c, k)
		if err != nil {
			return nil, fmt.Errorf("errors of %s: %w", name, err)
		}
		all = append(all, MethodErrors{name, squared})
	}
	return all, nil
}

// ownErrors returns the errors of the exported strategies, given the kernel of all nodes.
func (v *verification) ownErrors(ctx context.Context, k *workload.Kernel) ([]float64, error) {
	if v.export.Manifest.PerNode != nil {
		return v.layerErrors(ctx)
	}
	c, err := v.export.NodeStrategy(0)
	if err != nil {
		return nil, err
	}
	if shared := v.export.Shared; shared != nil {
		if v.given == nil || v.given.Graph.Nodes() != len(shared.Own) {
			return nil, errors.New("noise that nodes share needs their network")
		}
		w, err := workload.NewSpaceTime(v.given.Gossip.Matrix(), v.export.Manifest.Steps, v.options())
		if err != nil {
			return nil, err
		}
		of, err := w.TimeKernel(ctx, shared.Covariance())
		if err != nil {
			return nil, err
		}
		return v.scaledErrors(c, of)
	}
	return v.scaledErrors(c, k)
}

// scaledErrors returns sens² times the squared error of every step of a strategy that all nodes run.
func (v *verification) scaledErrors(c strategy.Strategy, k factorize.StepErrors) ([]float64, error) {
	sens, squared, err := factorize.EvaluateSteps(c, k, v.schema)
	for t := range squared {
		squared[t] *= sens.Squared
	}
	return squared, err
}

// layerErrors is scaledErrors where every node runs its own layer.
func (v *verification) layerErrors(ctx context.Context) ([]float64, error) {
	m := v.export.Manifest
	nodes, err := v.export.NodeStrategies()
	if err != nil {
		return nil, err
	}
	if v.given == nil || v.given.Graph.Nodes() != len(nodes) {
		return nil, fmt.Errorf("strategies of %d single nodes need their network", len(nodes))
	}
	total := make([]float64, m.Steps)
	err = workload.NodeKernels(ctx, v.given.Gossip.Matrix(), m.Steps, v.options(),
		func(i int, k *workload.Kernel) error {
			squared, err := v.scaledErrors(nodes[i], k)
			if err != nil {
				return fmt.Errorf("node %d: %w", i, err)
			}
			if weights := v.weights(); weights != nil {
				floats.Scale(weights[i], squared)
			}
			floats.Add(total, squared)
			return nil
		})
	return total, err
}
