package main

import (
	"fmt"
	"io"
	"math"
	"time"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/internal/cli"
	"mafalda/optim"
	"mafalda/participation"
)

// report writes the summary of optimize for people.
func (j *job) report(w io.Writer, m *export.Manifest) error {
	nodes := 1
	if j.network != nil {
		nodes = j.network.Graph.Nodes()
		fmt.Fprintf(w, "graph          %s\n", j.network.Line())
		fmt.Fprintf(w, "gossip         %s\n", j.network.Origin.GossipLine())
	}
	fmt.Fprintf(w, "workload       %s, T = %d steps\n", m.Workload, m.Steps)
	if !j.objective.isMean() {
		fmt.Fprintf(w, "objective      %v: squared error %s\n", j.objective.kind, j.objective.about)
	}
	fmt.Fprintf(w, "participation  %v\n", j.schema)
	fmt.Fprintf(w, "adjacency      %s\n\n", j.flags.privacy.AdjacencyLine())
	optimum := m.Loss
	if m.Strategy.Ratio != 0 {
		optimum = m.Loss / m.Strategy.Ratio
	}
	row := func(name string, sens, squared, loss float64) []string {
		return []string{name, cli.NumberUp(sens), cli.NumberUp(squared), cli.NumberUp(loss),
			cli.NumberUp(math.Sqrt(loss / (float64(nodes) * float64(j.objective.steps(m.Steps))))), fmt.Sprintf("%.4f", loss/optimum)}
	}
	rows := [][]string{row(j.strategyName(m), m.SensSquared, m.SquaredError, m.Loss)}
	if m.Strategy.Ratio != 0 {
		name := "dense (optimal)"
		if m.PerNode != nil {
			name = "shared (optimal)"
		}
		rows = append(rows, row(name, 1, optimum, optimum))
	}
	for _, name := range []string{"mean-optimal", "d-mf", "dp-d-sgd", "antipgd"} {
		if b, ok := m.Baselines[name]; ok {
			rows = append(rows, row(name, b.SensSquared, b.SquaredError, b.Loss))
		}
	}
	if err := cli.Table(w, []string{"strategy", "sens²", "squared error", "loss", "RMSE", "ratio"}, rows); err != nil {
		return err
	}
	nobody := "no strategy has"
	if m.PerNode != nil {
		nobody = "no strategies, one a node, have"
	}
	if m.Gram != nil && m.Gram.Method != "exact" {
		nobody = "for the estimated Gram matrix " + nobody
	}
	fmt.Fprintln(w)
	if m.LowerBound > 0 {
		fmt.Fprintf(w, "lower bound    %s: %s a smaller loss\n", cli.DecimalDown(m.LowerBound, 10), nobody)
		fmt.Fprintf(w, "               (attackers may know when a record takes part: secret sampling is another matter, and not covered)\n")
	}
	j.reportGap(w, m)
	if p := m.Privacy; p != nil {
		fmt.Fprintf(w, "privacy        %s\n", cli.PrivacyLine(p))
		fmt.Fprintf(w, "noise          standard deviation %s per coordinate of Z (%s/mu), in sums of gradients clipped to %g\n", cli.DecimalUp(p.NoiseStd, 6),
			j.flags.privacy.Contribution(), p.Clip)
	} else {
		fmt.Fprintf(w, "noise          standard deviation %s/mu: give --mu, or --epsilon and --delta, to have it computed\n", j.flags.privacy.Contribution())
	}
	fmt.Fprintf(w, "cost           %s, %s of memory\n", time.Duration(m.Seconds*float64(time.Second)).Round(time.Millisecond), cli.BytesText(float64(m.PeakBytes)))
	if m.Files != nil {
		fmt.Fprintf(w, "written        %s (check it with: mafalda verify %s%s)\n", j.flags.out, j.flags.out, j.networkFiles())
	} else if j.flags.out == "" {
		fmt.Fprintf(w, "written        nothing: use -o FOLDER to export the strategy\n")
	}
	return nil
}

// strategyName says what the first row of the table is.
func (j *job) strategyName(m *export.Manifest) string {
	switch s := m.Strategy; {
	case m.PerNode != nil && m.PerNode.Groups == 0:
		return fmt.Sprintf("mafalda, %d for %d nodes", m.PerNode.Distinct, len(m.PerNode.Layers))
	case m.PerNode != nil:
		return fmt.Sprintf("mafalda, %d groups", m.PerNode.Distinct)
	case s.Buffers > 0:
		return fmt.Sprintf("%s, %d buffers", s.Class, s.Buffers)
	case isDense(s) && !participation.IsPartition(j.schema):
		return "mafalda"
	case !isDense(s):
		return fmt.Sprintf("%s, w = %d", s.Class, s.Bandwidth)
	case m.Status != optim.Converged.String():
		return "mafalda (so far)"
	}
	return "mafalda (optimal)"
}

// reportGap says how far from the optimum the strategy is, and what it costs a node.
func (j *job) reportGap(w io.Writer, m *export.Manifest) {
	s := m.Strategy
	switch {
	case m.LowerBound == 0:
		fmt.Fprintf(w, "lower bound    none for more than %d steps\n", factorize.LongSteps)
	case m.PerNode != nil:
		fmt.Fprintf(w, "gap            %s to one strategy a node; the loss is %.4f of the best shared one's\n", cli.DecimalUp(m.Gap, 2), s.Ratio)
		fmt.Fprintf(w, "group bound    %s: no strategies of these groups of nodes have a smaller loss (gap %s)\n", cli.DecimalDown(m.PerNode.GroupBound, 10),
			cli.DecimalUp((m.Loss-m.PerNode.GroupBound)/m.PerNode.GroupBound, 2))
	case s.Ratio != 0:
		fmt.Fprintf(w, "gap            %s: the loss is %.4f of the dense optimum's\n", cli.DecimalUp(m.Gap, 4), s.Ratio)
	case !participation.IsPartition(j.schema):
		fmt.Fprintf(w, "gap            %s: patterns overlap, and no strategy need reach the bound\n", cli.DecimalUp(m.Gap, 4))
	default:
		fmt.Fprintf(w, "gap            %s certified (tolerance %g), %s after %d iterations\n", cli.DecimalUp(m.Gap, 2), m.Tolerance, m.Status, m.Iterations)
	}
	if s.ClassGap != nil {
		fmt.Fprintf(w, "class bound    %s: no %s strategy with %d bands has a smaller loss (gap %s)\n", cli.DecimalDown(s.ClassBound, 10), s.Class,
			s.Bandwidth, cli.DecimalUp(*s.ClassGap, 2))
	}
	fmt.Fprintf(w, "sensitivity    %s\n", map[string]string{"exact": "exact", "bound": "an upper bound: the true one may be smaller"}[m.SensKind])
	if m.Gram != nil && m.Gram.Method != "exact" {
		fmt.Fprintf(w, "Gram matrix    %s\n", gramText(m.Gram))
	}
	fmt.Fprintf(w, "node           keeps %d numbers and does %d operations a step, for each model parameter\n", s.MemoryFloats, s.FlopsPerStep)
}

// networkFiles returns the flags by which verify and plot are told of the files of the network.
func (j *job) networkFiles() string {
	var flags string
	if j.network != nil && j.network.Origin.SHA256 != "" {
		flags = " --graph " + j.flags.network.Source
	}
	if j.network != nil && j.network.Origin.GossipFile != "" {
		flags += " --gossip-matrix " + j.flags.network.GossipFile
	}
	return flags
}
