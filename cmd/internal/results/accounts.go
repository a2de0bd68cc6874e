package results

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/figures"
	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/terminal"
	"mafalda/graph"
	"mafalda/internal/lists"
	"mafalda/internal/version"
	"mafalda/study"
	"mafalda/threat"
	"mafalda/threat/reaction"
)

// Accounts are what attackers learn in one network: the studies of pairs and of growth, which another program can run,
// too, and their tables.
type Accounts struct {
	Study     *threat.Study
	Network   *graph.Network
	Scenario  threat.Scenario // the scenario without attackers
	Options   threat.AssessOptions
	Attackers []threat.Attacker // attackers that were asked for; at least one
	Exported  string            // the folder of the strategy that is accounted for, if it is from one
	Level     flags.Level       // level of the noise
	Style     figures.Style     // style of the pictures

	// Holds says what numbers of the attackers hold for, and Drawn what those of one draw of networks and absences do; empty where
	// they hold for all, and where none are drawn.
	Holds, Drawn string
}

// Spec says whose the folder of the pairs is.
func (a *Accounts) Spec() study.Spec {
	s := study.Of("account")
	a.Network.AddTo(&s.Inputs)
	a.Study.AddTo(&s.Inputs)
	a.Study.AddPairsTo(&s.Inputs)
	s.Summaries = figures.WithFiles([]string{"account.json", "pairs.csv", document.FileName}, "exposure")
	return s
}

// storedAccounts is the content of account.json.
type storedAccounts struct {
	Version   string          `json:"version"`
	Settings  study.Inputs    `json:"settings"`         // all that values depend on
	Export    string          `json:"export,omitempty"` // the folder of the strategy, as it was named
	Attackers []threat.Report `json:"attackers"`
}

// Cells returns the cells of the attackers that were asked for.
func (a *Accounts) Cells() []threat.Cell {
	return lists.Map(a.Attackers, func(attacker threat.Attacker) threat.Cell { return a.Study.Cell(attacker.Nodes) })
}

// Files makes the summaries of all accounts in the folder, in the order of the graph's nodes.
func (a *Accounts) Files(entries []study.Entry[threat.Cell, threat.Report]) ([]study.File, error) {
	a.Study.Sort(entries)
	stored := storedAccounts{Version: version.String(), Settings: a.Spec().Inputs, Export: a.Exported,
		Attackers: lists.Map(entries, func(e study.Entry[threat.Cell, threat.Report]) threat.Report { return e.Result })}
	f, err := figures.Exposure(stored.Attackers, figures.ExposureOptions{
		Algorithm: a.Scenario.Algorithm.Name(), Graph: a.Network.Origin.Source, Schema: a.Scenario.Schema,
		Local: a.Study.Local(), Sigma: a.Options.Sigma, Alpha: a.Options.Alpha,
	})
	pairs := func(w io.Writer) error { return threat.WritePairs(w, stored.Attackers) }
	results := []study.File{study.JSONFile("account.json", stored), {Name: "pairs.csv", Write: pairs},
		documentFile(a.Document(stored.Attackers))}
	return append(results, figures.Files("exposure", f, err, a.Style)...), nil
}

// GrowthSpec says whose the folder of growth is: of one attacker, the first.
func (a *Accounts) GrowthSpec() study.Spec {
	s := study.Of("account --growth")
	a.Network.AddTo(&s.Inputs)
	a.Study.AddTo(&s.Inputs)
	s.Inputs.Add("attacker", fmt.Sprintf("%q", a.Cells()[0].Attacker))
	s.Summaries = figures.WithFiles([]string{"growth.json", document.FileName}, "growth")
	return s
}

// GrowthFiles makes the summaries of all numbers of steps in the folder.
func (a *Accounts) GrowthFiles(entries []study.Entry[threat.GrowthCell, threat.GrowthRow]) ([]study.File, error) {
	rows := lists.Map(entries, func(e study.Entry[threat.GrowthCell, threat.GrowthRow]) threat.GrowthRow { return e.Result })
	slices.SortFunc(rows, func(a, b threat.GrowthRow) int { return a.Steps - b.Steps })
	f, err := figures.Growth(rows, a.Holds)
	results := []study.File{study.JSONFile("growth.json", a.GrowthData(rows)), documentFile(a.GrowthDocument(rows))}
	return append(results, figures.Files("growth", f, err, a.Style)...), nil
}

// GrowthData is the JSON of growth.
func (a *Accounts) GrowthData(rows []threat.GrowthRow) any {
	data := map[string]any{"attacker": a.Attackers[0].Name(a.Network.Graph), "rows": rows}
	if a.Holds != "" {
		data["holds_for"] = a.Holds
	}
	if of := a.Options.Reaction.Report(); of != nil {
		data["reaction"] = of
	}
	if a.Drawn != "" {
		data["drawn_by_seed"], data["drawn_holds_for"] = a.Scenario.Algorithm.Training().Seed, a.Drawn
	}
	return data
}

// lost reports whether numbers are lower bounds, from which no privacy follows.
func (a *Accounts) lost() bool { return a.Options.Measure == threat.Certain && a.Drawn == "" }

// attackersText says who attacks, and what they see.
func (a *Accounts) attackersText() string {
	who := a.Attackers[0].Name(a.Network.Graph)
	if len(a.Attackers) > 1 {
		who = fmt.Sprintf("each of %d nodes", len(a.Attackers))
	}
	return who + ": see " + a.Attackers[0].Sees()
}

// boundText says what kind of bound numbers are.
func (a *Accounts) boundText() string {
	switch kind := a.Options.Reaction.Kind; {
	case a.Drawn != "":
		return "local DP"
	case a.Attackers[0].Trust.Public() || kind == threat.FixedInputs:
		return a.Options.Measure.String()
	case kind == threat.AnyReaction:
		return "local DP"
	case a.Options.Refine:
		return "the class's (refined where most is lost)"
	}
	return "the class's (of all victims at once)"
}

// Document says what reports of attackers have found.
func (a *Accounts) Document(reports []threat.Report) *document.Document {
	first := reports[0]
	d := document.New("account", "What an attacker learns of every other node: the squared sensitivity of its view, and the privacy "+
		"that follows. All numbers are rounded up.")
	d.Cells = len(reports)
	a.networkFacts(d)
	d.Fact("algorithm", "%s, T = %d steps", a.Scenario.Algorithm.Name(), a.Scenario.Schema.Steps())
	d.Add(flags.TrainingFacts(a.Scenario)...)
	d.Fact("participation", "%v", a.Scenario.Schema)
	d.Fact("attackers", "%s", a.attackersText())
	d.Add(a.Level.Fact())
	unit := ""
	if a.Level.Own != nil {
		unit = " at the victim"
	}
	d.Fact("bound", "%s of sens², for gradients of norm 1 and noise of standard deviation 1%s", a.boundText(), unit)
	a.addHoldsFor(d, reports...)
	d.Table(a.table(reports))
	if a.Level.Own != nil {
		d.Table(a.nodeTable(reports))
	}
	a.summarize(d, reports)
	a.certify(d, first)
	if a.lost() {
		d.Warn("these are lower bounds: what is certainly lost, no guarantee")
	}
	if nodes := a.Network.Graph.Nodes(); len(reports) > 1 && len(reports) < nodes {
		d.Warn("%d of %d nodes have attacked so far; the map has these", len(reports), nodes)
	}
	if !a.lost() {
		a.drawMap(d, reports)
	}
	return d
}

func (a *Accounts) networkFacts(d *document.Document) {
	d.Fact("graph", "%s", a.Network.Line())
	d.Fact("gossip", "%s", a.Network.Origin.GossipLine())
}

// summarize says who learns what, and how much the most exposed node leaks.
func (a *Accounts) summarize(d *document.Document, reports []threat.Report) {
	d.Summarize(document.WhatItIs, "what attackers learn who see %s: %s on %s, T = %d", a.Attackers[0].Sees(), a.Scenario.Algorithm.Name(),
		a.Network.Origin.Source, a.Scenario.Schema.Steps())
	first := reports[0]
	if a.Holds != "" {
		d.Summarize("holds for", "%s", a.Holds)
		if first.LocalMu != nil && a.Holds != threat.Everything && a.Drawn == "" {
			d.Summarize("training", "local DP: μ = %s", terminal.NumberUp(*first.LocalMu))
		}
	}
	infinite, pairs := 0, 0
	var mu, epsilon float64
	for _, r := range threat.ByDistance(reports) {
		infinite, pairs = infinite+r.Infinite, pairs+r.Pairs
		mu, epsilon = max(mu, r.Mu), max(epsilon, r.Epsilon)
	}
	if infinite > 0 {
		d.Summarize("no privacy", "%d of %d pairs: a gradient is seen without noise", infinite, pairs)
		return
	}
	if a.lost() {
		return
	}
	text := "the most exposed of " + terminal.Count(pairs, "pair") + ": μ = " + terminal.NumberUp(mu)
	if epsilon > 0 {
		text += ", ε = " + terminal.NumberUp(epsilon) + " for δ = " + terminal.AsGiven(a.Options.Delta)
	}
	d.Summarize("privacy", "%s", text)
}

// certify says in sentences what is proven, and what is not.
func (a *Accounts) certify(d *document.Document, first threat.Report) {
	noise := "noise of standard deviation " + terminal.NumberUp(a.Options.Sigma)
	if a.Level.Own != nil {
		noise = "the victim's own noise over its own clip"
	}
	if !a.lost() {
		d.Certify("Each pair: attackers, who see %s, learn no more of the victim than μ-GDP with the μ given, for gradients of norm 1 "+
			"and %s. The bound is %s.", a.Attackers[0].Sees(), noise, a.boundText())
		if a.Holds != "" {
			d.Certify("This holds for %s.", a.Holds)
		}
	}
	if a.Drawn != "" {
		d.Exclude("numbers “as drawn” for others than %s", a.Drawn)
	}
	if first.Why != "" {
		d.Warn("the class of gradients is not used, and local DP reported: %s", first.Why)
	}
	if first.Local > 0 {
		mu := ""
		if first.LocalMu != nil {
			mu = ", μ = " + terminal.NumberUp(*first.LocalMu)
			if a.Level.Own != nil {
				mu += " of the node with the loosest level"
			}
		}
		d.Certify("Whoever sees all messages, and knows all noise but the victim's own (local DP), learns at most sens² = %s%s.",
			terminal.NumberUp(first.Local), mu)
	}
	if a.withoutReaction() {
		d.Exclude("the column “if gradients do not react”: it is no guarantee for a training")
	}
	d.Exclude("what other attackers see: coalitions that were not asked about, somebody who listens on more links",
		"data that take part more often, or sooner again, than participation says",
		"what a node that does not follow the protocol could learn")
}

// drawMap makes the map on which an attacker is chosen.
func (a *Accounts) drawMap(d *document.Document, reports []threat.Report) {
	labels := a.Network.Graph.Labels()
	if len(labels) > document.MostNodes {
		d.Warn("no map of more than %d nodes; there are %d", document.MostNodes, len(labels))
		return
	}
	if most := max(1, document.MostPairs/len(labels)); len(reports) > most {
		d.Warn("the map has the first %d of %d attackers; pairs.csv has all", most, len(reports))
		reports = reports[:most]
	}
	m := document.NewMap("account", labels)
	m.HoldsFor = a.Holds
	if a.Options.Delta > 0 {
		m.Delta = terminal.AsGiven(a.Options.Delta)
	}
	m.Attackers = lists.Map(reports, func(r threat.Report) document.Attacker { return attackerOf(r, m) })
	if m.Join(a.Network.Graph) == nil { // the labels are a graph's
		d.Map = m
	}
}

// attackerOf returns the numbers of a report in the order of the map's nodes.
func attackerOf(r threat.Report, m *document.Map) document.Attacker {
	n := len(m.Labels)
	a := document.Attacker{Name: r.Attacker, Self: []int{}, Mu: make([]float64, n), Hops: make([]int, n)}
	if m.Delta != "" {
		a.Epsilon = make([]float64, n)
	}
	for _, p := range r.Pairs {
		i, there := m.Index(p.Victim)
		if !there {
			continue
		}
		a.Hops[i] = -1
		if p.Distance != nil {
			a.Hops[i] = *p.Distance
		}
		if a.Hops[i] == 0 {
			a.Self = append(a.Self, i)
		}
		a.Mu[i] = document.MapNumber(p.Mu)
		if a.Epsilon != nil {
			a.Epsilon[i] = document.MapNumber(p.Epsilon)
		}
	}
	return a
}

// addHoldsFor says what numbers of the attackers hold for, unless that is all, and what local DP is then, if reports have
// it.
func (a *Accounts) addHoldsFor(d *document.Document, reports ...threat.Report) {
	holds, of := a.Holds, ""
	if a.Level.Own != nil {
		of = " at the node with the loosest budget"
	}
	switch {
	case holds == "":
		return
	case len(reports) == 0:
	case reports[0].LocalMu == nil:
		holds += " (infinite)"
	case reports[0].LocalEpsilon == nil:
		holds += fmt.Sprintf(" (mu = %s%s)", terminal.NumberUp(*reports[0].LocalMu), of)
	default:
		holds += fmt.Sprintf(" (mu = %s, epsilon = %s for delta = %s%s)", terminal.NumberUp(*reports[0].LocalMu),
			terminal.NumberUp(*reports[0].LocalEpsilon), terminal.AsGiven(a.Options.Delta), of)
	}
	c := a.Options.Reaction.Report()
	if a.Drawn != "" || a.Options.Reaction.Kind == threat.AnyReaction && !a.Attackers[0].Trust.Public() {
		if a.Drawn == "" {
			holds += "\nless is proven with --reaction convex:X, smooth:X, ... (see --help), and for inputs that do not react: --reaction fixed"
		}
		below := func(r threat.Report) bool { // less is proven of a pair
			return slices.ContainsFunc(r.Pairs, func(p threat.Pair) bool {
				return p.Distance != nil && *p.Distance > 0 && p.SensSquared != nil && *p.SensSquared < r.Local*(1-1e-12)
			})
		}
		if slices.ContainsFunc(reports, below) {
			holds += "\nrows below that: less what never arrives, such as the last steps of nodes far away"
		}
	}
	d.Fact("holds for", "%s", holds)
	if a.Drawn != "" {
		d.Fact("as drawn", "columns that say so hold for %s", a.Drawn)
	}
	if len(reports) > 0 && reports[0].Unknown != "" {
		d.Fact("not known", "numbers if gradients do not react: %s", reports[0].Unknown)
	}
	if c == nil {
		return
	}
	d.Fact("class", "ρ = %.6g, κ = %.6g", c.Rho, c.Kappa)
	if a.Options.Refine && !reaction.OneByOne(a.Scenario.Schema) {
		d.Fact("patterns", "are too many to look at one by one: what single participations cost is added up, which is loose")
	}
	var reasons []string
	screened := 0
	for _, r := range reports {
		if r.Why != "" && !slices.Contains(reasons, r.Why) {
			reasons = append(reasons, r.Why)
			d.Fact("local DP", "%s", r.Why)
		}
		for _, p := range r.Pairs {
			if p.Bound == threat.AllPairs || p.DrawnBound == threat.AllPairs {
				screened++
			}
		}
	}
	if screened > 0 && !a.Options.Refine && a.Scenario.Schema.Participations() > 1 {
		d.Fact("screening", "numbers of all victims at once: where data take part more than once some are several times too large; "+
			"--reaction refine has better ones")
	}
}

// withoutReaction reports whether numbers of gradients that do not react stand beside the others.
func (a *Accounts) withoutReaction() bool {
	return !a.Attackers[0].Trust.Public() && a.Options.Reaction.Kind != threat.FixedInputs
}

// table has the pairs by distance.
func (a *Accounts) table(reports []threat.Report) document.Table {
	number := func(v float64, there bool) string {
		switch {
		case !there:
			return "infinite"
		case a.lost():
			return terminal.DecimalDown(v, 6)
		}
		return terminal.NumberUp(v)
	}
	privacy := func(v float64, there bool) string {
		if a.lost() {
			return "-"
		}
		return number(v, there)
	}
	t := document.Table{Caption: "By distance from the attacker"}
	if a.Holds != "" {
		t.Caption += "; holds for " + a.Holds
	}
	local, asDrawn := "infinite", ""
	if v := a.Study.Local(); !math.IsInf(v, 1) {
		local = terminal.NumberUp(v)
	}
	if a.Drawn != "" {
		asDrawn = ", as drawn"
	}
	for _, r := range threat.ByDistance(reports) {
		distance, finite := strconv.Itoa(r.Distance), r.Infinite == 0
		switch {
		case r.Distance == threat.NoPath && len(a.Attackers[0].Nodes) > 0:
			distance = "no path"
		case r.Distance == threat.NoPath:
			distance = "any"
		}
		row := []string{"distance", distance, "pairs", strconv.Itoa(r.Pairs), "least", number(r.Least, r.Pairs > r.Infinite),
			"mean", number(r.Mean, finite), "most", number(r.Most, finite), "mu (most)", privacy(r.Mu, finite)}
		if a.Options.Delta > 0 {
			row = append(row, "epsilon (most)", privacy(r.Epsilon, finite))
		}
		if a.Drawn != "" {
			row = append(row, "most, as drawn", numberOrDash(r.Drawn), "mu, as drawn", numberOrDash(r.DrawnMu))
			if a.Options.Delta > 0 {
				row = append(row, "epsilon, as drawn", numberOrDash(r.DrawnEpsilon))
			}
		}
		if !a.withoutReaction() {
			row = append(row, "Cyffers et al. (mean)", numberOrDash(r.Cyffers))
		} else {
			if a.Options.Worst {
				row = append(row, "worst answer (most"+asDrawn+")", downOrDash(r.Worst))
			}
			row = append(row, "if gradients do not react (most"+asDrawn+")", numberOrDash(r.WithoutReaction))
		}
		t.Row(append(row, "local DP", local)...)
	}
	return t
}

// nodeTable has the nodes with their own levels, and what is learned of each by the attacker who learns most. A node's
// own level is what local DP holds it to, against every attacker.
func (a *Accounts) nodeTable(reports []threat.Report) document.Table {
	t := document.Table{Caption: "By node"}
	worst := map[string]threat.Pair{}
	for _, r := range reports {
		for _, p := range r.Pairs {
			attacks := p.Distance != nil && *p.Distance == 0
			if of, there := worst[p.Victim]; !attacks && (!there || p.Mu == nil || of.Mu != nil && *p.Mu > *of.Mu) {
				worst[p.Victim] = p
			}
		}
	}
	for i, l := range a.Level.Own {
		p, there := worst[l.Node]
		most := func(v *float64) string {
			switch {
			case !there:
				return "attacks"
			case v == nil && p.Infinite:
				return "infinite"
			}
			return numberOrDash(v)
		}
		row := []string{"node", l.Node, "clip", terminal.AsGiven(l.Clip), "noise", terminal.NumberUp(l.NoiseStd)}
		if a.Level.Drawn != nil {
			row[len(row)-2] = "worth noise of"
			row = append(row, "draws alone", terminal.NumberUp(a.Level.Drawn[i]))
		}
		row = append(row, "budget, mu", terminal.NumberUp(l.Mu), "mu (most)", most(p.Mu))
		if a.Options.Delta > 0 {
			row = append(row, "epsilon (most)", most(p.Epsilon))
		}
		t.Row(row...)
	}
	return t
}

// GrowthDocument says what numbers of steps have found.
func (a *Accounts) GrowthDocument(rows []threat.GrowthRow) *document.Document {
	d := document.New("account --growth", "What an attacker learns a step, by the number of steps.")
	d.Cells = len(rows)
	a.networkFacts(d)
	d.Add(flags.TrainingFacts(a.Scenario)...)
	d.Fact("attackers", "%s", a.attackersText())
	d.Fact("bound", "%s of sens²/T for %s, a record in every step", a.boundText(), a.Scenario.Algorithm.Name())
	a.addHoldsFor(d)
	number := numberOrDash
	if a.lost() {
		number = downOrDash
	}
	d.Table(growthTable(rows, number))
	if a.Holds != "" {
		d.Certify("The numbers hold for %s.", a.Holds)
	}
	d.Exclude("what is called an asymptote: it is for equal gradients, and no bound")
	return d
}

// growthTable has a line a number of steps, with means as number writes them.
func growthTable(rows []threat.GrowthRow, number func(*float64) string) document.Table {
	t := document.Table{Caption: "Squared sensitivity over T"}
	some := func(of func(r threat.GrowthRow) (a, b *float64)) bool {
		return slices.ContainsFunc(rows, func(r threat.GrowthRow) bool { a, b := of(r); return a != nil || b != nil })
	}
	apart := some(func(r threat.GrowthRow) (a, b *float64) { return r.NeighboursWithoutReaction, r.OthersWithoutReaction })
	drawn := some(func(r threat.GrowthRow) (a, b *float64) { return r.NeighboursDrawn, r.OthersDrawn })
	for _, r := range rows {
		row := []string{"T", strconv.Itoa(r.Steps), "neighbours", number(r.Neighbours), "others", number(r.Others)}
		if drawn {
			row = append(row, "neighbours, as drawn", number(r.NeighboursDrawn), "others, as drawn", number(r.OthersDrawn))
		}
		if apart {
			row = append(row, "neighbours, if gradients do not react", number(r.NeighboursWithoutReaction),
				"others, if gradients do not react", number(r.OthersWithoutReaction))
		} else {
			row = append(row, "equal gradients, T → ∞", numberOrDash(r.Asymptote))
		}
		t.Row(append(row, "local DP", numberOrDash(r.Local))...)
	}
	return t
}

// downOrDash rounds down what is there.
func downOrDash(v *float64) string {
	return orDash(v, func(v float64) string { return terminal.DecimalDown(v, 6) })
}

// numberOrDash rounds up what is there.
func numberOrDash(v *float64) string { return orDash(v, terminal.NumberUp) }

// orDash is the text of what is there.
func orDash[T any](v *T, text func(T) string) string {
	if v == nil {
		return "-"
	}
	return text(*v)
}
