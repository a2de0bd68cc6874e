package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/graph"
	"mafalda/internal/cli"
	"mafalda/internal/limits"
	"mafalda/participation"
	"mafalda/threat"
)

type auditFlags struct {
	network          cli.NetworkFlags
	schema           cli.SchemaFlags
	threat           threatFlags
	attacker, victim string
	runs             int
	auditSeed        uint64
	confidence       float64
	noiseScale       float64
	json             bool
}

func newAuditCmd() *cobra.Command {
	var f auditFlags
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Attack the simulated protocol, to prove the accounting wrong",
		Long: `Run the protocol many times with random noise, with and without a record of the victim, give the attacker what it sees, and apply
the best linear test. The mu that the attack reaches, with its confidence interval, stands against the claimed one. With
--strategy the noise is made by C_inv of the export itself.

Exit codes: 0 the claim holds, 1 the lower confidence limit is above the claim, 2 wrong flags or input.`,
		Example: `  mafalda audit --graph florentine --T 10 --attacker Medici --victim Pazzi
  mafalda audit --graph florentine --T 10 --attacker Medici --noise-scale 0.5      # half the noise: fails
  mafalda audit --graph florentine --T 10 --algorithm decor --attacker Medici --json
  mafalda audit --graph florentine --T 40 -k 4 --algorithm mf-d-sgd --strategy out --attacker Medici`,
		Args: cli.NoArgs,
		RunE: cli.UntilInterrupted(f.run),
	}
	f.network.BindGraph(cmd)
	f.network.BindGossip(cmd)
	f.schema.BindEvery(cmd)
	f.threat.bind(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.attacker, "attacker", "",
		"`LABEL` of the attacking node, or LABEL,LABEL,... of a coalition; labels with commas in quotes, as in CSV")
	fl.StringVar(&f.victim, "victim", "", "`LABEL` of the victim (default: the nearest node)")
	f.runs = 4000
	fl.Var((*cli.WholeNumber)(&f.runs), "runs", "runs of the protocol with the record, and as many without")
	f.auditSeed = 1
	fl.Var((*cli.SeedNumber)(&f.auditSeed), "audit-seed", "seed of the simulated noise")
	fl.Float64Var(&f.confidence, "confidence", 0.999, "of the interval")
	fl.Float64Var(&f.noiseScale, "noise-scale", 1, "multiply the nodes' noise, but not the claim: below 1 the audit should fail")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

func (f *auditFlags) run(cmd *cobra.Command) error {
	schema, err := f.schema.ChooseEvery(cmd)
	if err != nil {
		return err
	}
	switch {
	case f.runs < 10:
		return cli.Usagef("--runs %d: must be at least 10", f.runs)
	case !(f.confidence > 0 && f.confidence < 1):
		return cli.Usagef("--confidence %v: must be between 0 and 1", f.confidence)
	case !(f.noiseScale > 0) || f.noiseScale-f.noiseScale != 0:
		return cli.Usagef("--noise-scale %v: must be positive and finite", f.noiseScale)
	}
	algorithm, err := f.threat.choose(cmd, schema)
	if err != nil {
		return err
	}
	n, err := f.network.Load()
	if err != nil {
		return err
	}
	if err := f.threat.checkNodes(n.Graph); err != nil {
		return err
	}
	attackers, err := f.threat.attackers(f.attacker, n.Graph)
	if err != nil {
		return err
	}
	if len(attackers) > 1 {
		return cli.Usagef("--attacker all: audit one attacker at a time")
	}
	victim, err := f.chooseVictim(n, attackers[0])
	if err != nil {
		return err
	}
	opts := threat.AuditOptions{Random: rand.NewPCG(f.auditSeed, 0), Runs: f.runs, Confidence: f.confidence, NoiseScale: f.noiseScale}
	if opts.Noising, err = f.noising(); err != nil {
		return cli.Usage(err)
	}
	s := threat.Scenario{Gossip: n.Gossip.Matrix(), Algorithm: algorithm, Attacker: attackers[0], Schema: schema}
	r, err := threat.Audit(cmd.Context(), s, victim, opts)
	if cmd.Context().Err() != nil {
		return context.Cause(cmd.Context())
	}
	if errors.Is(err, threat.ErrAudit) || errors.Is(err, threat.ErrStrategy) || errors.Is(err, threat.ErrTooLarge) ||
		errors.Is(err, limits.ErrMemory) {
		return cli.Usage(err)
	}
	if err != nil {
		return fmt.Errorf("auditing: %w", err)
	}
	if err := f.print(cmd, n, schema, victim, r); err != nil {
		return err
	}
	if !r.Passed {
		return fmt.Errorf("the attack reaches mu = %.6g, at least %s: more than the claimed %s", r.Empirical, cli.DecimalDown(r.Low, 6), cli.DecimalUp(r.Claimed, 6))
	}
	return nil
}

// chooseVictim returns the named victim, or the nearest node.
func (f *auditFlags) chooseVictim(n *graph.Network, a threat.Attacker) (int, error) {
	if f.victim != "" {
		v := slices.Index(n.Graph.Labels(), f.victim)
		if v < 0 {
			return 0, cli.Usagef("--victim %s: the graph has no such node", f.victim)
		}
		if slices.Contains(a.Nodes, v) {
			return 0, cli.Usagef("--victim %s attacks itself: its gradients are known", f.victim)
		}
		return v, nil
	}
	hops := graph.Hops(n.Gossip.Matrix(), a.Nodes)
	nearest := -1
	for v, h := range hops {
		if h == 0 {
			continue
		}
		if nearest < 0 || h > 0 && (hops[nearest] < 0 || h < hops[nearest]) {
			nearest = v
		}
	}
	if nearest < 0 {
		return 0, cli.Usagef("every node attacks: there is no victim")
	}
	return nearest, nil
}

// noising returns C⁻¹ as the export has it, nil without an export or if it has parameters only.
func (f *auditFlags) noising() (mat.Matrix, error) {
	if f.threat.strategy == "" {
		return nil, nil
	}
	e, err := export.Load(f.threat.strategy)
	if err != nil || e.Inverse == nil {
		return nil, err
	}
	return e.Inverse, nil
}

func (f *auditFlags) print(cmd *cobra.Command, n *graph.Network, s participation.Schema, victim int, r threat.AuditResult) error {
	w := cmd.OutOrStdout()
	if f.json {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(struct {
			Victim    string  `json:"victim"`
			Claimed   float64 `json:"claimed_mu"`
			Empirical float64 `json:"empirical_mu"`
			Low       float64 `json:"ci_low"`
			High      float64 `json:"ci_high"`
			Reachable float64 `json:"reachable_mu"`
			Runs      int     `json:"runs"`
			Passed    bool    `json:"passed"`
		}{n.Graph.Label(victim), r.Claimed, r.Empirical, r.Low, r.High, r.Reachable, r.Runs, r.Passed})
	}
	attacker := f.attacker
	if attacker == "" {
		attacker = "everybody"
	}
	fmt.Fprintf(w, "graph          %s\n", n.Line())
	fmt.Fprintf(w, "participation  %v\n", s)
	fmt.Fprintf(w, "attack         of %s on %s, %s under %s\n", attacker, n.Graph.Label(victim), f.threat.algorithm, f.threat.trust)
	fmt.Fprintf(w, "claimed        mu = %s\n", cli.DecimalUp(r.Claimed, 6))
	fmt.Fprintf(w, "reachable      mu = %s by this attack, if the accounting is right\n", cli.DecimalUp(r.Reachable, 6))
	fmt.Fprintf(w, "reached        mu = %.6g, between %s and %s with confidence %g (%d runs each)\n", r.Empirical, cli.DecimalDown(r.Low, 6), cli.DecimalUp(r.High, 6), f.confidence, r.Runs)
	verdict := "passed: the claim holds"
	if !r.Passed {
		verdict = "FAILED: the attack learns more than is claimed"
	}
	fmt.Fprintf(w, "verdict        %s\n", verdict)
	return nil
}
