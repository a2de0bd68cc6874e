package results

import (
	"fmt"
	"io"
	"math"
	"slices"

	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/figures"
	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/terminal"
	"mafalda/export"
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

// accounted is what pages of accounts are filled with.
type accounted struct {
	*Accounts
	Reports []threat.Report
	Rows    []threat.GrowthRow
}

var (
	accountPage = document.Page[accounted](pages, "account")
	growthPage  = document.Page[accounted](pages, "growth")
)

// Document says what reports of attackers have found.
func (a *Accounts) Document(reports []threat.Report) *document.Document {
	d := accountPage(accounted{a, reports, nil})
	d.Cells = len(reports)
	if !a.Lost() {
		a.drawMap(d, reports)
	}
	return d
}

// GrowthDocument says what numbers of steps have found.
func (a *Accounts) GrowthDocument(rows []threat.GrowthRow) *document.Document {
	d := growthPage(accounted{a, nil, rows})
	d.Cells = len(rows)
	return d
}

// Lost reports whether numbers are lower bounds, from which no privacy follows.
func (a *Accounts) Lost() bool { return a.Options.Measure == threat.Certain && a.Drawn == "" }

// HoldsForAll reports whether numbers hold for every training.
func (a *Accounts) HoldsForAll() bool { return a.Holds == threat.Everything }

// Unclassed reports whether nothing is known of how gradients react.
func (a *Accounts) Unclassed() bool {
	return a.Options.Reaction.Kind == threat.AnyReaction && !a.Attackers[0].Trust.Public()
}

// Unreacting reports whether numbers of gradients that do not react stand beside the others.
func (a *Accounts) Unreacting() bool {
	return !a.Attackers[0].Trust.Public() && a.Options.Reaction.Kind != threat.FixedInputs
}

// Loose reports whether there are too many patterns of participation for the best bounds.
func (a *Accounts) Loose() bool { return a.Options.Refine && !reaction.OneByOne(a.Scenario.Schema) }

// TrainingFacts say what is trained.
func (a *Accounts) TrainingFacts() []document.Fact { return flags.TrainingFacts(a.Scenario) }

// Who says who attacks.
func (a *Accounts) Who() string {
	if len(a.Attackers) > 1 {
		return fmt.Sprintf("each of %d nodes", len(a.Attackers))
	}
	return a.Attackers[0].Name(a.Network.Graph)
}

// Bound says what kind of bound numbers are.
func (a *Accounts) Bound() string {
	switch kind := a.Options.Reaction.Kind; {
	case a.Drawn != "" || a.Unclassed():
		return "local DP"
	case a.Attackers[0].Trust.Public() || kind == threat.FixedInputs:
		return a.Options.Measure.String()
	case a.Options.Refine:
		return "the class's (refined where most is lost)"
	}
	return "the class's (of all victims at once)"
}

// LocalText is the squared sensitivity of local DP.
func (a *Accounts) LocalText() string {
	v := a.Study.Local()
	if math.IsInf(v, 1) {
		return "infinite"
	}
	return terminal.NumberUp(v)
}

// Number rounds a number to the safe side; one that is not there is infinite.
func (a *Accounts) Number(v float64, there bool) string {
	if !there {
		return "infinite"
	}
	return a.Rounded(&v)
}

// Rounded rounds a number to the safe side, if there is one.
func (a *Accounts) Rounded(v *float64) string {
	switch {
	case v == nil:
		return "-"
	case a.Lost():
		return terminal.DecimalDown(*v, 6)
	}
	return terminal.NumberUp(*v)
}

// ByDistance sums up the pairs of each distance.
func (a accounted) ByDistance() []threat.DistanceRow { return threat.ByDistance(a.Reports) }

// Total sums up all pairs.
func (a accounted) Total() (all threat.DistanceRow) {
	for _, r := range a.ByDistance() {
		all.Infinite, all.Pairs = all.Infinite+r.Infinite, all.Pairs+r.Pairs
		all.Mu, all.Epsilon = max(all.Mu, r.Mu), max(all.Epsilon, r.Epsilon)
	}
	return all
}

// Below reports whether less than local DP is proven of a pair.
func (a accounted) Below() bool {
	return slices.ContainsFunc(a.Reports, func(r threat.Report) bool {
		return slices.ContainsFunc(r.Pairs, func(p threat.Pair) bool {
			return p.Distance != nil && *p.Distance > 0 && p.SensSquared != nil && *p.SensSquared < r.Local*(1-1e-12)
		})
	})
}

// Reasons are those for which local DP is reported though there is a class.
func (a accounted) Reasons() (reasons []string) {
	for _, r := range a.Reports {
		if r.Why != "" && !slices.Contains(reasons, r.Why) {
			reasons = append(reasons, r.Why)
		}
	}
	return reasons
}

// Screened reports whether numbers are of all victims at once, and better ones can be had.
func (a accounted) Screened() bool {
	return !a.Options.Refine && a.Scenario.Schema.Participations() > 1 && slices.ContainsFunc(a.Reports, func(r threat.Report) bool {
		return slices.ContainsFunc(r.Pairs, func(p threat.Pair) bool { return p.Bound == threat.AllPairs || p.DrawnBound == threat.AllPairs })
	})
}

// nodeRow is a node with its own level, and what is learned of it by the attacker who learns most; nil: it attacks. Its
// own level is what local DP holds it to, against every attacker.
type nodeRow struct {
	export.NodeLevel
	Worst *threat.Pair
}

// Nodes are those with levels of their own.
func (a accounted) Nodes() []nodeRow {
	worst := map[string]*threat.Pair{}
	for _, r := range a.Reports {
		for _, p := range r.Pairs {
			attacks := p.Distance != nil && *p.Distance == 0
			if of := worst[p.Victim]; !attacks && (of == nil || p.Mu == nil || of.Mu != nil && *p.Mu > *of.Mu) {
				worst[p.Victim] = &p
			}
		}
	}
	return lists.Map(a.Level.Own, func(l export.NodeLevel) nodeRow { return nodeRow{l, worst[l.Node]} })
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
