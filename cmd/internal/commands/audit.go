package commands

import (
	"cmp"
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
	"mafalda/internal/fault"
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
	return flags.Command("audit", &f, terminal.UntilInterrupted(f.audit))
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
	bar := terminal.NewProgress(cmd.ErrOrStderr(), false)
	defer bar.Clear()
	if cmd.Flags().Changed("run") {
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
	if err := fault.First(
		func() (err error) { schema, err = f.schema.ChooseEvery(cmd); return err },
		func() (err error) { a.Scenario, a.Network, a.Level, err = f.scenario(cmd, schema, 0); return err },
		func() (err error) { o.Answer, err = f.chooseAnswer(cmd); return err },
		func() (err error) { o.Taking, err = f.taking(cmd, schema); return err },
		func() (err error) { o.Scaled, err = f.chooseScaled(cmd, a.Network.Graph); return err },
	); err != nil {
		return err
	}
	o.Runs, o.Sigma = f.runs, a.Level.Sigma
	if f.victim == everyVictim {
		return a.runAll(cmd, bar)
	}
	victims, err := f.namedVictim(a.Network.Graph)
	if err != nil {
		return err
	}
	of, err := a.attack(cmd.Context(), victims)
	bar.Clear()
	if err != nil {
		return err
	}
	v := a.verdict(of)
	err = a.print(cmd.OutOrStdout(), v)
	if err == nil && !v.Passed {
		err = fmt.Errorf("the attack reaches mu = %.6g, at least %s: more than the claimed %s%s", v.Empirical,
			terminal.DecimalDown(max(v.Low, v.Exactly()), 6), terminal.DecimalUp(v.Claimed, 6), v.OtherVerdicts())
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
	Network  *graph.Network
	Level    flags.Level
	Scenario threat.Scenario
	options  threat.AuditOptions
}

// attack attacks the victim that is named, or the one that the attack is best at. The scenario has then its attacker.
func (a *networkAudit) attack(ctx context.Context, named []int) (attacked, error) {
	f, s, o := a.flags, &a.Scenario, a.options
	by, err := f.threat.Attack(ctx, f.attacker, s.Algorithm, a.Network.Graph, named...)
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

// verdict is an audit that has ended, in words.
type verdict struct {
	*networkAudit
	threat.AuditResult
	By         flags.Attack
	Attackers  string
	Victim     string
	Answer     string
	Confidence float64
}

var networkPage = document.Page[verdict](pages, "audit-network")

// verdict returns the words for an audit that has ended.
func (a *networkAudit) verdict(of attacked) verdict {
	f, g := a.flags, a.Network.Graph
	who := cmp.Or(f.attacker, threat.Attacker{Nodes: of.by.Nodes()}.Name(g))
	return verdict{a, of.result, of.by, who, g.Label(of.victim), f.answer, f.confidence}
}

// TrainingFacts say what is trained.
func (a *networkAudit) TrainingFacts() []document.Fact { return flags.TrainingFacts(a.Scenario) }

// Exactly is what is reached for certain by linear answers of a class, which is known without a simulation; 0 of others.
func (v verdict) Exactly() float64 {
	if v.Reacting == nil || !v.Reacting.Judged {
		return 0
	}
	return v.Reachable
}

// OtherVerdicts say what else holds, of an attack on nodes that react.
func (v verdict) OtherVerdicts() string {
	text, holds := "", map[bool]string{true: "holds", false: "does not hold either"}
	if v.LocalHolds != nil {
		text = "; the local-DP number, " + v.LocalText() + ", " + holds[*v.LocalHolds]
	}
	if of := v.Reacting; of != nil && !of.Judged {
		text += "; the bound for such answers, mu = " + terminal.DecimalUp(of.Bound, 6) + ", " + holds[of.Holds]
	}
	return text
}

// LocalText says what local DP is.
func (v verdict) LocalText() string {
	if v.Local == nil {
		return "infinite"
	}
	return "mu = " + terminal.DecimalUp(*v.Local, 6)
}

func (a *networkAudit) print(w io.Writer, v verdict) error {
	if a.flags.json {
		return terminal.WriteJSON(w, struct {
			Attacker []string `json:"attacker,omitempty"`
			Victim   string   `json:"victim"`
			Answer   string   `json:"answer,omitempty"`
			threat.AuditResult
			flags.Level
		}{v.By.Labels(a.Network.Graph), v.Victim, v.Answer, v.AuditResult, a.Level})
	}
	return networkPage(v).Text(w)
}
