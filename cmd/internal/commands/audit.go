package commands

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/grids"
	"mafalda/cmd/internal/terminal"
	"mafalda/graph"
	"mafalda/participation"
	"mafalda/threat"
)

type auditFlags struct {
	attackable
	sampled          sampledFlags
	run              runFlags
	attacker, victim string
	scaledNodes      string
	runs, batches    int
	auditSeed        uint64
	confidence       float64
	noiseScale       float64
	answer           string
	json             bool
}

func newAuditCmd(runner *grids.Runner) *cobra.Command {
	f := auditFlags{run: runFlags{runner: runner}}
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Attack the simulated protocol, to prove the accounting wrong",
		Long: `Run the protocol many times with random noise, with and without a record of the victim, give the attacker what it sees, and apply
the best linear test. The mu that the attack reaches, with its confidence interval, stands against the claimed one. With
--export the noise is made by C_inv of the export itself, at the level that it was calibrated with. Of an export whose nodes share
noise (--trust secldp) the worst coalition that it allows attacks, or that of coalitions or --attacker, and the claim is the
export's.

The claim of --trust pndp holds for
` + threat.Condition + `.
With --answer all nodes but the attackers react to the model θ that they hold, in units of what a record can move a sum of gradients
by: clip:K,B adds clip(K·θ, B) to what they send, so that B is about how many records react; that is the gradient of a loss that
falls as the model grows, the sign that hurts. linear:D sends D·θ in the place of θ. What a threshold of the attack's statistic
proves (Clopper and Pearson) stands against the claim, against the bound for nodes that react like that, and against local DP.
With the name of a class (convex:X, smooth:X, clipped-convex:X, strongly-convex:X,Y, lipschitz:L, as mafalda smoothness has them)
the worst linear answers of the class are played, and the claim is the bound for the class, which they may not exceed.

With --sampling the privacy of secret batches is attacked: the attacker sees all messages, whatever the network, and applies the
likelihood ratio test of what the nodes really do (--actual), at several points of the curve of epsilon and delta that is claimed.
The claim is the accountant's, or the export's of --export, or --epsilon. Fixed batches under a Poisson claim fail.

With --run a training that happened is audited, by the messages that a node recorded and by records that were made up for that
(docs/auditing.md). It says how much of them arrived, a lower bound for epsilon, and whether the run has one of the faults that
people make. With confidence 0.95, unless it is given. What a node received of the others is audited with --attacker and its label:
by the matched filter of mafalda account, for canaries of a node that it attacks.

Exit codes: 0 the claim holds, 1 the lower confidence limit is above the claim, 2 wrong flags or input.`,
		Example: `  mafalda audit --graph florentine --T 10 --attacker Medici --victim Pazzi
  mafalda audit --graph florentine --T 10 --attacker Medici --noise-scale 0.5      # half the noise: fails
  mafalda audit --graph path:3 --T 2 -k 1 --attacker 2 --answer clip:10,1           # nodes that react: fails, local DP holds
  mafalda audit --graph path:3 --T 2 -k 1 --attacker 2 --answer smooth:0.5          # the bound for such nodes: passes
  mafalda audit --graph florentine --T 10 --algorithm decor --attacker Medici --json
  mafalda audit --graph florentine --T 40 -k 4 --algorithm mf-d-sgd --export out --attacker Medici
  mafalda audit --graph florentine --T 16 -k 4 --algorithm mf-d-sgd --export out --trust secldp    # nodes share noise
  mafalda audit --graph florentine --T 16 -k 4 --algorithm mf-d-sgd --export out --trust secldp:coalitions=2
  mafalda audit --graph florentine --T 16 -k 4 --algorithm mf-d-sgd --export out --trust ldp --victim all     # each node's own claim
  mafalda audit --graph florentine --T 32 -k 4 --trust ldp --actual batches:2       # a person in two batches, a claim for one: fails
  mafalda audit --sampling poisson:probability=0.05 --T 380 --noise-multiplier 1 --delta 1e-6
  mafalda audit --run run,coins=coins.json --export out                        # a training that happened
  mafalda audit --run view,coins=coins.json --export out --attacker 3          # by what node 3 received
  mafalda audit --run run,coins=coins.json --export out -o audited && mafalda report out audited
  mafalda audit --sampling poisson --export out                                  # as the export says
  mafalda audit --sampling poisson --export out --actual cyclic                  # fixed batches, in truth: fails
  mafalda audit --sampling poisson --export out --noise-scale 0.5                # half the noise: fails`,
		Args: terminal.NoArgs,
		RunE: terminal.UntilInterrupted(f.audit),
	}
	f.attackable.bind(cmd)
	f.sampled.bind(cmd)
	f.run.bind(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.attacker, "attacker", "",
		"`LABEL` of the attacking node, or LABEL,LABEL,... of a coalition; labels with commas in quotes, as in CSV")
	fl.StringVar(&f.victim, "victim", "", "`LABEL` of the victim, or all: every node that does not attack, one after the other (default: the nearest node;\n"+
		"where nodes share noise, the one of whom most is learned; with --answer, the nearest one that the attacker does not see)")
	flags.CompleteGraphLabels(cmd, "attacker", f.network.Load)
	flags.CompleteGraphLabels(cmd, "victim", f.network.Load)
	f.runs = 4000
	terminal.Whole(fl, &f.runs, "runs", "runs of the protocol with the record, and as many without (with --answer: 10000, with --sampling: 50000)")
	f.auditSeed = 1
	fl.Var((*terminal.SeedNumber)(&f.auditSeed), "runs seed", "seed of the simulated noise")
	fl.Float64Var(&f.confidence, "runs confidence", 0.999, "of the interval")
	terminal.Family(cmd, "runs", "")
	fl.Float64Var(&f.noiseScale, "noise-scale", 1,
		"multiply the nodes' noise, but not the claim: below 1 the audit should fail")
	fl.StringVar(&f.scaledNodes, "scaled-nodes", "", "`LABEL,LABEL,...` of the nodes whose own noise --noise-scale multiplies (default: all noise)")
	flags.CompleteGraphLabels(cmd, "scaled-nodes", f.network.Load)
	fl.StringVar(&f.answer, "answer", "", "let nodes react to their models θ, and `HOW`: clip:K,B adds clip(K·θ, B) to what they send (B can be inf),\n"+
		"linear:D sends D·θ; convex:X, smooth:X, ...: the worst answers of the class, against its bound")
	terminal.Whole(fl, &f.batches, "actual batches", "in how many batches of a cycle the victim's records really are (default: as claimed)")
	terminal.Family(cmd, "actual", "")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

// taking returns in which steps the victim really takes part; nil without --actual batches.
func (f *auditFlags) taking(cmd *cobra.Command, claimed participation.Schema) (participation.Schema, error) {
	if !cmd.Flags().Changed("actual batches") {
		return nil, nil
	}
	cycle, cyclic := claimed.(participation.Cyclic)
	if people, are := claimed.(*participation.People); are {
		cycle, cyclic = people.Cycle(), true
	}
	if !cyclic {
		return nil, terminal.Usagef("--actual batches is for batches in turn: --schema cyclic or single")
	}
	taking, err := participation.NewPeople(cycle, f.batches)
	if err != nil {
		return nil, terminal.Usagef("--actual batches: %w", err)
	}
	return taking, nil
}

func (f *auditFlags) audit(cmd *cobra.Command) error {
	switch { // 0 would ask the library for a default
	case f.runs == 0:
		return terminal.Usagef("--runs 0: must be at least 10")
	case f.confidence == 0:
		return terminal.Usagef("--runs confidence 0: must be between 0 and 1")
	case f.noiseScale == 0:
		return terminal.Usagef("--noise-scale 0: must be positive and finite")
	}
	bar := terminal.NewProgress(cmd.ErrOrStderr(), false)
	defer bar.Clear()
	if cmd.Flags().Changed("run") || cmd.Flags().Changed("output") || f.run.force {
		return f.runRecorded(cmd, bar)
	}
	if err := f.sampled.check(cmd); err != nil {
		return err
	}
	bar.Busy("computing the claim")
	if cmd.Flags().Changed("sampling") {
		return f.runSampled(cmd, bar)
	}
	return f.runNetwork(cmd, bar)
}

// runNetwork attacks what a node, or everybody, sees of the network.
func (f *auditFlags) runNetwork(cmd *cobra.Command, bar *terminal.Progress) error {
	a := networkAudit{flags: f, options: threat.AuditOptions{Confidence: f.confidence, NoiseScale: f.noiseScale,
		Progress: bar.ShowAs("steps of all runs")}}
	o := &a.options
	var schema participation.Schema
	if err := allOf(
		func() (err error) { schema, err = f.schema.ChooseEvery(cmd); return err },
		func() (err error) { a.scenario, a.network, a.level, err = f.scenario(cmd, schema, 0); return err },
		func() (err error) { o.Answer, err = f.chooseAnswer(cmd); return err },
		func() (err error) { o.Taking, err = f.taking(cmd, schema); return err },
		func() (err error) { o.Scaled, err = f.chooseScaled(cmd, a.network.Graph); return err },
	); err != nil {
		return err
	}
	o.Runs, o.Sigma = f.runs, a.level.Sigma
	if f.victim == everyVictim {
		return a.runAll(cmd, bar)
	}
	victims, err := f.namedVictim(a.network.Graph)
	if err != nil {
		return err
	}
	of, err := a.attack(cmd.Context(), victims)
	bar.Clear()
	if err != nil {
		return err
	}
	err = a.print(cmd.OutOrStdout(), of)
	if r := of.result; err == nil && !r.Passed {
		err = fmt.Errorf("the attack reaches mu = %.6g, at least %s: more than the claimed %s%s", r.Empirical,
			terminal.DecimalDown(max(r.Low, exactly(r)), 6), terminal.DecimalUp(r.Claimed, 6), otherVerdicts(r))
	}
	return err
}

// chooseScaled returns the nodes whose own noise is multiplied; nil for all noise.
func (f *auditFlags) chooseScaled(cmd *cobra.Command, g *graph.Graph) ([]int, error) {
	switch {
	case !cmd.Flags().Changed("scaled-nodes"):
		return nil, nil
	case f.noiseScale == 1:
		return nil, terminal.Usagef("--scaled-nodes: by how much? Use --noise-scale, too")
	}
	return flags.NodesNamed("scaled-nodes", f.scaledNodes, g)
}

// networkAudit is an audit of what a node, or everybody, sees of a network, but for its attacker and victim.
type networkAudit struct {
	flags    *auditFlags
	network  *graph.Network
	level    flags.Level
	scenario threat.Scenario
	options  threat.AuditOptions
}

// attack attacks the victim that is named, or the one that the attack is best at. The scenario has then its attacker.
func (a *networkAudit) attack(ctx context.Context, named []int) (attacked, error) {
	f, s, o := a.flags, &a.scenario, a.options
	by, err := f.threat.Attack(ctx, f.attacker, s.Algorithm, a.network.Graph, named...)
	if err != nil {
		return attacked{}, err
	}
	s.Attacker = by.Attacker
	victim, err := f.chooseVictim(*s, by, named)
	if err != nil {
		return attacked{}, err
	}
	o.Random, o.Colluding = rand.NewPCG(f.auditSeed, 0), by.Colluding
	r, err := threat.Audit(ctx, *s, victim, o)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return attacked{by, victim, r}, err
}

// chooseAnswer returns how nodes react; nil without --answer. It then sets as many runs as that takes.
func (f *auditFlags) chooseAnswer(cmd *cobra.Command) (threat.Answer, error) {
	if !cmd.Flags().Changed("answer") {
		return nil, nil
	}
	if !terminal.Given(cmd, "runs") {
		f.runs = answeredRuns
	}
	a, err := threat.ParseAnswer(f.answer)
	if err != nil {
		return nil, terminal.Usagef("--answer: %w", err)
	}
	return a, nil
}

// answeredRuns is how many runs it takes where half of them choose a threshold.
const answeredRuns = 10000

// namedVictim returns the victim that is named, if there is one.
func (f *auditFlags) namedVictim(g *graph.Graph) ([]int, error) {
	if f.victim == "" {
		return nil, nil
	}
	victims, err := flags.NodesNamed("victim", f.victim, g)
	if err == nil && len(victims) > 1 {
		err = terminal.Usagef("--victim %s: one node, or all", f.victim)
	}
	return victims, err
}

// chooseVictim returns the named victim, the one that the attack is best at, or the nearest node.
func (f *auditFlags) chooseVictim(s threat.Scenario, a flags.Attack, named []int) (int, error) {
	switch {
	case len(named) > 0 && slices.Contains(a.Nodes(), named[0]):
		return 0, terminal.Usagef("--victim %s attacks itself: its gradients are known", f.victim)
	case len(named) > 0:
		return named[0], nil
	case a.Victim >= 0:
		return a.Victim, nil
	}
	s.Attacker.Any, s.Attacker.Nodes = nil, a.Nodes()
	v, there := s.Nearest()
	if f.answer != "" {
		v, there = s.NearestHidden()
	}
	if !there {
		return 0, terminal.Usagef("every node attacks: there is no victim")
	}
	return v, nil
}

// attacked is an audit that has ended.
type attacked struct {
	by     flags.Attack
	victim int
	result threat.AuditResult
}

// exactly returns what is reached for certain by linear answers of a class, which is known without a simulation; 0 of others.
func exactly(r threat.AuditResult) float64 {
	if r.Reacting == nil || !r.Reacting.Judged {
		return 0
	}
	return r.Reachable
}

// otherVerdicts says what else holds, of an attack on nodes that react.
func otherVerdicts(r threat.AuditResult) string {
	text := ""
	if r.LocalHolds != nil {
		text = "; the local-DP number, " + localText(r) + ", " + holds(*r.LocalHolds)
	}
	if of := r.Reacting; of != nil && !of.Judged {
		text += "; the bound for such answers, mu = " + terminal.DecimalUp(of.Bound, 6) + ", " + holds(of.Holds)
	}
	return text
}

func holds(yes bool) string {
	if yes {
		return "holds"
	}
	return "does not hold either"
}

// localText says what local DP is.
func localText(r threat.AuditResult) string {
	if r.Local == nil {
		return "infinite"
	}
	return "mu = " + terminal.DecimalUp(*r.Local, 6)
}

func (a *networkAudit) print(w io.Writer, of attacked) error {
	f, n, s, r := a.flags, a.network, a.scenario, of.result
	if f.json {
		return terminal.WriteJSON(w, struct {
			Attacker []string `json:"attacker,omitempty"`
			Victim   string   `json:"victim"`
			Answer   string   `json:"answer,omitempty"`
			threat.AuditResult
			flags.Level
		}{of.by.Labels(n.Graph), n.Graph.Label(of.victim), f.answer, r, a.level})
	}
	d := document.New("audit", "What an attack reaches, beside what is claimed.")
	d.Fact("graph", "%s", n.Line())
	d.Fact("participation", "%v", s.Schema)
	d.Add(flags.TrainingFacts(s)...)
	attacker := f.attacker
	if attacker == "" {
		attacker = threat.Attacker{Nodes: of.by.Nodes()}.Name(n.Graph)
	}
	d.Fact("attack", "of %s on %s, %s under %v", attacker, n.Graph.Label(of.victim), s.Algorithm.Name(), s.Attacker.Trust)
	if of.by.Colluding != nil {
		d.Fact("against", "the claim for %s", s.Attacker.Name(n.Graph))
	}
	d.Add(a.level.Fact())
	if f.answer != "" {
		d.Fact("answers", "%s", answerText(f.answer, r.Reacting))
	}
	d.Fact("claimed", "mu = %s", terminal.DecimalUp(r.Claimed, 6))
	if r.HoldsFor != "" {
		d.Fact("holds for", "%s (%s)", r.HoldsFor, localText(r))
	}
	if of := r.Reacting; of != nil && of.Judged {
		d.Fact("holds for", "every training of the class; without a class it is local DP, %s", localText(r))
		broken := ""
		if of.Broken {
			broken = "; these nodes exceed it"
		}
		d.Fact("no guarantee", "mu = %s, if gradients do not react%s", terminal.DecimalUp(of.Without, 6), broken)
	} else if of != nil {
		d.Fact("bound", "mu = %s for such answers (rho %.6g, kappa %.6g)", terminal.DecimalUp(of.Bound, 6), of.Rho, of.Kappa)
	}
	switch {
	case r.Exposed:
		d.Fact("reachable", "infinite: it sees a gradient without noise")
	case exactly(r) > 0:
		d.Fact("reachable", "mu = %.6g by this attack, exactly", r.Reachable)
	case r.Reachable > 0 || f.answer == "":
		d.Fact("reachable", "mu = %s by this attack, if the accounting is right", terminal.DecimalUp(r.Reachable, 6))
	}
	limits := fmt.Sprintf("between %s and %s", terminal.DecimalDown(r.Low, 6), terminal.DecimalUp(r.High, 6))
	if r.High == 0 {
		limits = "at least " + terminal.DecimalDown(r.Low, 6)
	}
	d.Fact("reached", "mu = %.6g, %s with confidence %g (%d runs each)", r.Empirical, limits, f.confidence, r.Runs)
	verdict := "passed: the attack learns no more than is claimed (which proves nothing)"
	if !r.Passed {
		verdict = "FAILED: the attack learns more than is claimed" + otherVerdicts(r)
	}
	d.Fact("verdict", "%s", verdict)
	return d.Text(w)
}

// answerText says how nodes react.
func answerText(answer string, of *threat.Reacting) string {
	if of != nil && of.Judged {
		return fmt.Sprintf("%s, the worst linear ones of the class rho %.6g, kappa %.6g, by all nodes but the attackers", answer,
			of.Rho, of.Kappa)
	}
	return answer + " of the model that they hold, by all nodes but the attackers"
}
