package commands

import (
	"cmp"
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
	g := a.Network.Graph
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
	var said []verdict
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
		all = append(all, victimAudit{of.by.Labels(g), g.Label(v), a.Scenario.Algorithm.Sigma(v, a.Level.Sigma), of.result})
		said = append(said, a.verdict(of))
	}
	bar.Clear()
	if a.flags.json {
		err = terminal.WriteJSON(cmd.OutOrStdout(), struct {
			Victims []victimAudit `json:"victims"`
			flags.Level
		}{all, a.Level})
	} else {
		by := cmp.Or(a.flags.attacker, a.Scenario.Attacker.Name(g))
		err = victimsPage(verdicts{said, by, a.flags.confidence}).Text(cmd.OutOrStdout())
	}
	if err == nil && failed > 0 {
		err = fmt.Errorf("%d of %s: the attack learns more than is claimed", failed, terminal.Count(len(all), "node"))
	}
	return err
}

// verdicts are the audits of all victims.
type verdicts struct {
	Victims    []verdict
	Attackers  string
	Confidence float64
}

var victimsPage = document.Page[verdicts](pages, "audit-victims")
