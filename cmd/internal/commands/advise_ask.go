package commands

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/results"
	"mafalda/cmd/internal/terminal"
	"mafalda/internal/fault"
	"mafalda/participation"
	"mafalda/threat"
	"mafalda/workload"
)

// ask asks for what is missing, if a person sits at the terminal: every answer is a flag, as if it had been given.
// Nothing is asked with --json or --quiet, nor where nothing that is needed is missing.
func (f *adviseFlags) ask(cmd *cobra.Command) error {
	in, out := cmd.InOrStdin(), cmd.ErrOrStderr()
	if f.JSON || f.Quiet || !terminal.CanAsk(in, out) || !f.incomplete(cmd) {
		return nil
	}
	return f.questions(cmd, terminal.NewQuestions(cmd.Context(), in, out), out)
}

// incomplete reports whether something is missing without which there is no advice.
func (f *adviseFlags) incomplete(cmd *cobra.Command) bool {
	given := cmd.Flags().Changed
	prefix := cmd.Flags().Lookup("workload").Value.String() == workload.Prefix.String()
	network := given("graph") || f.network.GossipFile() != "" || prefix
	privacy := given("budgets") || given("mu") || given("epsilon") && given("delta")
	return !network || !given("T") || !privacy
}

// questions asks, and sets the flags that answers stand for.
func (f *adviseFlags) questions(cmd *cobra.Command, q *terminal.Questions, out io.Writer) error {
	given := cmd.Flags().Changed
	fmt.Fprintln(out, "What is your case? Enter takes what is in brackets; Ctrl-C ends.")
	err := fault.First(
		func() error {
			if given("graph") || f.network.GossipFile() != "" ||
				cmd.Flags().Lookup("workload").Value.String() == workload.Prefix.String() {
				return nil
			}
			return f.askNetwork(cmd, q)
		},
		func() error { return askFor(cmd, q, "T", "How many steps does training take?", "200") },
		func() error { return f.askUnit(cmd, q) },
		func() error { return f.askParticipations(cmd, q) },
		func() error {
			if given("mu") || given("budgets") {
				return nil
			}
			err := askFor(cmd, q, "epsilon", "How much privacy: epsilon? (1 is strong, 8 is weak)", "2")
			if err == nil {
				err = askFor(cmd, q, "delta", "... with which delta? (well below one over the number of records)", "1e-6")
			}
			return err
		},
		func() error {
			return askYes(cmd, q, "trust", threat.SecLDP.String(), threat.LDP.String(),
				"Do nodes keep to themselves the secrets that they share with a neighbour, whoever asks?")
		},
		func() error {
			if f.schema.Unit() == "silo" { // which is in every step
				return nil
			}
			return askYes(cmd, q, "sampling", samplingSecret, participation.InTurn.String(),
				"Can a node keep secret which records it draws in a step?")
		},
		func() error { return f.askAbsence(cmd, q) },
		func() error {
			if f.schema.Unit() != "person" {
				return nil
			}
			return askFor(cmd, q, "unit batches", "In how many batches may a person have records?", "1")
		},
		func() error { return f.askMemory(cmd, q) })
	if err == nil {
		fmt.Fprintf(out, "\nThe same without questions:\n  %s %s\n\n", cmd.CommandPath(),
			strings.Join(results.FlagWords(cmd, nil), " "))
	}
	return err
}

// askFor asks for a number that a flag takes, unless the flag is given.
func askFor(cmd *cobra.Command, q *terminal.Questions, flag, question, byDefault string) error {
	if cmd.Flags().Changed(flag) {
		return nil
	}
	_, err := q.Ask(question, byDefault, func(answer string) error { return set(cmd, flag, answer) })
	return err
}

// set sets a flag to a positive number.
func set(cmd *cobra.Command, flag, answer string) error {
	v, err := strconv.ParseFloat(answer, 64)
	if err != nil || !(v > 0) {
		return fmt.Errorf("%q is no number above 0", answer)
	}
	if err := setFlag(cmd, flag, answer); err != nil {
		cmd.Flags().Lookup(flag).Changed = false
		return errors.New("a whole number?")
	}
	return nil
}

// setFlag sets a flag, or a part of one.
func setFlag(cmd *cobra.Command, name, value string) error {
	family, key, is := strings.Cut(name, " ")
	if is {
		value = key + "=" + value
	}
	return cmd.Flags().Set(family, value)
}

// askYes asks what sets a flag to one of two values, unless it is given.
func askYes(cmd *cobra.Command, q *terminal.Questions, flag, yes, no, question string) error {
	if cmd.Flags().Changed(flag) {
		return nil
	}
	is, err := q.Yes(question)
	if err != nil {
		return err
	}
	if is {
		return setFlag(cmd, flag, yes)
	}
	return setFlag(cmd, flag, no)
}

// mostThatAllTalk is the most nodes whose complete graph is offered: it has an edge for every pair.
const mostThatAllTalk = 5000

// askNetwork asks who talks to whom.
func (f *adviseFlags) askNetwork(cmd *cobra.Command, q *terminal.Questions) error {
	nodes := 0
	_, err := q.Ask("How many nodes train? Or which graph: a file of edges, or a built-in one such as florentine?",
		"16", func(answer string) error {
			if v, err := strconv.ParseFloat(answer, 64); err == nil {
				if nodes = int(v); float64(nodes) != v || nodes < 2 {
					return errors.New("a whole number, at least 2?")
				}
				return nil
			}
			if err := terminal.SetAgain(cmd, "graph", answer); err != nil {
				return err
			}
			_, err := f.network.Load()
			return err
		})
	if err != nil || nodes == 0 {
		return err
	}
	graph := ""
	kind, err := q.Ask("Who talks to whom: all (everybody, or a server averages), few (each with some neighbours), ring?", "all",
		func(answer string) error {
			switch {
			case answer == "all" && nodes > mostThatAllTalk:
				return fmt.Errorf("the graph of all is for at most %d nodes: few or ring?", mostThatAllTalk)
			case answer == "all":
				graph = fmt.Sprintf("complete:%d", nodes)
			case answer == "ring":
				graph = fmt.Sprintf("cycle:%d", nodes)
			case answer != "few":
				return errors.New("all, few or ring?")
			}
			return nil
		})
	if err == nil && kind == "few" {
		_, err = q.Ask("How many neighbours has a node?", strconv.Itoa(min(4, nodes-1)), func(answer string) error {
			degree, err := strconv.Atoi(answer)
			if err != nil || degree < 1 || degree >= nodes || nodes*degree%2 != 0 {
				return fmt.Errorf("a whole number below %d, and even if the number of nodes is odd?", nodes)
			}
			graph = fmt.Sprintf("regular:%d,%d", nodes, degree)
			return nil
		})
	}
	if err != nil {
		return err
	}
	return terminal.SetAgain(cmd, "graph", graph)
}

// askParticipations asks how often a record takes part.
func (f *adviseFlags) askParticipations(cmd *cobra.Command, q *terminal.Questions) error {
	given := cmd.Flags().Changed
	if given("participations") || given("separation") || given("schema") || f.schema.Unit() == "silo" {
		return nil
	}
	steps, byDefault := f.schema.Steps, 1
	for k := 1; k <= min(steps, 20); k++ {
		if steps%k == 0 {
			byDefault = k
		}
	}
	_, err := q.Ask("How often is a record used, in all steps (epochs)?", strconv.Itoa(byDefault),
		func(answer string) error {
			if err := set(cmd, "participations", answer); err != nil {
				return err
			}
			_, err := f.schema.Choose(cmd)
			return err
		})
	return err
}

// askAbsence asks how often nodes miss steps.
func (f *adviseFlags) askAbsence(cmd *cobra.Command, q *terminal.Questions) error {
	if cmd.Flags().Changed("missed-steps") {
		return nil
	}
	answer, err := q.Ask("How often does a node miss a step? (a probability)", "0", func(answer string) error {
		if v, err := strconv.ParseFloat(answer, 64); err != nil || !(v >= 0 && v < 1) {
			return errors.New("a number from 0 to below 1?")
		}
		return nil
	})
	if v, _ := strconv.ParseFloat(answer, 64); err != nil || v == 0 {
		return err
	}
	if err := cmd.Flags().Set("missed-steps", answer); err != nil || cmd.Flags().Changed("missed-steps carry") {
		return err
	}
	return askYes(cmd, q, "missed-steps carry", "true", "false",
		"Does a node know for certain that a message was not seen, so that the next one can have its noise?")
}

// askUnit asks who is protected.
func (f *adviseFlags) askUnit(cmd *cobra.Command, q *terminal.Questions) error {
	if cmd.Flags().Changed("unit") {
		return nil
	}
	_, err := q.Ask("Who is protected: record (an example), person (with several records) or silo (all that a node has)?", "record",
		func(answer string) error {
			switch answer {
			case "record":
				return nil
			case "person", "silo":
				return cmd.Flags().Set("unit", answer)
			}
			return errors.New("record, person or silo?")
		})
	return err
}

// askMemory asks what a node can keep.
func (f *adviseFlags) askMemory(cmd *cobra.Command, q *terminal.Questions) error {
	if cmd.Flags().Changed("memory") {
		return nil
	}
	answer, err := q.Ask("How much memory has a node for noise, such as 4GB? all: as much as it takes", "all",
		func(answer string) error {
			if answer == "all" {
				return nil
			}
			if err := cmd.Flags().Set("memory", answer); err != nil {
				cmd.Flags().Lookup("memory").Changed = false
				return err
			}
			return nil
		})
	if err != nil || answer == "all" {
		return err
	}
	return askFor(cmd, q, "memory dim", "How many parameters has the model?", "1e6")
}
