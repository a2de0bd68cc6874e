package commands

import (
	"github.com/spf13/cobra"

	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/terminal"
	"mafalda/internal/files"
	"mafalda/plan"
	"mafalda/threat"
)

// trustFlags say against whom noise protects: a plan.Sharing where pairs of nodes share some.
type trustFlags struct {
	trust   string
	sharing plan.Sharing
}

// choose returns who shares noise; nil if no nodes do.
func (f *trustFlags) choose(cmd *cobra.Command) (*plan.Sharing, error) {
	if f.trust == threat.LDP.String() {
		return nil, terminal.Refuse(cmd, "--%s is for --trust secldp", "trust secrets", "trust coalitions", "trust largest-pair")
	}
	for _, name := range []string{"trust secrets", "trust coalitions"} {
		if cmd.Flags().Lookup(name).Value.String() == "" {
			return nil, terminal.Usagef("--%s is empty", name)
		}
	}
	return &f.sharing, nil
}

// levelFlags name a file of privacy levels of single nodes.
type levelFlags struct{ file string }

// choose returns the privacy levels of single nodes, and puts their adjacency into the options; nil if all have one level.
func (f *levelFlags) choose(cmd *cobra.Command, privacy *flags.PrivacyFlags, o *plan.Options) (*plan.Levels, error) {
	if !cmd.Flags().Changed("budgets") {
		return nil, nil
	}
	o.Privacy = &plan.Privacy{Adjacency: privacy.Adjacency}
	file, _, err := files.Open(f.file)
	if err != nil {
		return nil, terminal.Usagef("--budgets: %w", err)
	}
	defer file.Close()
	return plan.ReadLevels(file, f.file)
}
