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
	"mafalda/internal/lists"
	"mafalda/workload"
)

// WorkloadFlags say what is trained on the network and what of it counts: a workload.Spec.
type WorkloadFlags struct {
	spec        workload.Spec // what flags bind directly
	kind, rates string
	averageLast int
}

// trainingGroup is the name under which help lists the flags.
const trainingGroup = "What is trained"

// Bind binds all flags to a command; the flag of a sequence of networks fills network.
func (f *WorkloadFlags) Bind(cmd *cobra.Command, network *NetworkFlags) {
	terminal.ChoiceVar(cmd, &f.kind, "workload", workload.Model.String(), workload.Kinds(),
		"whose error counts: model (after averaging), message (before), prefix (centralized)")
	f.BindTraining(cmd, network)
	terminal.Whole(cmd.Flags(), &f.averageLast, "average-last",
		"count the errors of the last so many steps alone, as of models that are averaged\n"+
			"or compared there (default: those of all steps)")
	terminal.InGroup(cmd, trainingGroup, "workload", "average-last")
}

// BindTraining binds what nodes do with their gradients, how the network changes, and that nodes may miss steps.
func (f *WorkloadFlags) BindTraining(cmd *cobra.Command, network *NetworkFlags) {
	fl := cmd.Flags()
	fl.Float64Var(&f.spec.Momentum, "optimizer momentum", 0, "of every node, from 0 to below 1; it is not gossiped")
	fl.BoolVar(&f.spec.Nesterov, "optimizer nesterov", false, "Nesterov's form of momentum")
	fl.StringVar(&f.rates, "learning-rates", "constant",
		"how the rate changes, times the base rate:\n"+strings.Join(workload.ScheduleForms(), ", ")+",\n"+
			"or a `FILE` with one number a line")
	fl.Float64Var(&f.spec.WeightDecay, "optimizer decay", 0, "what models lose in a step, times the rate; decoupled from gradients")
	f.spec.LocalSteps, f.spec.GossipRounds = 1, 1
	terminal.Whole(fl, &f.spec.LocalSteps, "optimizer local", "gossip follows every so many gradient steps; T counts these")
	terminal.Whole(fl, &f.spec.GossipRounds, "optimizer rounds", "so many rounds of gossip at a time")
	fl.BoolVar(&f.spec.GradientTracking, "optimizer tracking", false, "nodes gossip and follow the mean gradient, too")
	terminal.Complete(cmd, "learning-rates", completeRates)
	terminal.Family(cmd, "optimizer", "what nodes do with gradients, such as momentum:0.9,nesterov:")
	terminal.InGroup(cmd, trainingGroup, "optimizer", "learning-rates")
	fl.StringVar(&network.GraphSequence, "graph-changes sequence", "",
		"`FILE` of networks that take turns, one a step, over the nodes of --graph: edge lists, separated by empty lines")
	fl.Float64Var(&f.spec.NodeFailures, "graph-changes failures", 0,
		"probability that a node fails in a round of gossip: it keeps its model")
	fl.Float64Var(&f.spec.LinkFailures, "graph-changes links", 0, "probability that an edge fails in a round of gossip")
	terminal.Whole(fl, &f.spec.RandomNeighbours, "graph-changes neighbours",
		"in every round a node averages over itself and so many others, drawn from all")
	terminal.Family(cmd, "graph-changes", "how the network changes, such as failures:0.1,links:0.2:")
	terminal.InGroup(cmd, trainingGroup, "graph-changes")
	fl.Float64Var(&f.spec.MissedSteps, "missed-steps", 0,
		"probability that a node has no gradient in a step, and sends no noise")
	fl.BoolVar(&f.spec.Carry, "missed-steps carry", false, "the next message has the rows of noise of missed steps; otherwise they are lost")
	terminal.Family(cmd, "missed-steps", "")
	terminal.InGroup(cmd, trainingGroup, "missed-steps")
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
	for flag, count := range map[string]*int{"optimizer local": &s.LocalSteps, "optimizer rounds": &s.GossipRounds,
		"graph-changes neighbours": &s.RandomNeighbours, "average-last": &last} {
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
	forms := workload.ScheduleForms()
	name, _, _ := strings.Cut(text, ":")
	if OfForm(forms, text) {
		return workload.ParseSchedule(text)
	}
	file, _, err := files.Open(text)
	if errors.Is(err, os.ErrNotExist) {
		return workload.Schedule{}, terminal.Usagef("--learning-rates %s is neither a file nor one of %s%s", text,
			strings.Join(forms, ", "), terminal.DidYouMean(name, lists.Map(forms, formName)))
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

// OfForm reports whether a value is of one of some forms, such as step:N,x.
func OfForm(forms []string, value string) bool {
	name, _, _ := strings.Cut(value, ":")
	return slices.Contains(lists.Map(forms, formName), name)
}

// formName returns what a form begins with, before its numbers.
func formName(form string) string {
	if at := strings.IndexAny(form, ":["); at >= 0 {
		return form[:at]
	}
	return form
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
