package flags

import (
	"reflect"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/terminal"
	"mafalda/graph"
	"mafalda/threat"
	"mafalda/workload"
)

// trainingField returns the field of a workload that a flag fills; empty for other flags, and that of networks that take turns.
func trainingField(f *pflag.Flag) string {
	for _, field := range f.Annotations[fills] {
		if _, is := reflect.TypeFor[workload.Spec]().FieldByName(field); is && field != "GraphSequence" {
			return field
		}
	}
	return ""
}

// only returns what a workload says in one of its fields.
func only(s workload.Spec, field string) string {
	var one workload.Spec
	s.LocalSteps, s.GossipRounds = max(1, s.LocalSteps), max(1, s.GossipRounds)
	reflect.ValueOf(&one).Elem().FieldByName(field).Set(reflect.ValueOf(s).FieldByName(field))
	return one.String()
}

// trained returns the algorithm with what is trained: what its export was made for, which flags must not contradict, or
// what flags say.
func (f *ThreatFlags) trained(cmd *cobra.Command, a threat.Algorithm, steps int) (threat.Algorithm, error) {
	var given []*pflag.Flag
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if flag.Changed && trainingField(flag) != "" && (f.algorithm != "muffliato" || flag.Name != "optimizer rounds") {
			given = append(given, flag)
		}
	})
	if len(given) == 0 {
		return a, nil
	}
	spec, err := f.training.Spec(cmd)
	if err != nil {
		return a, err
	}
	if own := a.Training().Spec; !own.IsPlain() {
		for _, flag := range given {
			if field := trainingField(flag); only(spec, field) != only(own, field) {
				return a, terminal.Usagef("--%s %s: the strategy in %s was made for other training: leave out what is about it, "+
					"or use an export that was made for this", flag.Name, flag.Value, f.Exported)
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

// WithNetworks returns the algorithm on the network: with the networks that take turns there, and those that are drawn by its
// seed.
func (f *ThreatFlags) WithNetworks(a threat.Algorithm, n *graph.Network, seed uint64) (threat.Algorithm, error) {
	q := a.Training().Spec.GraphSequence
	if !f.trust.Public() && q != nil && n.Sequence == nil {
		return a, terminal.Usagef("%s is for networks that take turns: name their file with --graph-changes sequence:FILE (it was %s)",
			f.Exported, q.Source)
	}
	a, err := a.WithNetworks(n, seed)
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
