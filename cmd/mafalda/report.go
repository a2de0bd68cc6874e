package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/tw"

	"mafalda/accounting"
	"mafalda/export"
	"mafalda/factorize"
	"mafalda/optim"
	"mafalda/participation"
)

// report writes the summary of optimize for people.
func (j *job) report(w io.Writer, m *export.Manifest) error {
	nodes := 1
	if j.network != nil {
		nodes = j.network.graph.Nodes()
		fmt.Fprintf(w, "graph          %s\n", j.network.line())
		fmt.Fprintf(w, "gossip         %s\n", gossipLine(&j.network.origin))
	}
	fmt.Fprintf(w, "workload       %s, T = %d steps\n", m.Workload, m.Steps)
	if !j.objective.isMean() {
		fmt.Fprintf(w, "objective      %s: squared error %s\n", j.objective.name, j.objective.about)
	}
	fmt.Fprintf(w, "participation  %v\n", j.schema)
	fmt.Fprintf(w, "adjacency      %s\n\n", j.flags.privacy.adjacencyLine())
	optimum := m.Loss
	if m.Strategy.Ratio != 0 {
		optimum = m.Loss / m.Strategy.Ratio
	}
	row := func(name string, sens, squared, loss float64) []string {
		return []string{name, number(sens), number(squared), number(loss),
			number(math.Sqrt(loss / (float64(nodes) * float64(j.objective.steps(m.Steps))))), fmt.Sprintf("%.4f", loss/optimum)}
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
	if err := table(w, []string{"strategy", "sens²", "squared error", "loss", "RMSE", "ratio"}, rows); err != nil {
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
		fmt.Fprintf(w, "lower bound    %.10g: %s a smaller loss\n", m.LowerBound, nobody)
	}
	j.reportGap(w, m)
	if p := m.Privacy; p != nil {
		fmt.Fprintf(w, "privacy        %s\n", privacyLine(p))
		fmt.Fprintf(w, "noise          standard deviation %.6g per coordinate of Z, in sums of gradients clipped to %g\n", p.NoiseStd, p.Clip)
	} else {
		fmt.Fprintf(w, "noise          standard deviation clip/mu: give --mu, or --epsilon and --delta, to have it computed\n")
	}
	fmt.Fprintf(w, "cost           %s, %s of memory\n", time.Duration(m.Seconds*float64(time.Second)).Round(time.Millisecond), bytesText(float64(m.PeakBytes)))
	if m.Files != nil {
		fmt.Fprintf(w, "written        %s (check it with: mafalda verify %s)\n", j.flags.out, j.flags.out)
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
	case s.Class == "blt":
		return fmt.Sprintf("blt, %d buffers", s.Buffers)
	case s.Class == "dense" && !participation.IsPartition(j.schema):
		return "mafalda"
	case s.Class != "dense":
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
		fmt.Fprintf(w, "gap            %.2g to one strategy a node; the loss is %.4f of the best shared one's\n", m.Gap, s.Ratio)
		fmt.Fprintf(w, "group bound    %.10g: no strategies of these groups of nodes have a smaller loss (gap %.2g)\n", m.PerNode.GroupBound,
			(m.Loss-m.PerNode.GroupBound)/m.PerNode.GroupBound)
	case s.Ratio != 0:
		fmt.Fprintf(w, "gap            %.4g: the loss is %.4f of the dense optimum's\n", m.Gap, s.Ratio)
	case !participation.IsPartition(j.schema):
		fmt.Fprintf(w, "gap            %.4g: patterns overlap, and no strategy need reach the bound\n", m.Gap)
	default:
		fmt.Fprintf(w, "gap            %.2g certified (tolerance %.2g), %s after %d iterations\n", m.Gap, m.Tolerance, m.Status, m.Iterations)
	}
	if s.ClassGap != nil {
		fmt.Fprintf(w, "class bound    %.10g: no %s strategy with %d bands has a smaller loss (gap %.2g)\n", s.ClassBound, s.Class, s.Bandwidth, *s.ClassGap)
	}
	fmt.Fprintf(w, "sensitivity    %s\n", map[string]string{"exact": "exact", "bound": "an upper bound: the true one may be smaller"}[m.SensKind])
	if m.Gram != nil && m.Gram.Method != "exact" {
		fmt.Fprintf(w, "Gram matrix    %s\n", gramText(m.Gram))
	}
	fmt.Fprintf(w, "node           keeps %d numbers and does %d operations a step, for each model parameter\n", s.MemoryFloats, s.FlopsPerStep)
}

func gossipLine(g *export.Graph) string {
	if g.GossipFile != "" {
		return g.GossipFile
	}
	return g.Gossip
}

func (f *privacyFlags) adjacencyLine() string {
	a, err := accounting.ParseAdjacency(f.adjacency)
	if err != nil {
		return err.Error()
	}
	factor := "clip"
	if a == accounting.ReplaceOne {
		factor = "2·clip"
	}
	return fmt.Sprintf("%v: one record moves a sum of gradients by at most %s", a, factor)
}

func privacyLine(p *export.Privacy) string {
	s := fmt.Sprintf("mu = %.6g", p.Mu)
	if p.Epsilon != nil {
		s += fmt.Sprintf(", that is (%.6g, %g)-DP", *p.Epsilon, *p.Delta)
	}
	return s + " against everybody who sees all messages (local DP)"
}

// number prints up to eight significant digits, without an exponent where that is short.
func number(v float64) string {
	if a := math.Abs(v); a >= 1e9 || (a < 1e-3 && a > 0) {
		return fmt.Sprintf("%.6e", v)
	}
	s := fmt.Sprintf("%.*f", max(0, 6-int(math.Floor(math.Log10(math.Max(math.Abs(v), 1))))), v)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// table renders rows with the first column left-aligned and the others, which hold numbers, to the right.
func table(w io.Writer, header []string, rows [][]string) error {
	return renderTable(w, header, rows, tw.AlignRight)
}

// textTable renders rows of words.
func textTable(w io.Writer, header []string, rows [][]string) error {
	return renderTable(w, header, rows, tw.AlignLeft)
}

func renderTable(w io.Writer, header []string, rows [][]string, others tw.Align) error {
	align := make([]tw.Align, len(header))
	for i := range align {
		align[i] = others
	}
	align[0] = tw.AlignLeft
	t := tablewriter.NewTable(w, tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAlignmentConfig(tw.CellAlignment{PerColumn: align}),
		tablewriter.WithRowAlignmentConfig(tw.CellAlignment{PerColumn: align}),
		tablewriter.WithSymbols(tw.NewSymbols(tw.StyleLight)))
	t.Header(header)
	for _, r := range rows {
		if err := t.Append(r); err != nil {
			return err
		}
	}
	return t.Render()
}
