package main

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/internal/figures"
	"mafalda/strategy"
	"mafalda/workload"
)

// errorsFigure shows the error of every step, for unit noise and sens = 1, as root mean square over the nodes.
func errorsFigure(ctx context.Context, v *verification, n *graph.Network, c strategy.Strategy) (*figures.Figure, error) {
	k, err := v.kernel(ctx, n)
	if err != nil {
		return nil, err
	}
	dmf, err := factorize.Dense{}.Optimize(ctx, factorize.Mean(workload.PrefixGram(k.Steps())), v.schema, factorize.Options{})
	if err != nil {
		return nil, err
	}
	own, name := []float64(nil), "this strategy"
	if v.export.Manifest.PerNode == nil {
		own, err = scaledErrors(c, k, v)
	} else {
		name = "these strategies"
		own, err = layerErrors(ctx, v, n)
	}
	if err != nil {
		return nil, fmt.Errorf("errors of %s: %w", name, err)
	}
	all := []stepCurve{{name, own}}
	for _, x := range []struct {
		name     string
		strategy strategy.Strategy
	}{{"D-MF", dmf.Strategy}, {"DP-D-SGD", strategy.Identity(k.Steps())}} {
		e, err := scaledErrors(x.strategy, k, v)
		if err != nil {
			return nil, fmt.Errorf("errors of %s: %w", x.name, err)
		}
		all = append(all, stepCurve{x.name, e})
	}
	var curves []figures.Curve
	for _, c := range all {
		curves = append(curves, c.curve(n.Graph.Nodes()))
	}
	return figures.Lines(figures.Axes{Title: "Error of the models after every step, sens = 1 and unit noise", X: "step",
		Y: "root mean square over the nodes", LogY: true}, curves)
}

// stepCurve has the squared error of every step, summed over the nodes.
type stepCurve struct {
	name   string
	errors []float64
}

// curve takes the root of the mean over the nodes.
func (c stepCurve) curve(nodes int) figures.Curve {
	out := figures.Curve{Name: c.name}
	for t, e := range c.errors {
		out.X, out.Y = append(out.X, float64(t)), append(out.Y, math.Sqrt(e/float64(nodes)))
	}
	return out
}

// scaledErrors returns sens² times the squared error of every step of a strategy that all nodes run.
func scaledErrors(c strategy.Strategy, k *workload.Kernel, v *verification) ([]float64, error) {
	sens, errors, err := factorize.EvaluateSteps(c, k, v.schema)
	for t := range errors {
		errors[t] *= sens.Squared
	}
	return errors, err
}

// layerErrors is scaledErrors where every node runs its own layer.
func layerErrors(ctx context.Context, v *verification, n *graph.Network) ([]float64, error) {
	m := v.export.Manifest
	if n.Graph.Nodes() != len(m.PerNode.Layers) {
		return nil, fmt.Errorf("the manifest gives strategies to %d nodes, the network has %d", len(m.PerNode.Layers),
			n.Graph.Nodes())
	}
	kind, err := workload.ParseKind(m.Workload)
	if err != nil {
		return nil, err
	}
	sums := make([]*mat.SymDense, len(v.export.Layers))
	err = workload.NodeGrams(ctx, n.Gossip.Matrix(), m.Steps, workload.Options{Kind: kind}, func(i int,
		h *mat.SymDense) error {
		layer := m.PerNode.Layers[i]
		if sums[layer] == nil {
			sums[layer] = mat.NewSymDense(m.Steps, nil)
		}
		sums[layer].AddSym(sums[layer], h)
		return nil
	})
	if err != nil {
		return nil, err
	}
	total := make([]float64, m.Steps)
	for layer, h := range sums {
		if h == nil {
			continue
		}
		c, err := strategy.NewDense(v.export.Layers[layer].C)
		if err != nil {
			return nil, fmt.Errorf("layer %d: %w", layer, err)
		}
		errors, err := scaledErrors(c, workload.KernelOf(h), v)
		if err != nil {
			return nil, fmt.Errorf("layer %d: %w", layer, err)
		}
		for t, e := range errors {
			total[t] += e
		}
	}
	return total, nil
}
