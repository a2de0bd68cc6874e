package flags

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/terminal"
	"mafalda/internal/files"
	"mafalda/workload"
)

// WorkloadFlags say what is trained on the network and what of it counts: a workload.Spec.
type WorkloadFlags struct {
	spec        workload.Spec // what flags bind directly
	kind, rates string
	averageLast int
}

// The names under which help lists the flags.
const (
	trainingGroup = "What is trained"
	networkGroup  = "Networks that change"
	absenceGroup  = "Nodes that miss steps"
)

// Bind binds all flags to a command; the flag of a sequence of networks fills network.
func (f *WorkloadFlags) Bind(cmd *cobra.Command, network *NetworkFlags) {
	f.BindKind(cmd)
	f.BindOptimizer(cmd)
	f.BindChanges(cmd, network)
	fl := cmd.Flags()
	fl.Var((*terminal.WholeNumber)(&f.averageLast), "average-last",
		"count the errors of the last so many steps alone, as of models that are averaged\n"+
			"or compared there (default: those of all steps)")
	terminal.InGroup(cmd, trainingGroup, "average-last")
	f.BindAbsence(cmd)
}

// BindAbsence binds that nodes may miss steps.
func (f *WorkloadFlags) BindAbsence(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.Float64Var(&f.spec.MissedSteps, "missed-steps", 0,
		"probability that a node has no gradient in a step, and sends no noise")
	fl.BoolVar(&f.spec.Carry, "carry", false, "the next message has the rows of noise of missed steps; otherwise they are lost")
	terminal.InGroup(cmd, absenceGroup, "missed-steps", "carry")
}

// BindKind binds --workload.
func (f *WorkloadFlags) BindKind(cmd *cobra.Command) {
	terminal.ChoiceVar(cmd, &f.kind, "workload", workload.Model.String(), workload.Kinds(),
		"whose error counts: model (after averaging), message (before), prefix (centralized)")
	terminal.InGroup(cmd, trainingGroup, "workload")
}

// BindOptimizer binds what nodes do with their gradients.
func (f *WorkloadFlags) BindOptimizer(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.Float64Var(&f.spec.Momentum, "momentum", 0, "of every node, from 0 to below 1; it is not gossiped")
	fl.BoolVar(&f.spec.Nesterov, "nesterov", false, "Nesterov's form of it")
	fl.StringVar(&f.rates, "learning-rates", "constant",
		"how the rate changes, times the base rate:\n"+strings.Join(workload.ScheduleForms(), ", ")+",\n"+
			"or a `FILE` with one number a line")
	fl.Float64Var(&f.spec.WeightDecay, "weight-decay", 0, "what models lose in a step, times the rate; decoupled from gradients")
	f.spec.LocalSteps, f.spec.GossipRounds = 1, 1
	fl.Var((*terminal.WholeNumber)(&f.spec.LocalSteps), "local-steps", "gossip follows every so many gradient steps; T counts these")
	fl.Var((*terminal.WholeNumber)(&f.spec.GossipRounds), "gossip-rounds", "so many rounds of gossip at a time")
	fl.BoolVar(&f.spec.GradientTracking, "gradient-tracking", false, "nodes gossip and follow the mean gradient, too")
	terminal.Complete(cmd, "learning-rates", completeRates)
	terminal.InGroup(cmd, trainingGroup, "momentum", "nesterov", "learning-rates", "weight-decay", "local-steps", "gossip-rounds",
		"gradient-tracking")
}

// BindChanges binds how the network changes.
func (f *WorkloadFlags) BindChanges(cmd *cobra.Command, network *NetworkFlags) {
	fl := cmd.Flags()
	fl.StringVar(&network.GraphSequence, "graph-sequence", "",
		"`FILE` of networks that take turns, one a step, over the nodes of --graph:\n"+
			"edge lists, separated by empty lines")
	fl.Float64Var(&f.spec.NodeFailures, "node-failures", 0,
		"probability that a node fails in a round of gossip: it keeps its model")
	fl.Float64Var(&f.spec.LinkFailures, "link-failures", 0, "probability that an edge fails in a round of gossip")
	fl.Var((*terminal.WholeNumber)(&f.spec.RandomNeighbours), "random-neighbours",
		"in every round a node averages over itself and so many others, drawn from all")
	terminal.InGroup(cmd, networkGroup, "graph-sequence", "node-failures", "link-failures", "random-neighbours")
}

// completeRates offers schedules, and files.
func completeRates(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"constant", "cosine", "warmup-cosine", "step:"}, cobra.ShellCompDirectiveDefault
}

// Spec returns what the flags say, but for networks that take turns: they come with the network (see
// workload.Spec.On). Flags that the command does not have are as if they were not given.
func (f *WorkloadFlags) Spec(cmd *cobra.Command) (workload.Spec, error) {
	s, last := f.spec, f.averageLast
	changed := cmd.Flags().Changed
	for flag, count := range map[string]*int{"local-steps": &s.LocalSteps, "gossip-rounds": &s.GossipRounds,
		"random-neighbours": &s.RandomNeighbours, "average-last": &last} {
		if changed(flag) && *count == 0 {
			*count = -1 // 0 would be a default
		}
	}
	if changed("average-last") {
		s.Weights = workload.LastSteps(last)
	}
	var err error
	if f.kind != "" {
		if s.Kind, err = workload.ParseKind(f.kind); err != nil {
			return s, terminal.Usage(err)
		}
	}
	if f.rates != "" {
		s.LearningRates, err = readRates(f.rates)
	}
	return s, err
}

// readRates returns the schedule of a name, or of the numbers in a file.
func readRates(text string) (workload.Schedule, error) {
	var names []string
	for _, form := range workload.ScheduleForms() {
		name, _, _ := strings.Cut(form, "[")
		name, _, _ = strings.Cut(name, ":")
		names = append(names, name)
	}
	name, _, _ := strings.Cut(text, ":")
	if slices.Contains(names, name) {
		return workload.ParseSchedule(text)
	}
	file, _, err := files.Open(text)
	if errors.Is(err, os.ErrNotExist) {
		return workload.Schedule{}, terminal.Usagef("--learning-rates %s is neither a file nor one of %s%s", text,
			strings.Join(workload.ScheduleForms(), ", "), terminal.DidYouMean(name, names))
	}
	if err != nil {
		return workload.Schedule{}, terminal.Usagef("--learning-rates: %w", err)
	}
	defer file.Close()
	rates, err := parseRates(file)
	if err != nil {
		return rates, terminal.Usagef("--learning-rates: %s: %w", text, err)
	}
	return rates, nil
}

// WorkloadFacts says what is trained and what counts, if it is more than plain gradient descent.
func WorkloadFacts(s workload.Spec) []document.Fact {
	var facts []document.Fact
	fact := func(name string, parts ...string) {
		parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
		if len(parts) > 0 {
			facts = append(facts, document.Fact{Name: name, Value: strings.Join(parts, ", ")})
		}
	}
	when := func(there bool, format string, args ...any) string {
		if !there {
			return ""
		}
		return fmt.Sprintf(format, args...)
	}
	fact("optimizer", when(s.Momentum > 0, "momentum %g%s", s.Momentum, when(s.Nesterov, " (Nesterov)")),
		when(s.LearningRates.String() != "constant", "rates %v", s.LearningRates),
		when(s.WeightDecay > 0, "weight decay %g", s.WeightDecay),
		when(s.LocalSteps > 1, "gossip after every %d steps", s.LocalSteps),
		when(s.GossipRounds > 1, "%d rounds of gossip", s.GossipRounds),
		when(s.GradientTracking, "gradient tracking"))
	q := s.GraphSequence
	fact("changes", when(q != nil, "networks that take turns"),
		when(s.NodeFailures > 0, "nodes fail with probability %g", s.NodeFailures),
		when(s.LinkFailures > 0, "links fail with probability %g", s.LinkFailures),
		when(s.RandomNeighbours > 0, "%d random neighbours", s.RandomNeighbours))
	fact("missed steps", when(s.MissedSteps > 0, "with probability %g, rows of noise %s", s.MissedSteps,
		map[bool]string{true: "carried over", false: "lost"}[s.Carry]))
	fact("counted", when(!s.CountsAll(), "steps %v", s.Weights))
	return facts
}
