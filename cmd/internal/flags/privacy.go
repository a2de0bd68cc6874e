package flags

import (
	"fmt"

	"github.com/spf13/cobra"

	"mafalda/accounting"
	"mafalda/cmd/internal/terminal"
	"mafalda/plan"
)

// PrivacyFlags say how much privacy is wanted, if any.
type PrivacyFlags struct {
	Adjacency                accounting.Adjacency
	mu, epsilon, delta, clip float64
}

// Choose returns the privacy that the flags ask for, nil for none.
func (f *PrivacyFlags) Choose(cmd *cobra.Command) (*plan.Privacy, error) {
	if f.epsilon != 0 && f.delta == 0 {
		return nil, terminal.Usagef("--epsilon %v without a delta: use --delta, for example --delta 1e-6", f.epsilon)
	}
	if f.mu == 0 && f.epsilon == 0 && f.delta == 0 {
		if cmd.Flags().Changed("budgets") {
			return nil, nil
		}
		return nil, terminal.Refuse(cmd, "--%s is for a level of privacy: add --epsilon and --delta, or --mu", "clip")
	}
	return &plan.Privacy{Target: accounting.Target{Mu: f.mu, Epsilon: f.epsilon, Delta: f.delta}, Clip: f.clip,
		Adjacency: f.Adjacency}, nil
}

// AdjacencyText says what an adjacency is, by its name, of units that are protected: a record, a person or a silo.
func AdjacencyText(name, unit string) string {
	a, err := accounting.ParseAdjacency(name)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%v: one %s moves %s by at most %s", a, unit,
		map[bool]string{false: "a sum of gradients", true: "a round's update"}[unit == unitSilo], ContributionText(name))
}

// Clipped says what is clipped, where such a unit is protected.
func Clipped(unit string) string {
	if unit == unitSilo {
		return "updates"
	}
	return "sums of gradients"
}

// ContributionText says how far one record can move a sum of gradients, by accounting.Adjacency.Contribution.
func ContributionText(adjacency string) string {
	if a, err := accounting.ParseAdjacency(adjacency); err == nil && a.Contribution(1) == 1 {
		return "clip"
	}
	return "2·clip"
}
