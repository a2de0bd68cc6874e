package commands

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/terminal"
	"mafalda/threat"
)

// everyVictim is the --victim that stands for every node that does not attack.
const everyVictim = "all"

// victimAudit is the audit of one of all victims.
type victimAudit struct {
	Attacker []string `json:"attacker,omitempty"`
	Victim   string   `json:"victim"`
	Sigma    float64  `json:"sigma"` // standard deviation of the victim's noise, over what a record of its can move its sum by
	threat.AuditResult
}

// runAll attacks every node that does not attack, each against the claim for itself. All intervals hold together
// with the confidence asked for.
func (a *networkAudit) runAll(cmd *cobra.Command, bar *terminal.Progress) error {
	g := a.network.Graph
	var attackers, victims []int
	var err error
	switch a.flags.attacker {
	case "":
	case "all":
		return terminal.Usagef("--attacker all: audit one attacker at a time")
	default:
		if attackers, err = flags.NodesNamed("attacker", a.flags.attacker, g); err != nil {
			return err
		}
	}
	for v := range g.Nodes() {
		if !slices.Contains(attackers, v) {
			victims = append(victims, v)
		}
	}
	if len(victims) == 0 {
		return terminal.Usagef("every node attacks: there is no victim")
	}
	a.options.Confidence = 1 - (1-a.options.Confidence)/float64(len(victims))
	var all []victimAudit
	failed := 0
	for i, v := range victims {
		a.options.Progress = bar.ShowAs(fmt.Sprintf("steps of all runs for victim %d of %d", i+1, len(victims)))
		of, err := a.attack(cmd.Context(), []int{v})
		if err != nil {
			bar.Clear()
			return err
		}
		if !of.result.Passed {
			failed++
		}
		all = append(all, victimAudit{of.by.Labels(g), g.Label(v), a.scenario.Algorithm.Sigma(v, a.level.Sigma), of.result})
	}
	bar.Clear()
	if a.flags.json {
		err = terminal.WriteJSON(cmd.OutOrStdout(), struct {
			Victims []victimAudit `json:"victims"`
			flags.Level
		}{all, a.level})
	} else {
		err = a.document(all).Text(cmd.OutOrStdout())
	}
	if err == nil && failed > 0 {
		err = fmt.Errorf("%d of %s: the attack learns more than is claimed", failed, terminal.Count(len(all), "node"))
	}
	return err
}

// document says what attacks on all victims have reached.
func (a *networkAudit) document(all []victimAudit) *document.Document {
	d := document.New("audit", "What attacks reach, beside what is claimed of every node.")
	d.Fact("graph", "%s", a.network.Line())
	d.Fact("participation", "%v", a.scenario.Schema)
	d.Add(flags.TrainingFacts(a.scenario)...)
	by := a.flags.attacker
	if by == "" {
		by = a.scenario.Attacker.Name(a.network.Graph)
	}
	d.Fact("attacks", "of %s, %s under %v", by, a.scenario.Algorithm.Name(), a.scenario.Attacker.Trust)
	d.Add(a.level.Fact())
	if all[0].HoldsFor != "" {
		d.Fact("holds for", "%s", all[0].HoldsFor)
	}
	d.Fact("confidence", "%g of all intervals together (%d runs each)", a.flags.confidence, all[0].Runs)
	t := document.Table{Header: []string{"victim", "claimed mu", "reachable", "reached", "at least", "verdict"}}
	for _, v := range all {
		verdict, reachable := "passed", terminal.DecimalUp(v.Reachable, 6)
		if !v.Passed {
			verdict = "FAILED"
		}
		if v.Exposed {
			reachable = "infinite"
		}
		t.Rows = append(t.Rows, []string{v.Victim, terminal.DecimalUp(v.Claimed, 6), reachable, fmt.Sprintf("%.6g", v.Empirical),
			terminal.DecimalDown(v.Low, 6), verdict})
	}
	d.Table(t)
	return d
}
