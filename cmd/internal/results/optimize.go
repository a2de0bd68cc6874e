package results

import (
	"fmt"
	"io"
	"math"
	"time"

	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/terminal"
	"mafalda/export"
	"mafalda/factorize"
	"mafalda/factorize/baselines"
	"mafalda/optim"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/strategy"
)

// Summary is what optimize prints of a solution for people.
type Summary struct {
	io.Writer
	Solution *plan.Solution
	Manifest *export.Manifest // of the solution
	Privacy  *flags.PrivacyFlags

	Out          string // where it was exported to
	NetworkFiles string // flags that tell verify of the files of the network, each with a space before it
}

func (r *Summary) line(format string, args ...any) { fmt.Fprintf(r, format+"\n", args...) }

// Print writes all of it.
func (r *Summary) Print() error {
	p, m := r.Solution.Problem, r.Manifest
	if n := p.Network; n != nil {
		r.line("graph          %s", n.Line())
		r.line("gossip         %s", n.Origin.GossipLine())
	}
	r.line("workload       %s, T = %d steps", m.Workload, m.Steps)
	for _, text := range flags.WorkloadLines(p.Workload) {
		r.line("%s", text)
	}
	if p.Objective != plan.Mean {
		r.line("objective      %v: squared error %s", p.Objective, p.Objective.About())
	}
	r.line("participation  %v", p.Schema)
	if m.Space != nil {
		r.sharing()
	}
	if m.Sampled() {
		r.sampling()
	}
	r.line("adjacency      %s\n", r.Privacy.AdjacencyLine())
	if err := r.strategies(); err != nil {
		return err
	}
	r.noise()
	r.line("cost           %s, %s of memory", time.Duration(m.Seconds*float64(time.Second)).Round(time.Millisecond),
		terminal.BytesText(float64(m.PeakBytes)))
	if out := r.Out; m.Files != nil {
		r.line("written        %s (check it with: mafalda verify %s%s)", out, terminal.Shown(out), r.NetworkFiles)
		if m.TooLargeForGossip() {
			r.line("               without W, which has more than %d entries: 'mafalda graph SPEC -o DIR' writes it",
				export.MaxGossipEntries)
		}
	} else if out == "" {
		r.line("written        nothing: use -o FOLDER to export the strategy")
	}
	return nil
}

// strategies compares strategies, and says how good the best one is.
func (r *Summary) strategies() error {
	if r.Manifest.Space != nil {
		return r.spaceAndTime()
	}
	table, bound := r.table, r.bound
	if r.Manifest.Sampled() {
		table, bound = r.bands, r.compared
	}
	if err := table(); err != nil {
		return err
	}
	if loss := r.Manifest.PlainStrategyLoss; loss > 0 {
		r.line("\nplain strategy %s: that for plain training would have %.4g times this loss", terminal.DecimalUp(loss, 8),
			loss/r.Manifest.Loss)
	}
	r.line("")
	bound()
	r.gap()
	r.inTurn()
	return nil
}

// table compares the strategy with the optimum and the baselines.
func (r *Summary) table() error {
	p, m, nodes := r.Solution.Problem, r.Manifest, 1
	if p.Network != nil {
		nodes = p.Network.Graph.Nodes()
	}
	optimum := m.Loss
	if m.Strategy.Ratio != 0 {
		optimum = m.Loss / m.Strategy.Ratio
	}
	header := []string{"strategy", "sens²", "squared error", "loss", "RMSE", "ratio"}
	if m.ErrorAtPrivacy > 0 {
		header = append(header, "error at privacy")
	}
	row := func(name string, sens, squared, loss float64) []string {
		rmse := math.Sqrt(loss / (float64(nodes) * p.Objective.Steps(p.Workload, m.Steps)))
		line := []string{name, terminal.NumberUp(sens), terminal.NumberUp(squared), terminal.NumberUp(loss), terminal.NumberUp(rmse),
			fmt.Sprintf("%.4f", loss/optimum)}
		if m.ErrorAtPrivacy > 0 {
			line = append(line, terminal.NumberUp(m.ErrorAtPrivacy/m.Loss*loss))
		}
		return line
	}
	rows := [][]string{row(r.name(), m.SensSquared, m.SquaredError, m.Loss)}
	if m.Strategy.Ratio != 0 {
		name := "dense (optimal)"
		if m.PerNode != nil {
			name = "shared (optimal)"
		}
		rows = append(rows, row(name, 1, optimum, optimum))
	}
	for _, name := range []string{plan.MeanOptimal, baselines.DMF, baselines.DPDSGD, baselines.AntiPGD} {
		if b, ok := m.Baselines[name]; ok {
			rows = append(rows, row(name, b.SensSquared, b.SquaredError, b.Loss))
		}
	}
	return terminal.Table(r.Writer, header, rows)
}

// name says what the first row of the table is.
func (r *Summary) name() string {
	m := r.Manifest
	switch s := m.Strategy; {
	case m.PerNode != nil && m.PerNode.Groups == 0:
		return fmt.Sprintf("mafalda, %d for %d nodes", m.PerNode.Distinct, len(m.PerNode.Layers))
	case m.PerNode != nil:
		return fmt.Sprintf("mafalda, %d groups", m.PerNode.Distinct)
	case s.Buffers > 0:
		return fmt.Sprintf("%s, %d buffers", s.Class, s.Buffers)
	case s.Class != factorize.Dense{}.Name():
		return fmt.Sprintf("%s, w = %d", s.Class, s.Bandwidth)
	case !participation.IsPartition(r.Solution.Problem.Schema):
		return "mafalda"
	case m.Status != optim.Converged.String():
		return "mafalda (so far)"
	}
	return "mafalda (optimal)"
}

// bound says what no strategy can do better than.
func (r *Summary) bound() {
	m, nobody := r.Manifest, "no strategy has"
	if m.LowerBound == 0 {
		r.line("lower bound    none for more than %d steps", strategy.LongSteps)
		return
	}
	if m.PerNode != nil {
		nobody = "no strategies, one a node, have"
	}
	if m.Gram.Method != plan.GramExact.String() {
		nobody = "for the estimated Gram matrix " + nobody
	}
	r.line("lower bound    %s: %s a smaller loss", terminal.GroupedWords(terminal.DecimalDown(m.LowerBound, 10)), nobody)
	r.line("               where attackers may know when a record takes part (batches in secret: --sampling)")
	if ratio := r.Solution.DPDSGDRatio; ratio > 0 && ratio < 1 {
		r.line("               DP-D-SGD with --sampling poisson has %s of this error; see --sampling",
			terminal.DecimalUp(ratio, 2))
	}
}

// gap says how far from the optimum the strategy is, and what it costs a node.
func (r *Summary) gap() {
	m, s := r.Manifest, r.Manifest.Strategy
	switch {
	case m.LowerBound == 0:
	case m.PerNode != nil:
		r.line("gap            %s to one strategy a node; the loss is %.4f of the best shared one's",
			terminal.DecimalUp(m.Gap, 2), s.Ratio)
		r.line("group bound    %s: no strategies of these groups of nodes have a smaller loss (gap %s)",
			terminal.DecimalDown(m.PerNode.GroupBound, 10), terminal.DecimalUp((m.Loss-m.PerNode.GroupBound)/m.PerNode.GroupBound,
				2))
	case m.Sampled():
	case s.Ratio != 0:
		r.line("gap            %s: the loss is %.4f of the dense optimum's", terminal.DecimalUp(m.Gap, 4), s.Ratio)
	case !participation.IsPartition(r.Solution.Problem.Schema):
		r.line("gap            %s: patterns overlap, and no strategy need reach the bound", terminal.DecimalUp(m.Gap, 4))
	default:
		r.line("gap            %s certified (tolerance %g), %s after %d iterations", terminal.DecimalUp(m.Gap, 2),
			m.Tolerance,
			m.Status, m.Iterations)
	}
	if s.ClassGap != nil {
		r.line("class bound    %s: no %s strategy with %d bands has a smaller loss (gap %s)",
			terminal.DecimalDown(s.ClassBound, 10),
			s.Class, s.Bandwidth, terminal.DecimalUp(*s.ClassGap, 2))
	}
	kinds := map[string]string{"exact": "exact", "bound": "an upper bound: the true one may be smaller"}
	r.line("sensitivity    %s", kinds[m.SensKind])
	if m.Gram.Method != plan.GramExact.String() {
		r.line("Gram matrix    %s", gramText(m.Gram))
	}
	for _, text := range flags.BudgetLines(r.Solution) {
		r.line("%s", text)
	}
	r.line("node           keeps %d numbers and does %d operations a step, for each model parameter", s.MemoryFloats,
		s.FlopsPerStep)
}

// gramText says in a line how far off an estimate may be.
func gramText(g *export.Gram) string {
	vectors, sure := "random", fmt.Sprintf("with a probability of %g %%", 100*g.Confidence)
	if g.Confidence == 1 {
		vectors, sure = "unit", "nothing is left to chance,"
	}
	text := fmt.Sprintf("estimated from %d %s vectors, %d steps each", g.Probes, vectors, g.LanczosSteps)
	if g.Method == plan.GramSampled.String() {
		text = fmt.Sprintf("estimated from %d random runs", g.Probes)
	}
	if g.LossError == nil {
		return text // there was no time to judge it
	}
	text += fmt.Sprintf(": %s the loss is known within %s", sure, terminal.DecimalUp(*g.LossError, 2))
	if g.ExcessBound != nil {
		text += fmt.Sprintf(", and C at most %s above the true optimum", terminal.DecimalUp(*g.ExcessBound, 2))
	}
	return text
}

// noise says how much noise a guarantee takes.
func (r *Summary) noise() {
	contribution := r.Privacy.Contribution()
	if p := r.Manifest.Privacy; p != nil {
		r.line("privacy        %s", r.Manifest.Guarantee())
		if r.Manifest.Sampled() {
			contribution = "noise multiplier·clip"
		} else {
			contribution += "/mu"
		}
		r.line("noise          standard deviation %s per coordinate of Z (%s), in sums of gradients clipped to %g",
			terminal.DecimalUp(p.NoiseStd, 6), contribution, p.Clip)
		return
	}
	r.line("noise          standard deviation %s/mu: give --mu, or --epsilon and --delta, to have it computed",
		contribution)
}
