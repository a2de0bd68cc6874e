package flags

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	schema, err := study.schema(cmd)
	if err != nil {
		return terminal.Usage(err)
	}
	spec, err := study.workload.Spec(cmd)
	if err != nil {
		return terminal.Usage(err)
	}
	if err := study.task.Check(); err != nil {
		return SimulateError(err)
	}
	n, config, err := study.inputs(schema, spec, note)
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
	if err := f.print(cmd.OutOrStdout(), n, config, r, asJSON); err != nil {
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

func (f *SimulateAttackFlags) print(w io.Writer, n *graph.Network, c simulate.Config, r *simulate.Attacked, asJSON bool) error {
	victim := n.Graph.Label(r.Victim)
	rate := c.LearningRate
	if rate == 0 {
		rate = c.Task.LearningRate
	}
	if asJSON {
		return terminal.WriteJSON(w, struct {
			Simulated bool   `json:"simulated"`
			Note      string `json:"note"`
			Attacker  string `json:"attacker"`
			Victim    string `json:"victim"`
			*simulate.Attacked
		}{true, simulated.Note, f.attacker, victim, r})
	}
	d := document.New("simulate --attack", "What an attack reaches, beside what is claimed.")
	d.Fact("graph", "%s", n.Line())
	d.Fact("gossip", "%s", n.Origin.GossipLine())
	d.Fact("task", "%s, %d parameters, learning rate %g of the mean over batches of %d, clipped to %g", c.Task.Name,
		c.Task.Model.Size(), rate, r.Batch, c.Clip)
	d.Fact("participation", "%v", c.Schema)
	d.Fact("attack", "of %s on a record of %s, %s away, from the messages that it sees", f.attacker, victim,
		terminal.Count(r.Hops, "hop"))
	d.Fact("record", "of the first batch; its first gradient has %.3g of the clipping norm", r.Moves)
	class := "none: gradients of this model change without a bound, or jump"
	if r.Found != nil {
		class = fmt.Sprintf("%s %s: rho %.4g, kappa %.4g, by the largest norms of these records", r.Row, terminal.DecimalUp(r.Found.X, 4),
			r.Found.Class.Rho, r.Found.Class.Kappa)
	}
	d.Fact("class", "%s", class)
	d.Fact("local DP", "mu = %s", terminal.DecimalUp(r.Local, 6))
	of := "for every training of the class"
	if r.Found == nil {
		of = "for every training: local DP, as there is no class"
	}
	d.Fact("bound", "mu = %s, %s", terminal.DecimalUp(r.Bound, 6), of)
	broken := ""
	if r.Broken {
		broken = "; this attack exceeds it"
	}
	d.Fact("no guarantee", "mu = %s, if gradients do not react%s", terminal.DecimalUp(r.Without, 6), broken)
	d.Fact("statistic", "mu = %s of this record, if nodes answer as in training without noise", terminal.DecimalUp(r.Linear, 6))
	limits := "at least " + terminal.DecimalDown(r.Low, 6)
	if r.High != 0 {
		limits = fmt.Sprintf("between %s and %s", terminal.DecimalDown(r.Low, 6), terminal.DecimalUp(r.High, 6))
	}
	d.Fact("reached", "mu = %s, %s with confidence %g (%d runs each)", terminal.DecimalUp(r.Reached, 6), limits, f.options.Confidence, r.Runs)
	verdict := "passed: the attack learns no more than the bound (which proves nothing)"
	if !r.Passed {
		verdict = "FAILED: the attack learns more than the bound"
	}
	d.Fact("verdict", "%s", verdict)
	return d.Text(w)
}
