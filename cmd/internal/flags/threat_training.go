package flags

import (
	"slices"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/terminal"
	"mafalda/graph"
	"mafalda/threat"
	"mafalda/workload"
)

// trainingFlag is a flag about what is trained, with what it says of a workload.
type trainingFlag struct {
	name string
	of   func(workload.Spec) any
}

// trainingFlags are all flags about training, but the flag of networks that take turns.
func trainingFlags() []trainingFlag {
	type spec = workload.Spec
	return []trainingFlag{
		{"optimizer momentum", func(s spec) any { return s.Momentum }},
		{"optimizer nesterov", func(s spec) any { return s.Nesterov }},
		{"learning-rates", func(s spec) any {
			return workload.Spec{Optimizer: workload.Optimizer{LearningRates: s.LearningRates}}.String() // lists, too
		}},
		{"optimizer decay", func(s spec) any { return s.WeightDecay }},
		{"optimizer local", func(s spec) any { return max(1, s.LocalSteps) }},
		{"optimizer rounds", func(s spec) any { return max(1, s.GossipRounds) }},
		{"optimizer tracking", func(s spec) any { return s.GradientTracking }},
		{"graph-changes failures", func(s spec) any { return s.NodeFailures }},
		{"graph-changes links", func(s spec) any { return s.LinkFailures }},
		{"graph-changes neighbours", func(s spec) any { return s.RandomNeighbours }},
		{"missed-steps", func(s spec) any { return s.MissedSteps }},
		{"missed-steps carry", func(s spec) any { return s.Carry }},
	}
}

// trained returns the algorithm with what is trained: what its export was made for, which flags must not contradict, or
// what flags say.
func (f *ThreatFlags) trained(cmd *cobra.Command, a threat.Algorithm, steps int) (threat.Algorithm, error) {
	given := slices.DeleteFunc(trainingFlags(), func(flag trainingFlag) bool { return !cmd.Flags().Changed(flag.name) })
	if f.algorithm == "muffliato" {
		given = slices.DeleteFunc(given, func(flag trainingFlag) bool { return flag.name == "optimizer rounds" })
	}
	if len(given) == 0 {
		return a, nil
	}
	spec, err := f.training.Spec(cmd)
	if err != nil {
		return a, err
	}
	if own := a.Training().Spec; !own.IsPlain() {
		for _, flag := range given {
			if flag.of(spec) != flag.of(own) {
				return a, terminal.Usagef("--%s %s: the strategy in %s was made for other training: leave out what is about it, "+
					"or use an export that was made for this", flag.name, cmd.Flags().Lookup(flag.name).Value, f.Exported)
			}
		}
		return a, nil
	}
	if f.algorithm == "muffliato" {
		spec.GossipRounds = 0
	}
	if err := spec.Check(steps); err != nil {
		return a, err
	}
	return a.Under(threat.Training{Spec: spec})
}

// On returns the algorithm on the network: with the networks that take turns there, and those that are drawn by its
// seed.
func (f *ThreatFlags) On(a threat.Algorithm, n *graph.Network, seed uint64) (threat.Algorithm, error) {
	q := a.Training().Spec.GraphSequence
	if trust, err := threat.ParseTrust(f.trust); err == nil && !trust.Public() && q != nil && n.Sequence == nil {
		return a, terminal.Usagef("%s is for networks that take turns: name their file with --graph-changes sequence:FILE (it was %s)",
			f.Exported, q.Source())
	}
	a, err := a.On(n, seed)
	return a, terminal.Usage(err)
}

// TrainingFacts says what is trained, if it is more than plain gradient descent, and what is drawn.
func TrainingFacts(s threat.Scenario) []document.Fact {
	t := s.Algorithm.Training()
	facts := WorkloadFacts(t.Spec)
	if t.Drawn() && !s.Attacker.Trust.Public() {
		facts = append(facts, document.Fact{Name: "drawn", Value: "by --seed " + (*terminal.SeedNumber)(&t.Seed).String() +
			": a guarantee for exactly these networks and absences; for others only local DP is"})
	}
	return facts
}
