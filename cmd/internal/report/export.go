package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mafalda/cmd/internal/figures"
	"mafalda/export"
	"mafalda/strategy"
)

// export is the section of an export.
func (s *Section) export(from *Source) error {
	e := from.Export
	m := e.Manifest
	s.Lead = "A strategy: how every node correlates its noise over time. What follows is what its manifest says; " +
		"verification computes it anew."
	if err := e.CheckHashes(); err != nil {
		s.warn("These are not the files that were written: %v. Do not use them.", err)
	}
	s.askExport(m)
	s.certificate(m)
	s.summarizeExport(m)
	s.strategies(m)
	if m.Steps > strategy.LongSteps {
		s.warn("matrices of more than %d steps are not drawn; these are of %d", strategy.LongSteps, m.Steps)
		return nil
	}
	c, err := e.NodeStrategy(0)
	if err != nil {
		return err
	}
	if s.Matrices, err = newMatrices(s.ID, c, m.PerNode != nil); err != nil {
		return err
	}
	labels, err := e.NodeLabels()
	if err != nil {
		return err
	}
	drawn, err := figures.Export(m, c, append(labels, "")[0])
	if err != nil {
		return err
	}
	for _, d := range drawn {
		if err := s.draw(d); err != nil {
			return err
		}
	}
	if e.Shared != nil {
		if s.Map, err = sharedMap(s.ID, e.Shared); err == nil && s.Map == nil {
			s.warn("no map of more than %d nodes; there are %d", mostNodes, len(e.Shared.Labels))
		}
	}
	return err
}

// summarizeExport says what was exported, and its privacy, loss and gap.
func (s *Section) summarizeExport(m *export.Manifest) {
	network := "no network"
	if m.Graph != nil {
		network = fmt.Sprintf("%s (%d nodes)", m.Graph.Source, m.Graph.Nodes)
	}
	p := m.Participation
	s.sum(whatItIs, "a strategy of correlated noise (%s) for %s, T = %d steps, in which a record takes part at most "+
		"k = %d times, b = %d steps apart", classOf(m), network, m.Steps, p.K, p.B)
	switch {
	case m.Privacy == nil:
		s.sum("privacy", "not chosen yet: noise of standard deviation clip/μ gives μ-GDP")
	default:
		s.sum("privacy", "%s", m.Guarantee())
	}
	s.sum("loss", "%s", textUp(m.Loss))
	switch {
	case m.Space != nil:
		s.sum("gap", "%s for this strategy, %s for this sharing", textUp(m.Space.GapSpace), textUp(m.Space.GapTime))
	case m.Binned():
		s.sum("gap", "nothing is certified of the error under random bins")
	case m.LowerBound == 0:
		s.sum("gap", "nothing is certified: there is no lower bound for strategies this long")
	default:
		s.sum("gap", "%s: so much is left to gain, relatively, and no more", textUp(m.Gap))
	}
}

// askExport lists what was asked for.
func (s *Section) askExport(m *export.Manifest) {
	if g := m.Graph; g != nil {
		s.ask("graph", "%s: %d nodes, %d edges", g.Source, g.Nodes, g.Edges)
		if g.DroppedNodes > 0 {
			s.ask("left out", "%d nodes outside the largest component", g.DroppedNodes)
		}
		s.ask("gossip", "%s", g.GossipLine())
	}
	s.ask("workload", "%s, T = %d steps", m.Workload, m.Steps)
	if w := m.WorkloadSpec; w != nil && !w.IsPlain() {
		s.ask("training", "%v", *w)
	}
	if m.Objective != "" {
		s.ask("objective", "%s: %s", m.Objective, objectives(m.Objective))
	}
	p := m.Participation
	s.ask("participation", "%s: a record takes part at most k = %d times, b = %d steps apart", p.Schema, p.K, p.B)
	if m.Sampled() {
		s.ask("batches", "%s", m.Sampling.Condition())
	}
	s.ask("strategy", "%s", classOf(m))
	if m.Privacy != nil {
		s.ask("privacy", "%s", m.Guarantee())
		s.ask("adjacency", "%s", m.Privacy.Adjacency)
		s.ask("noise", "standard deviation %s per coordinate of Z, in sums of gradients clipped to %s",
			textUp(m.Privacy.NoiseStd), plain(m.Privacy.Clip))
	}
	s.ask("at a node", "%d numbers kept and %d operations a step, for each model parameter", m.Strategy.MemoryFloats,
		m.Strategy.FlopsPerStep)
	s.ask("computed in", "%s s, %s MB of memory", textNearest(m.Seconds), textNearest(float64(m.PeakBytes)/1e6))
}

func objectives(name string) string {
	if name == "max" {
		return "the error of the worst step"
	}
	return "the error of the final model"
}

// classOf names the class of the strategy, with its size.
func classOf(m *export.Manifest) string {
	text := m.Strategy.Class
	switch {
	case m.Strategy.Buffers > 0:
		text += fmt.Sprintf(", %d buffers", m.Strategy.Buffers)
	case m.Strategy.Bandwidth > 0:
		text += fmt.Sprintf(", w = %d", m.Strategy.Bandwidth)
	}
	if m.PerNode != nil {
		text += fmt.Sprintf(", %d strategies for %d nodes", m.PerNode.Distinct, len(m.PerNode.Layers))
	}
	return text
}

// strategies is the table that compares with the baselines.
func (s *Section) strategies(m *export.Manifest) {
	t := Table{Caption: "Strategies at equal privacy: the loss is sens² times the squared error",
		Header: []string{"strategy", "sens²", "squared error", "loss", "ratio"}, Words: 1}
	if m.ErrorAtPrivacy > 0 {
		t.Header = append(t.Header, "error at privacy")
	}
	optimum := m.Loss
	if m.Strategy.Ratio > 0 {
		optimum = m.Loss / m.Strategy.Ratio
	}
	row := func(name string, b export.Baseline) {
		line := []string{name, textUp(b.SensSquared), textUp(b.SquaredError), textUp(b.Loss), fmt.Sprintf("%.4f", b.Loss/optimum)}
		if m.ErrorAtPrivacy > 0 {
			line = append(line, textUp(b.ErrorAtPrivacy))
		}
		t.Rows = append(t.Rows, line)
	}
	row("mafalda: "+m.Strategy.Class, export.Baseline{SensSquared: m.SensSquared, SquaredError: m.SquaredError,
		Loss: m.Loss, ErrorAtPrivacy: m.ErrorAtPrivacy})
	byLoss := slices.SortedFunc(maps.Keys(m.Baselines), func(a, b string) int {
		if x, y := m.Baselines[a].Loss, m.Baselines[b].Loss; x != y {
			return int(min(1, max(-1, x-y)*2))
		}
		return strings.Compare(a, b)
	})
	for _, name := range byLoss {
		row(name, m.Baselines[name])
	}
	s.Tables = append(s.Tables, t)
}
