package commands

import (
	"github.com/spf13/cobra"

	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/terminal"
	"mafalda/export"
	"mafalda/factorize/spacetime"
	"mafalda/internal/files"
	"mafalda/plan"
	"mafalda/threat"
)

// trustFlags say against whom noise protects: a plan.Sharing where pairs of nodes share some.
type trustFlags struct {
	trust   string
	sharing plan.Sharing
}

// bind binds --trust, whose meaning about says.
func (f *trustFlags) bind(cmd *cobra.Command, byDefault, about string) {
	trusts := []string{threat.LDP.String(), threat.SecLDP.String()}
	terminal.ChoiceVar(cmd, &f.trust, "trust", byDefault, trusts, about)
	terminal.ChoiceVar(cmd, &f.sharing.Secrets, "trust secrets", export.SecretsGossip, []string{export.SecretsGossip, export.SecretsAll},
		"which pairs may share noise: "+
			"gossip (the edges of the graph), all (up to 500 nodes),\nor a `file` of edges")
	terminal.ChoiceVar(cmd, &f.sharing.Coalitions, "trust coalitions", "1", []string{"1", "2"},
		"who puts together what they know: 1 (nobody: "+
			"single curious nodes),\n2 (any two nodes), or a `file` with the labels of a coalition a line (nodes in none are "+
			"trusted); the eavesdropper is always there")
	cmd.Flags().Float64Var(&f.sharing.LargestPair, "trust largest-pair", spacetime.DefaultLargestPair, "the most "+
		"variance that a pair may share, where a node alone would need 1:\nlarger gains a little, and a node that drops out "+
		"leaves it behind (docs/secrets-optimum.md)")
	terminal.Family(cmd, "trust", "")
}

// choose returns who shares noise; nil if nobody does.
func (f *trustFlags) choose(cmd *cobra.Command) (*plan.Sharing, error) {
	switch f.trust {
	case threat.LDP.String():
		return nil, terminal.Refuse(cmd, "--%s is of secldp", "trust secrets", "trust coalitions", "trust largest-pair")
	case threat.SecLDP.String():
		for _, name := range []string{"trust secrets", "trust coalitions"} {
			if cmd.Flags().Lookup(name).Value.String() == "" {
				return nil, terminal.Usagef("--%s is empty", name)
			}
		}
		sharing := f.sharing
		sharing.LargestPair = given(cmd, "trust largest-pair", f.sharing.LargestPair)
		return &sharing, nil
	}
	return nil, terminal.Usagef("unknown trust model %q: choose ldp or secldp", f.trust)
}

// levelFlags name a file of privacy levels of single nodes.
type levelFlags struct{ file string }

func (f *levelFlags) bind(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.file, "budgets", "", "a privacy level for every node, in the place of --mu, --epsilon, --delta and --clip: CSV `file`\n"+
		"with the columns node, epsilon and delta, or mu, and clip")
	terminal.InGroup(cmd, "Privacy", "budgets")
}

// choose returns the privacy levels of single nodes, and puts their adjacency into the options; nil if all have one level.
func (f *levelFlags) choose(cmd *cobra.Command, privacy *flags.PrivacyFlags, o *plan.Options) (*plan.Levels, error) {
	if !cmd.Flags().Changed("budgets") {
		return nil, nil
	}
	if err := terminal.Refuse(cmd, "--%s: --budgets says it for every node", "mu", "epsilon", "delta", "clip"); err != nil {
		return nil, err
	}
	adjacency, err := privacy.Adjacency()
	if err != nil {
		return nil, err
	}
	o.Privacy = &plan.Privacy{Adjacency: adjacency}
	file, _, err := files.Open(f.file)
	if err != nil {
		return nil, terminal.Usagef("--budgets: %w", err)
	}
	defer file.Close()
	return plan.ReadLevels(file, f.file)
}
