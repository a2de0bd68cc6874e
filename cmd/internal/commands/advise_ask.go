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

// knowsNetwork reports whether it is said who talks to whom.
func (f *adviseFlags) knowsNetwork(cmd *cobra.Command) bool {
	return cmd.Flags().Changed("graph") || f.network.GossipFile() != "" ||
		cmd.Flags().Lookup("workload").Value.String() == workload.Prefix.String()
}

// incomplete reports whether something is missing without which there is no advice.
func (f *adviseFlags) incomplete(cmd *cobra.Command) bool {
	given := cmd.Flags().Changed
	privacy := given("budgets") || given("mu") || given("epsilon") && given("delta")
	return !f.knowsNetwork(cmd) || !given("T") || !privacy
}

// mostThatAllTalk is the most nodes whose complete graph is offered: it has an edge for every pair.
const mostThatAllTalk = 5000

// questions asks, and sets the flags that answers stand for, as far as they are not given.
func (f *adviseFlags) questions(cmd *cobra.Command, q *terminal.Questions, out io.Writer) (err error) {
	given := cmd.Flags().Changed
	ask := func(when bool, flag, text, byDefault string, set func(answer string) error) {
		if err == nil && when && !given(flag) {
			_, err = q.Ask(text, byDefault, set)
		}
	}
	number := func(when bool, flag, text, byDefault string) {
		ask(when, flag, text, byDefault, func(answer string) error { return setNumber(cmd, flag, answer) })
	}
	choose := func(when bool, flag, yes, no, text string) {
		if err != nil || !when || given(flag) {
			return
		}
		var is bool
		if is, err = q.Yes(text); err == nil {
			err = setFlag(cmd, flag, map[bool]string{true: yes, false: no}[is])
		}
	}
	fmt.Fprintln(out, "What is your case? Enter takes what is in brackets; Ctrl-C ends.")

	nodes, few := 0, false
	graph := func(form string, numbers ...any) error {
		return terminal.SetAgain(cmd, "graph", fmt.Sprintf(form, numbers...))
	}
	known := f.knowsNetwork(cmd)
	ask(!known, "", "How many nodes train? Or which graph: a file of edges, or a built-in one such as florentine?", "16",
		func(answer string) error {
			if v, err := strconv.ParseFloat(answer, 64); err == nil {
				if nodes = int(v); float64(nodes) != v || nodes < 2 {
					return errors.New("a whole number, at least 2?")
				}
				return nil
			}
			if err := graph("%s", answer); err != nil {
				return err
			}
			_, err := f.network.Load()
			return err
		})
	ask(nodes > 0, "", "Who talks to whom: all (everybody, or a server averages), few (each with some neighbours), ring?", "all",
		func(answer string) error {
			switch {
			case answer == "all" && nodes > mostThatAllTalk:
				return fmt.Errorf("the graph of all is for at most %d nodes: few or ring?", mostThatAllTalk)
			case answer == "all":
				return graph("complete:%d", nodes)
			case answer == "ring":
				return graph("cycle:%d", nodes)
			case answer != "few":
				return errors.New("all, few or ring?")
			}
			few = true
			return nil
		})
	ask(few, "", "How many neighbours has a node?", strconv.Itoa(min(4, nodes-1)), func(answer string) error {
		degree, err := strconv.Atoi(answer)
		if err != nil || degree < 1 || degree >= nodes || nodes*degree%2 != 0 {
			return fmt.Errorf("a whole number below %d, and even if the number of nodes is odd?", nodes)
		}
		return graph("regular:%d,%d", nodes, degree)
	})
	number(true, "T", "How many steps does training take?", "200")
	ask(true, "unit", "Who is protected: record (an example), person (with several records) or silo (all that a node has)?", "record",
		func(answer string) error {
			switch answer {
			case "record":
				return nil
			case "person", "silo":
				return cmd.Flags().Set("unit", answer)
			}
			return errors.New("record, person or silo?")
		})
	silo := f.schema.Unit() == "silo" // which is in every step
	ask(!silo && !given("separation") && !given("schema"), "participations", "How often is a record used, in all steps (epochs)?",
		strconv.Itoa(f.largestDivisor()), func(answer string) error {
			if err := setNumber(cmd, "participations", answer); err != nil {
				return err
			}
			_, err := f.schema.Choose(cmd)
			return err
		})
	level := !given("mu") && !given("budgets")
	number(level, "epsilon", "How much privacy: epsilon? (1 is strong, 8 is weak)", "2")
	number(level, "delta", "... with which delta? (well below one over the number of records)", "1e-6")
	choose(true, "trust", threat.SecLDP.String(), threat.LDP.String(),
		"Do nodes keep to themselves the secrets that they share with a neighbour, whoever asks?")
	choose(!silo, "sampling", samplingSecret, participation.InTurn.String(), "Can a node keep secret which records it draws in a step?")
	missed := false
	ask(true, "missed-steps", "How often does a node miss a step? (a probability)", "0", func(answer string) error {
		v, err := strconv.ParseFloat(answer, 64)
		if err != nil || !(v >= 0 && v < 1) {
			return errors.New("a number from 0 to below 1?")
		}
		if missed = v > 0; missed {
			return cmd.Flags().Set("missed-steps", answer)
		}
		return nil
	})
	choose(missed, "missed-steps carry", "true", "false",
		"Does a node know for certain that a message was not seen, so that the next one can have its noise?")
	number(f.schema.Unit() == "person", "unit batches", "In how many batches may a person have records?", "1")
	limited := false
	ask(true, "memory", "How much memory has a node for noise, such as 4GB? all: as much as it takes", "all", func(answer string) error {
		if limited = answer != "all"; !limited {
			return nil
		}
		err := cmd.Flags().Set("memory", answer)
		if err != nil {
			cmd.Flags().Lookup("memory").Changed = false
		}
		return err
	})
	number(limited, "memory dim", "How many parameters has the model?", "1e6")
	if err == nil {
		fmt.Fprintf(out, "\nThe same without questions:\n  %s %s\n\n", cmd.CommandPath(),
			strings.Join(results.FlagWords(cmd, nil), " "))
	}
	return err
}

// largestDivisor returns the largest number of participations up to 20 that divides the steps.
func (f *adviseFlags) largestDivisor() int {
	for k := 20; k > 1; k-- {
		if f.schema.Steps > 0 && f.schema.Steps%k == 0 {
			return k
		}
	}
	return 1
}

// setNumber sets a flag to a positive number.
func setNumber(cmd *cobra.Command, flag, answer string) error {
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
