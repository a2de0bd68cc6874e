package commands

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/accounting/spent"
	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/terminal"
	"mafalda/internal/fault"
	"mafalda/internal/files"
)

func newSpentCmd() *cobra.Command {
	json := false
	cmd := &cobra.Command{
		Use:   "spent RUN.toml",
		Short: "Say what a training of another program gives away in total",
		Long: `Account for a training of another program (Flower, p2pfl, NVFlare, Opacus, or your own loop) from a description of its rounds: the
total epsilon by round, for whom it holds, what the description leaves open, and what would keep it to what was announced.

A description is TOML, such as

    preset = "flower-local-dp"    # or ` + strings.Join(spent.Presets(), ", ") + `, or none
    rounds = 20
    clip = 1.0
    epsilon = 3.0                 # what is announced for a round
    delta = 1e-5

Keys: unit (record, person, silo: who is protected), delta, adjacency (zero-out, replace-one); and of a round: rounds, mechanism
(gaussian, matrix, laplace, svt), probability (drawn in secret), recipients (that get noise of their own for the same data), clip, and one of
sigma, noise_multiplier and epsilon (with sensitivity, announced_delta); weight (the largest of a unit in a mean, over its equal share), count_std (of
adaptive clipping), matrix (C.npy or the folder of an export, with participations and separation, or in every round), parameters, fraction,
noise_var, epsilon_release. Several [[phase]] tables are phases with keys of their own.
docs/is-my-epsilon-right.md explains them.`,
		Example: `  mafalda spent flower.toml
  mafalda spent flower.toml --json`,
		Args: terminal.ExactArgs(1, "one description"),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := accountOf(args[0])
			switch {
			case err != nil:
				return err
			case json:
				return terminal.WriteJSONLine(cmd.OutOrStdout(), a)
			}
			return spentPage(trainingSpent{a}).Text(cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&json, "json", false, "print one JSON object")
	return cmd
}

// largestDescription is how many bytes a description may have.
const largestDescription = 1 << 20

// describedRun reads a description.
func describedRun(name string) (*spent.Run, error) {
	file, _, err := files.Open(name)
	if err != nil {
		return nil, terminal.Usage(err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, largestDescription+1))
	if err == nil && len(text) > largestDescription {
		return nil, terminal.Usagef("%s: no description of a training: more than a megabyte", name)
	}
	var run *spent.Run
	if err == nil {
		run, err = spent.Read(bytes.NewReader(text))
	}
	return run, ofDescription(name, err)
}

// ofDescription says where what is wrong with a description stands.
func ofDescription(name string, err error) error {
	if _, bad := errors.AsType[*fault.Argument](err); bad || errors.Is(err, spent.ErrSyntax) {
		return terminal.Usagef("%s: %s", name, fault.Keyed(err))
	}
	return err
}

// accountOf reads a description, and accounts for it.
func accountOf(name string) (*spent.Account, error) {
	run, err := describedRun(name)
	if err != nil {
		return nil, err
	}
	a, err := run.Account()
	return a, ofDescription(name, err)
}

// trainingSpent is what a training has given away.
type trainingSpent struct{ *spent.Account }

// Whole is what all rounds have given away.
func (a trainingSpent) Whole() spent.Spent { return a.Rounds[len(a.Rounds)-1] }

var spentPage = document.Page[trainingSpent](pages, "spent")
