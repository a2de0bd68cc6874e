package flags

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/terminal"
	"mafalda/factorize/baselines"
	"mafalda/graph"
	"mafalda/participation"
	"mafalda/simulate"
	"mafalda/simulated"
	"mafalda/threat"
)

// SimulateAttackFlags say who attacks the training of mafalda simulate.
type SimulateAttackFlags struct {
	attacker, victim string
	options          simulate.AttackOptions
}

// check rejects flags that are not for attacks.
func (f *SimulateAttackFlags) check(cmd *cobra.Command, study *SimulateFlags) error {
	given := cmd.Flags().Changed
	switch {
	case f.attacker == "":
		return terminal.Usagef("--attack is empty: name a node")
	case given("methods") && !slices.Equal(study.options.Methods, []string{baselines.DPDSGD}):
		return terminal.Usagef("--methods: --attack is for %s", baselines.DPDSGD)
	case given("mu") && len(study.options.Mus) != 1:
		return terminal.Usagef("--mu: one level is attacked")
	case given("mu") && study.options.Mus[0] == 0:
		return terminal.Usagef("--mu 0: must be positive and finite")
	}
	return nil
}

// Run attacks the training that the flags of a study describe, and writes what was learned. The error is one of the attack,
// or that it learned more than was proven.
func (f *SimulateAttackFlags) Run(cmd *cobra.Command, study *SimulateFlags, asJSON, quiet bool, note func(...string)) error {
	if err := f.check(cmd, study); err != nil {
		return err
	}
	config, err := study.training(cmd)
	if err != nil {
		return err
	}
	n, err := study.inputs(&config, note)
	if err != nil {
		return err
	}
	config.Gossip = n.Gossip.Matrix()
	bar := terminal.NewProgress(cmd.ErrOrStderr(), quiet)
	defer bar.Clear()
	bar.Busy("computing the claims")
	o := f.options
	o.Progress = bar.ShowAs("runs")
	if cmd.Flags().Changed("mu") {
		o.Mu = study.options.Mus[0]
	}
	if o.Attacker, err = labelled(n.Graph, "attack", f.attacker); err != nil {
		return err
	}
	if f.victim != "" {
		v, err := labelled(n.Graph, "attack victim", f.victim)
		if err != nil {
			return err
		}
		o.Victim = &v
	}
	r, err := simulate.Attack(cmd.Context(), config, o)
	bar.Clear()
	switch {
	case cmd.Context().Err() != nil:
		return context.Cause(cmd.Context())
	case errors.Is(err, threat.ErrAudit) || errors.Is(err, simulate.ErrData) || errors.Is(err, participation.ErrViolated):
		return terminal.Usage(err)
	case err != nil:
		return SimulateError(err)
	}
	a := attacked{Simulated: true, Note: simulated.Note, Attacker: f.attacker, Victim: n.Graph.Label(r.Victim), Attacked: r, Network: n, Config: config,
		Rate: cmp.Or(config.LearningRate, config.Task.LearningRate), Confidence: o.Confidence}
	if asJSON {
		err = terminal.WriteJSON(cmd.OutOrStdout(), a)
	} else {
		err = attackedPage(a).Text(cmd.OutOrStdout())
	}
	if err != nil {
		return err
	}
	if !r.Passed {
		return fmt.Errorf("the attack reaches mu = %s, at least %s: more than the bound, %s", terminal.DecimalUp(r.Reached, 6),
			terminal.DecimalDown(r.Low, 6), terminal.DecimalUp(r.Bound, 6))
	}
	return nil
}

// labelled returns the node that a flag names.
func labelled(g *graph.Graph, flag, label string) (int, error) {
	v := slices.Index(g.Labels(), label)
	if v < 0 {
		return 0, terminal.Usagef("--%s %s: the graph has no such node", flag, label)
	}
	return v, nil
}

// attacked is what JSON and the page attacked say.
type attacked struct {
	Simulated bool   `json:"simulated"`
	Note      string `json:"note"`
	Attacker  string `json:"attacker"`
	Victim    string `json:"victim"`
	*simulate.Attacked

	Network          *graph.Network  `json:"-"`
	Config           simulate.Config `json:"-"`
	Rate, Confidence float64         `json:"-"`
}

var attackedPage = document.Page[attacked](factPages, "attacked")
