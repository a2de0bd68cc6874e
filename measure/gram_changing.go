package measure

import (
	"fmt"
	"math"

	"mafalda/export"
	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/workload"
)

const (
	changingOperations = 1e12 // beyond which GramAuto does not take the exact way: a quarter of an hour
	sampledOperations  = 3e11 // of all runs, about, by default
	fewestRuns         = 8    // by default
	mostRuns           = 400  // by default
)

// chooseChanging is Choose for networks that change, and for feedback that is missed with steps.
func (g Gram) chooseChanging(n *graph.Network, d Demand) (*export.Gram, error) {
	w, steps, exactOnly := n.Gossip.Matrix(), d.Steps, d.ExactOnly
	impossible := d.Curvature.Exact(d.Workload, w)
	exact := impossible == nil
	switch {
	case g.Method == GramLanczos:
		return nil, fault.New("Method", nil, "[Method] lanczos is for networks that stay: use [Method] sampled")
	case !exact && (g.Method == GramExact || exactOnly != ""):
		if exactOnly != "" {
			impossible = fmt.Errorf("%s: %w", exactOnly, impossible)
		}
		return nil, fault.Because("Method", impossible)
	case exactOnly != "" && g.Method == GramSampled:
		return nil, fault.New("Method", g.Method, "%s", exactOnly)
	case g.Method == GramExact || exactOnly != "",
		g.Method == GramAuto && exact && ChangingCost(d.Workload, d.Curvature, w, steps) <= changingOperations:
		return &export.Gram{Method: GramExact.String()}, nil
	}
	if err := g.checkEstimate(); err != nil {
		return nil, err
	}
	return g.fillRuns(RunCost(w, steps)), nil
}

// fillRuns fills in the number of runs, by the cost of one: from 8 to 400.
func (g Gram) fillRuns(cost float64) *export.Gram {
	e := &export.Gram{Method: GramSampled.String(), Probes: g.Probes, Seed: g.Seed, Confidence: workload.Confidence}
	if e.Probes == 0 {
		e.Probes = int(math.Max(fewestRuns, math.Min(mostRuns, sampledOperations/cost)))
	}
	return e
}

// RunCost is about how many operations a run of a network that changes takes.
func RunCost(w *graph.CSR, steps int) float64 {
	n, _ := w.Dims()
	t := float64(steps)
	return t*t*float64(w.NNZ()) + t*t*t*float64(n)/3
}

// ChangingCost is about how many operations the exact way takes for a network that changes, or steps without feedback.
func ChangingCost(s workload.Spec, c workload.Curvature, w *graph.CSR, steps int) float64 {
	n, _ := w.Dims()
	t, nodes, edges, directions := float64(steps), float64(n), float64(w.NNZ()), float64(max(1, len(c)))
	if s.RandomNeighbours > 0 {
		return directions * t * t
	}
	cost, laws := t*t*nodes*edges/2, 1
	if s.GraphSequence != nil {
		laws = s.GraphSequence.Networks
	}
	if s.GraphSequence != nil || s.IsStatic() {
		cost = math.Min(cost, t*float64(laws)*nodes*edges+t*t*nodes*nodes/2)
	}
	if s.NodeFailures > 0 || s.LinkFailures > 0 { // pairs of nodes with common neighbours
		cost += t * nodes * nodes * 50
	}
	return directions * cost
}

// ChangingNeeds is about how many numbers the way to the Gram matrix of a network that changes keeps.
func ChangingNeeds(g *export.Gram, s workload.Spec, w *graph.CSR, steps int) float64 {
	n, _ := w.Dims()
	t, nodes := float64(steps), float64(n)
	switch {
	case g.Method == GramSampled.String():
		return 6*nodes*t + 5e7 + float64(g.Probes)*t*t
	case s.RandomNeighbours > 0:
		return 100 * t
	case s.GradientTracking:
		return 14 * nodes * nodes
	}
	return 8*nodes*nodes + 40*float64(w.NNZ())
}
