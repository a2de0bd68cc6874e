package cli

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"mafalda/graph"
	"mafalda/internal/figures"
	"mafalda/internal/study"
	"mafalda/internal/version"
	"mafalda/threat"
	"mafalda/threat/reaction"
)

// Accounts are what attackers learn in one network: the studies of pairs and of growth, which another program can run,
// too, and their tables.
type Accounts struct {
	Study     *threat.Study
	Network   *graph.Network
	Scenario  threat.Scenario // without attackers
	Options   threat.AssessOptions
	Attackers []threat.Attacker // that were asked for; at least one
	Exported  string            // the folder of the strategy that is accounted for, if it is from one
	Replace   bool              // results of other inputs
}

// Spec says whose the folder of the pairs is.
func (a *Accounts) Spec() study.Spec {
	s := study.Of("account")
	a.Network.AddTo(&s.Inputs)
	a.Study.AddTo(&s.Inputs)
	a.Study.AddPairsTo(&s.Inputs)
	s.Summaries = figures.WithFiles([]string{"account.json", "pairs.csv"}, "exposure")
	s.Former = study.Formerly("account.json", []string{"version", "settings", "attackers"}, func(name string) bool {
		return slices.Contains(figures.WithFiles(slices.Clone(s.Summaries), "growth"), name)
	})
	s.Replace = a.Replace
	return s
}

// storedAccounts is the content of account.json.
type storedAccounts struct {
	Version   string          `json:"version"`
	Settings  study.Inputs    `json:"settings"`         // all that values depend on
	Export    string          `json:"export,omitempty"` // the folder of the strategy, as it was named
	Attackers []threat.Report `json:"attackers"`
}

// Cells returns those of the attackers that were asked for.
func (a *Accounts) Cells() []threat.Cell {
	var cells []threat.Cell
	for _, attacker := range a.Attackers {
		cells = append(cells, a.Study.Cell(attacker.Nodes))
	}
	return cells
}

// Files makes the summaries of all accounts in the folder, in the order of the graph's nodes.
func (a *Accounts) Files(entries []study.Entry[threat.Cell, threat.Report]) ([]study.File, error) {
	a.Study.Sort(entries)
	stored := storedAccounts{Version: version.String(), Settings: a.Spec().Inputs, Export: a.Exported}
	for _, e := range entries {
		stored.Attackers = append(stored.Attackers, e.Result)
	}
	f, err := figures.Exposure(stored.Attackers, figures.ExposureOptions{
		Algorithm: a.Scenario.Algorithm.Name(), Graph: a.Network.Origin.Source, Schema: a.Scenario.Schema,
		Local: a.Study.Local(), Sigma: a.Options.Sigma, Alpha: a.Options.Alpha,
	})
	pairs := func(w io.Writer) error { return threat.WritePairs(w, stored.Attackers) }
	results := []study.File{study.JSONFile("account.json", stored), {Name: "pairs.csv", Write: pairs}}
	return append(results, figures.Files("exposure", f, err)...), nil
}

// GrowthSpec says whose the folder of growth is: of one attacker, the first.
func (a *Accounts) GrowthSpec() study.Spec {
	s := study.Of("account --growth")
	a.Network.AddTo(&s.Inputs)
	a.Study.AddTo(&s.Inputs)
	s.Inputs.Add("attacker", fmt.Sprintf("%q", a.Cells()[0].Attacker))
	s.Summaries = figures.WithFiles([]string{"growth.json"}, "growth")
	s.Replace = a.Replace
	return s
}

// GrowthFiles makes the summaries of all numbers of steps in the folder.
func (a *Accounts) GrowthFiles(entries []study.Entry[threat.GrowthCell, threat.GrowthRow]) ([]study.File, error) {
	var rows []threat.GrowthRow
	for _, e := range entries {
		rows = append(rows, e.Result)
	}
	slices.SortFunc(rows, func(a, b threat.GrowthRow) int { return a.Steps - b.Steps })
	f, err := figures.Growth(rows, a.HoldsFor())
	results := []study.File{study.JSONFile("growth.json", a.GrowthData(rows))}
	return append(results, figures.Files("growth", f, err)...), nil
}

// GrowthData is the JSON of growth.
func (a *Accounts) GrowthData(rows []threat.GrowthRow) any {
	data := map[string]any{"attacker": a.Attackers[0].Name(a.Network.Graph), "rows": rows}
	if holds := a.HoldsFor(); holds != "" {
		data["holds_for"] = holds
	}
	if of := a.Options.Reaction.Report(); of != nil {
		data["reaction"] = of
	}
	return data
}

// HoldsFor says what numbers of the attackers hold for; empty where they hold for all.
func (a *Accounts) HoldsFor() string { return a.Options.Reaction.HoldsFor(a.Attackers[0].Trust) }

// AttackersLine says who attacks, and what they see.
func (a *Accounts) AttackersLine() string {
	who := a.Attackers[0].Name(a.Network.Graph)
	if len(a.Attackers) > 1 {
		who = fmt.Sprintf("each of %d nodes", len(a.Attackers))
	}
	return who + ": see " + a.Attackers[0].Sees()
}

// BoundText says what kind of bound numbers are.
func (a *Accounts) BoundText() string {
	switch kind := a.Options.Reaction.Kind; {
	case a.Attackers[0].Trust != threat.PNDP || kind == threat.FixedInputs:
		return a.Options.Measure.String()
	case kind == threat.AnyReaction:
		return "local DP"
	case a.Options.Refine:
		return "the class's (refined where most is lost)"
	}
	return "the class's (of all victims at once)"
}

// belowLocal reports whether less is proven of a pair than local DP of the algorithm.
func belowLocal(r threat.Report) bool {
	return slices.ContainsFunc(r.Pairs, func(p threat.Pair) bool {
		return p.Distance != nil && *p.Distance > 0 && p.SensSquared != nil && *p.SensSquared < r.Local*(1-1e-12)
	})
}

// HoldsForLines says what numbers of the attackers hold for, and what local DP is then, if reports have it; empty where they
// hold for all.
func (a *Accounts) HoldsForLines(reports ...threat.Report) string {
	holds := a.HoldsFor()
	switch {
	case holds == "":
		return ""
	case len(reports) == 0:
	case reports[0].LocalMu == nil:
		holds += " (infinite)"
	case reports[0].LocalEpsilon == nil:
		holds += fmt.Sprintf(" (mu = %s)", NumberUp(*reports[0].LocalMu))
	default:
		holds += fmt.Sprintf(" (mu = %s, epsilon = %s for delta = %s)", NumberUp(*reports[0].LocalMu),
			NumberUp(*reports[0].LocalEpsilon), AsGiven(a.Options.Delta))
	}
	text := "holds for      " + holds + "\n"
	of := a.Options.Reaction
	c := of.Report()
	if c == nil {
		if of.Kind == threat.AnyReaction {
			text += "               less is proven with --convex, --smooth, ... (see --help), and for inputs that do not react: --fixed-inputs\n"
			if slices.ContainsFunc(reports, belowLocal) {
				text += "               rows below that: less what never arrives, such as the last steps of nodes far away\n"
			}
		}
		return text
	}
	text += fmt.Sprintf("class          ρ = %.6g, κ = %.6g\n", c.Rho, c.Kappa)
	if a.Options.Refine && !reaction.OneByOne(a.Scenario.Schema) {
		text += "patterns       are too many to look at one by one: what single participations cost is added up, which is loose\n"
	}
	var reasons []string
	screened := 0
	for _, r := range reports {
		if r.Why != "" && !slices.Contains(reasons, r.Why) {
			reasons = append(reasons, r.Why)
			text += "local DP       " + r.Why + "\n"
		}
		for _, p := range r.Pairs {
			if p.Bound == threat.AllPairs {
				screened++
			}
		}
	}
	if screened > 0 && !a.Options.Refine && a.Scenario.Schema.Participations() > 1 {
		text += "screening      numbers of all victims at once: where a record takes part more than once some are several times too large; " +
			"--refine has better ones\n"
	}
	return text
}

// Table renders the pairs by distance.
func (a *Accounts) Table(w io.Writer, reports []threat.Report) error {
	number := func(v float64, there bool) string {
		if !there {
			return "infinite"
		}
		return NumberUp(v)
	}
	header := []string{"distance", "pairs", "least", "mean", "most", "mu (most)"}
	if a.Options.Delta > 0 {
		header = append(header, "epsilon (most)")
	}
	all := threat.ByDistance(reports)
	apart := a.Attackers[0].Trust == threat.PNDP && a.Options.Reaction.Kind != threat.FixedInputs
	if apart {
		if a.Options.Worst {
			header = append(header, "worst answer (most)")
		}
		header = append(header, "if gradients do not react (most)")
	} else {
		header = append(header, "Cyffers et al. (mean)")
	}
	var rows [][]string
	for _, r := range all {
		distance, finite := strconv.Itoa(r.Distance), r.Infinite == 0
		switch {
		case r.Distance == threat.NoPath && len(a.Attackers[0].Nodes) > 0:
			distance = "no path"
		case r.Distance == threat.NoPath:
			distance = "any"
		}
		row := []string{distance, strconv.Itoa(r.Pairs), number(r.Least, r.Pairs > r.Infinite), number(r.Mean, finite),
			number(r.Most, finite), number(r.Mu, finite)}
		if a.Options.Delta > 0 {
			row = append(row, number(r.Epsilon, finite))
		}
		switch {
		case !apart:
			row = append(row, numberOrDash(r.Cyffers))
		case a.Options.Worst:
			row = append(row, downOrDash(r.Worst), numberOrDash(r.WithoutReaction))
		default:
			row = append(row, numberOrDash(r.WithoutReaction))
		}
		local := a.Study.Local()
		rows = append(rows, append(row, number(local, !math.IsInf(local, 1))))
	}
	return Table(w, append(header, "local DP"), rows)
}

// GrowthTable renders growth.
func (a *Accounts) GrowthTable(w io.Writer, rows []threat.GrowthRow) error {
	header, apart := []string{"T", "neighbours", "others", "equal gradients, T → ∞", "local DP"}, false
	for _, r := range rows {
		apart = apart || r.NeighboursWithoutReaction != nil || r.OthersWithoutReaction != nil
	}
	if apart {
		header = []string{"T", "neighbours", "others", "neighbours, if gradients do not react", "others, if gradients do not react", "local DP"}
	}
	var lines [][]string
	for _, r := range rows {
		line := []string{strconv.Itoa(r.Steps), numberOrDash(r.Neighbours), numberOrDash(r.Others)}
		if apart {
			line = append(line, numberOrDash(r.NeighboursWithoutReaction), numberOrDash(r.OthersWithoutReaction))
		} else {
			line = append(line, numberOrDash(r.Asymptote))
		}
		lines = append(lines, append(line, numberOrDash(r.Local)))
	}
	return Table(w, header, lines)
}

// downOrDash rounds down what is there.
func downOrDash(v *float64) string {
	if v == nil {
		return "-"
	}
	return DecimalDown(*v, 6)
}

// numberOrDash rounds up what is there.
func numberOrDash(v *float64) string {
	if v == nil {
		return "-"
	}
	return NumberUp(*v)
}
