package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/terminal"
	"mafalda/export"
	"mafalda/factorize"
	"mafalda/factorize/baselines"
	"mafalda/graph"
	"mafalda/internal/lists"
	"mafalda/measure"
	"mafalda/optim"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/strategy"
)

// Summary says what a strategy is: what was asked, how it compares, what is proven, and what it costs a node.
type Summary struct {
	*document.Document
	Manifest  *export.Manifest
	Solution  *plan.Solution // nil: the strategy is from a folder, and what is not in its manifest is not said
	Adjacency string         // that was asked for; empty: the manifest's, if it has one

	candidates  []plan.Bands // that were searched, as far as they are known
	dpdsgdRatio float64      // the error of DP-D-SGD with Poisson sampling over this one; 0 where it is not known
}

// Make returns the document.
func (r *Summary) Make() *document.Document {
	m := r.Manifest
	r.Document = document.New("export", "A strategy: how every node correlates its noise over time. What follows is what its manifest says; "+
		"verification computes it anew.")
	r.Version = m.Version
	if r.Solution != nil {
		r.candidates, r.dpdsgdRatio = r.Solution.Candidates, r.Solution.DPDSGDRatio
	}
	if g := m.Graph; g != nil {
		r.Fact("graph", "%s", g.Line())
		r.Fact("gossip", "%s", g.GossipLine())
	}
	r.Fact("workload", "%s, T = %d steps", m.Workload, m.Steps)
	r.Add(flags.WorkloadFacts(*m.WorkloadSpec)...)
	r.Add(flags.CurvatureFacts(m.Curvature)...)
	r.family()
	if o := r.objective(); o != measure.Mean {
		r.Fact("objective", "%v: squared error %s", o, o.About())
	}
	if text := drawnTurnout(m); text != "" {
		r.Fact("participation", "a record takes part %s", text)
	} else if schema := r.schema(); schema != nil {
		r.Fact("participation", "%v", schema)
	}
	if m.Space != nil {
		r.sharing()
	}
	if m.Sampled() {
		r.sampling()
	}
	if m.Privacy != nil {
		r.Adjacency = cmp.Or(r.Adjacency, m.Privacy.Adjacency)
	}
	if r.Adjacency != "" {
		r.Fact("adjacency", "%s", flags.AdjacencyText(r.Adjacency, m.Participation.Unit()))
	}
	r.strategies()
	r.noise()
	r.Fact("cost", "%s, %s of memory", time.Duration(m.Seconds*float64(time.Second)).Round(time.Millisecond),
		terminal.BytesText(float64(m.PeakBytes)))
	r.summarize()
	r.certify()
	return r.Document
}

// family says what not knowing the problem costs, where it is one of several.
func (r *Summary) family() {
	m := r.Manifest
	if m.Family == nil {
		return
	}
	which, names := "graphs", lists.Map(m.Family.Graphs, graph.Origin.Line)
	if len(names) == 0 {
		which, names = "second derivatives", lists.Map(m.Curvature.X, func(x float64) string { return fmt.Sprintf("%.3g", x) })
	}
	worst := slices.Max(m.Family.Ratios)
	r.Fact("worst ratio", "%s: not knowing which of these %s it is costs at most %s %%, over a %s strategy for the right one", terminal.DecimalUp(worst, 5),
		which, terminal.DecimalUp(100*(worst-1), 3), m.Strategy.Class)
	r.More("no %s strategy has less than %s (gap %s)", m.Strategy.Class, terminal.DecimalDown(m.Family.Bound, 5),
		terminal.DecimalUp(worst/m.Family.Bound-1, 2))
	r.More("loss, bound and baselines below are of the least favourable mixture")
	for i, name := range names {
		r.Fact("ratio", "%s for %s", terminal.DecimalUp(m.Family.Ratios[i], 5), name)
	}
}

// objective is the error that counts; of a manifest that was changed, the mean.
func (r *Summary) objective() measure.Objective {
	o, err := measure.ParseObjective(cmp.Or(r.Manifest.Objective, measure.Mean.String()))
	if err != nil {
		return measure.Mean
	}
	return o
}

// schema is who takes part when; nil if a manifest was changed so that it says no schema.
func (r *Summary) schema() participation.Schema {
	if r.Solution != nil {
		return r.Solution.Problem.Schema
	}
	schema, err := r.Manifest.Schema()
	if err != nil {
		return nil
	}
	return schema
}

// partition reports whether no two patterns of participation overlap.
func (r *Summary) partition() bool {
	schema := r.schema()
	return schema != nil && participation.IsPartition(schema)
}

// strategies compares strategies, and says how good the best one is.
func (r *Summary) strategies() {
	m := r.Manifest
	switch {
	case m.Space != nil:
		r.spaceAndTime()
		return
	case m.Sampled() && r.Solution != nil:
		r.bands()
	default:
		r.table()
	}
	if loss := m.PlainStrategyLoss; loss > 0 {
		r.Fact("plain strategy", "%s: the optimum for plain training would have %.4g times this loss", terminal.DecimalUp(loss, 8),
			loss/m.Loss)
		r.Gap()
	}
	if loss := m.UncurvedStrategyLoss; loss > 0 {
		r.Fact("no curvature", "%s: the optimum for gradients that do not react would have %.4g times this loss",
			terminal.DecimalUp(loss, 8), loss/m.Loss)
		r.Gap()
	}
	if m.Sampled() {
		r.compared()
	} else {
		r.bound()
	}
	r.gap()
	r.secretBound()
	r.inTurn()
}

// table compares the strategy with the optimum and the baselines.
func (r *Summary) table() {
	m, nodes := r.Manifest, 1
	if m.Graph != nil {
		nodes = m.Graph.Nodes
	}
	steps := r.objective().Steps(*m.WorkloadSpec, m.Steps)
	optimum := m.Loss
	if m.Strategy.Ratio != 0 {
		optimum = m.Loss / m.Strategy.Ratio
	}
	t := document.Table{Caption: "Strategies at equal privacy: the loss is sens² times the squared error", Words: 1}
	row := func(name string, sens, squared, loss float64) {
		rmse := math.Sqrt(loss / (float64(nodes) * steps))
		pairs := []string{"strategy", name, "sens²", terminal.NumberUp(sens), "squared error", terminal.NumberUp(squared),
			"loss", terminal.NumberUp(loss), "RMSE", terminal.NumberUp(rmse), "ratio", fmt.Sprintf("%.4f", loss/optimum)}
		if m.ErrorAtPrivacy > 0 {
			pairs = append(pairs, "error at privacy", terminal.NumberUp(m.ErrorAtPrivacy/m.Loss*loss))
		}
		t.Row(pairs...)
	}
	row(r.name(), m.SensSquared, m.SquaredError, m.Loss)
	if m.Strategy.Ratio != 0 {
		name := "dense (optimal)"
		if m.PerNode != nil {
			name = "shared (optimal)"
		}
		row(name, 1, optimum, optimum)
	}
	for _, name := range []string{baselines.MeanOptimal, baselines.DMF, baselines.DPDSGD, baselines.AntiPGD} {
		if b, ok := m.Baselines[name]; ok {
			row(name, b.SensSquared, b.SquaredError, b.Loss)
		}
	}
	r.Table(t)
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
	case !r.partition():
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
		r.Fact("lower bound", "none is known %s", unbounded(m))
		return
	}
	if m.PerNode != nil {
		nobody = "no strategies, one a node, have"
	}
	if m.Gram.IsEstimate() {
		nobody = strings.TrimSpace(ofEstimate(m)) + " " + nobody
	}
	r.Fact("lower bound", "%s: %s a smaller loss", terminal.GroupedWords(terminal.DecimalDown(m.LowerBound, 10)), nobody)
	if unit := m.Participation.Unit(); unit == "silo" {
		r.More("where every silo takes part in every step")
	} else {
		r.More("where attackers may know when a %s takes part%s", unit, r.hint(" (batches in secret: --sampling)"))
	}
	if m.Curvature == nil {
		r.More("and gradients do not react to noise (a training forgets it%s)", r.hint(": --curvature"))
	}
	if ratio := r.dpdsgdRatio; ratio > 0 && ratio < 1 {
		r.More("DP-D-SGD with Poisson sampling has %s of this error",
			terminal.DecimalUp(ratio, 2))
	}
}

// hint returns words with a flag where a command has just solved the problem; readers of a report have none.
func (r *Summary) hint(flag string) string {
	if r.Solution == nil {
		return ""
	}
	return flag
}

// unbounded says where there is no lower bound: of a manifest without one.
func unbounded(m *export.Manifest) string {
	why := " in so many periods, or of such numbers"
	switch {
	case m.WorkloadSpec.Weights.String() != "all":
		why = ", some of which count more than others"
	case m.Gram.IsEstimate():
		why = " in so many periods, or by an estimate this far off"
	}
	return fmt.Sprintf("for more than %d steps%s", strategy.LongSteps, why)
}

// ofEstimate says whether bound and gap rest on an estimate.
func ofEstimate(m *export.Manifest) string {
	if m.Gram.IsEstimate() {
		return " for the estimated Gram matrix"
	}
	return ""
}

// gap says how far from the optimum the strategy is, and what it costs a node.
func (r *Summary) gap() {
	m, s := r.Manifest, r.Manifest.Strategy
	switch {
	case m.LowerBound == 0:
	case m.PerNode != nil:
		r.Fact("gap", "%s%s to one strategy a node; the loss is %.4f of the best shared one's",
			terminal.DecimalUp(m.Gap, 2), ofEstimate(m), s.Ratio)
		r.Fact("group bound", "%s: no strategies of these groups of nodes have a smaller loss (gap %s)",
			terminal.DecimalDown(m.PerNode.GroupBound, 10), terminal.DecimalUp((m.Loss-m.PerNode.GroupBound)/m.PerNode.GroupBound,
				2))
	case m.Sampled():
	case m.Steps > strategy.LongSteps:
		r.Fact("gap", "%s%s: so much is left to gain, and no more", terminal.DecimalUp(m.Gap, 4), ofEstimate(m))
	case s.Ratio != 0:
		r.Fact("gap", "%s%s: the loss is %.4f of the dense optimum's", terminal.DecimalUp(m.Gap, 4), ofEstimate(m), s.Ratio)
	case !r.partition():
		r.Fact("gap", "%s%s: patterns overlap, and no strategy need reach the bound", terminal.DecimalUp(m.Gap, 4),
			ofEstimate(m))
	default:
		r.Fact("gap", "%s certified%s (tolerance %g), %s after %d iterations", terminal.DecimalUp(m.Gap, 2), ofEstimate(m),
			m.Tolerance, m.Status, m.Iterations)
	}
	if s.ClassGap != nil {
		r.Fact("class bound", "%s: no %s strategy with %d bands has a smaller loss (gap %s)",
			terminal.DecimalDown(s.ClassBound, 10),
			s.Class, s.Bandwidth, terminal.DecimalUp(*s.ClassGap, 2))
	}
	kinds := map[string]string{"exact": "exact", "bound": "an upper bound: the true one may be smaller"}
	r.Fact("sensitivity", "%s", kinds[m.SensKind])
	if m.Gram.IsEstimate() {
		r.Fact("Gram matrix", "%s", gramText(m.Gram))
	}
	if r.Solution != nil {
		r.Add(flags.BudgetFacts(r.Solution)...)
	}
	r.Fact("node", "keeps %d numbers and does %d operations a step, for each model parameter", s.MemoryFloats,
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
	contribution := flags.ContributionText(r.Adjacency)
	r.people()
	if levels := r.Manifest.Budgets; levels != nil {
		r.Fact("privacy", "%s", r.Manifest.Guarantee())
		r.levels(levels, contribution)
		return
	}
	if p := r.Manifest.Privacy; p != nil {
		r.Fact("privacy", "%s", r.Manifest.Guarantee())
		if r.Manifest.Sampled() {
			contribution = "noise multiplier·clip"
		} else {
			contribution += "/mu"
		}
		r.Fact("noise", "standard deviation %s per coordinate of Z (%s), in %s clipped to %g", terminal.DecimalUp(p.NoiseStd, 6), contribution,
			flags.Clipped(r.Manifest.Participation.Unit()), p.Clip)
		return
	}
	std := contribution + "/mu"
	if r.Adjacency == "" {
		std = "clip/mu, or 2·clip/mu where " + map[string]string{"record": "records", "person": "people", "silo": "silos"}[r.Manifest.Participation.Unit()] +
			" are replaced"
	}
	r.Fact("noise", "standard deviation %s: mu, or epsilon and delta, decide it", std)
}

// people says what it costs that a person may be in several batches.
func (r *Summary) people() {
	m := r.Manifest
	if m.OneBatchLoss == 0 {
		return
	}
	batches := float64(m.Participation.Batches)
	r.Fact("people", "%d batches a person cost %.4g times the least loss in one batch (%s), where %d times the noise would cost %g times",
		m.Participation.Batches, m.Loss/m.OneBatchLoss, terminal.NumberUp(m.OneBatchLoss), m.Participation.Batches, batches*batches)
}

// levels says what noise the nodes have, and what one level for all would cost.
func (r *Summary) levels(levels []export.NodeLevel, contribution string) {
	if r.Manifest.Space != nil {
		r.Fact("noise", "standard deviation %s per coordinate of Z (%s/mu of the strictest), times own_std of nodes.csv and std of pairs.csv, "+
			"which are less at a node whose mu is larger, or whose clip is less", terminal.DecimalUp(levels[0].NoiseStd, 6), contribution)
		return
	}
	byNoise := func(a, b export.NodeLevel) int { return cmp.Compare(a.NoiseStd, b.NoiseStd) }
	least, most := slices.MinFunc(levels, byNoise), slices.MaxFunc(levels, byNoise)
	r.Fact("noise", "standard deviation %s/mu per coordinate of Z, with clip and mu of the node: from %s (%s) to %s (%s)", contribution,
		terminal.DecimalUp(least.NoiseStd, 6), least.Node, terminal.DecimalUp(most.NoiseStd, 6), most.Node)
	m := r.Manifest
	r.More("errors and losses are for the strictest: the noise of a node counts by its variance over %s²", terminal.DecimalUp(m.Privacy.NoiseStd, 6))
	if m.OneLevelLoss > 0 {
		r.Fact("one level", "the least loss with the strictest level for all nodes is %s; this one is %.4f of it",
			terminal.NumberUp(m.OneLevelLoss), m.Loss/m.OneLevelLoss)
	}
}
