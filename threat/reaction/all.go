package reaction

import (
	"context"
	"math"
	"slices"

	"mafalda/internal/fault"
	"mafalda/participation"
)

// Bounds are squared sensitivities of all hidden nodes as victims, by their place in W and H.
type Bounds struct {
	SensSquared []float64 // what holds for every training of the class, never above LocalDP
	LocalDP     []float64 // what holds for every training
	Why         string    // why SensSquared is LocalDP for all, empty if it need not be
}

// All returns how much the attacker of a system learns of every hidden node, by the first stand-in: one set of multipliers
// serves all victims. For one participation near victims have what Bound says, and far ones up to twice as much where
// classes are convex and steps small, ten times where they are large. For more participations it adds up single ones. It is
// good for finding the victims that Bound should look at. The error is a fault.Argument, or the cause of ctx.
func (a *Victims) All(ctx context.Context, schema participation.Schema) (*Bounds, error) {
	if schema == nil || schema.Steps() != len(a.system.Steps) {
		return nil, fault.New("Schema", nil, "is not for %d steps", len(a.system.Steps))
	}
	out := &Bounds{LocalDP: a.local.all(schema, a.system.Nodes)}
	out.SensSquared = slices.Clone(out.LocalDP)
	g, err := a.reactiveSystem(0)
	if err != nil {
		return nil, err
	}
	if out.Why = g.why(); out.Why != "" {
		return out, nil
	}
	single, why, err := g.singles(ctx)
	if err != nil || single == nil {
		out.Why = why
		return out, err
	}
	factor := a.stands[0].Factor * (1 + 1e-15)
	for v := range a.system.Nodes {
		patterns, listed := Victim{Node: v, Schema: schema}.patterns()
		if !listed {
			out.SensSquared[v] = math.Min(out.LocalDP[v], factor*together(single, v, schema))
			continue
		}
		worst := 0.0
		for _, p := range patterns {
			worst = math.Max(worst, math.Min(a.local.pattern(v, p), factor*triangle(single, v, p)))
		}
		out.SensSquared[v] = worst
	}
	return out, nil
}

// LocalDP returns what every training leaks at most of every hidden node, however nodes react.
func (a *Victims) LocalDP(schema participation.Schema) []float64 {
	return a.local.all(schema, a.system.Nodes)
}

// Reaching returns LocalDP if in step t only what the nodes marked in reach[t] do ever reaches an attacker.
func (a *Victims) Reaching(reach [][]float64, schema participation.Schema) []float64 {
	return localDP{share: reach, gram: a.local.gram}.all(schema, a.system.Nodes)
}

// singles returns what one participation in a step costs at most, for all steps and nodes; nil, and why, if nothing is
// proven. Multipliers are made of the runs of all victims at once, e with a column for each, in the scale in which all
// cost as much: of a node the length of its row counts.
func (g *reactiveSystem) singles(ctx context.Context) (single [][]float64, why string, err error) {
	first, err := g.linearly(ctx)
	if err != nil {
		return nil, "", err
	}
	if first == nil {
		return nil, "numbers are too large for a float64", nil
	}
	runs := make([][]float64, len(g.gates))
	weights := make([]float64, g.m*g.m)
	for v, cost := range first.single[0] {
		if cost > 0 {
			weights[v*g.m+v] = 1 / math.Sqrt(cost)
		}
	}
	sigma := g.linear[0].inject.times(weights, g.m)
	for t := 1; t < len(g.gates); t++ {
		if err := context.Cause(ctx); err != nil {
			return nil, "", err
		}
		runs[t] = first.back[t-1].next(sigma, g.m)
		first.releaseStep(t - 1)
		release(sigma)
		sigma = g.linear[t].move.times(runs[t], g.m)
	}
	for _, extra := range extras(g.memory(), usual) {
		tr, doubt, err := g.backward(ctx, 0, proven, false, func(t int, q []float64) (price, string) {
			return g.oppose(t, q, -1, runChooser(runs, g.m, extra))
		})
		switch {
		case err != nil:
			return nil, "", err
		case tr == nil:
			why = doubt
		default:
			single = lesser(single, tr.single)
		}
	}
	return single, why, nil
}

// usual is what multipliers have on top, in κQ_vv, where nothing better is known.
const usual = 0.3

// extras are what multipliers may have on top, in κQ_vv: where nodes keep more than a model the best is not known
// before. The first one is tried first.
func extras(memory bool, first float64) []float64 {
	if !memory {
		return []float64{0}
	}
	out := []float64{first}
	for _, extra := range []float64{usual, 0, 0.03, 0.1, 1, 3} {
		if extra != first {
			out = append(out, extra)
		}
	}
	return out
}
