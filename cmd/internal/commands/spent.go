package commands

import (
	"bytes"
	"errors"

	"github.com/spf13/cobra"

	"mafalda/accounting/spent"
	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/terminal"
	"mafalda/internal/fault"
	"mafalda/internal/files"
)

type trainingFlags struct{ json bool }

func (f *trainingFlags) run(cmd *cobra.Command) error {
	a, err := accountOf(cmd.Flags().Arg(0))
	switch {
	case err != nil:
		return err
	case f.json:
		return terminal.WriteJSONLine(cmd.OutOrStdout(), a)
	}
	return spentPage(trainingSpent{a}).Text(cmd.OutOrStdout())
}

// largestDescription is how many bytes a description may have.
const largestDescription = 1 << 20

// describedRun reads a description.
func describedRun(name string) (*spent.Run, error) {
	text, err := files.Read(name, largestDescription)
	if err != nil {
		return nil, terminal.Usage(err)
	}
	run, err := spent.Read(bytes.NewReader(text))
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
