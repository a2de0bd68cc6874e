package flags

import (
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/terminal"
	"mafalda/plan"
)

// BudgetFlags say how much memory a node has: a plan.Budget.
type BudgetFlags struct{ budget plan.Budget }

// Choose returns the budget, nil if no memory is given.
func (f *BudgetFlags) Choose(cmd *cobra.Command) (*plan.Budget, error) {
	switch {
	case !cmd.Flags().Changed("memory"):
		return nil, nil
	case !terminal.Given(cmd, "memory"):
		return nil, terminal.Usagef("--memory: how much? Use --memory 4GB,dim=1e6")
	}
	return f.ChooseAny(cmd)
}

// ChooseAny is Choose where memory may be without a limit.
func (f *BudgetFlags) ChooseAny(cmd *cobra.Command) (*plan.Budget, error) {
	if !cmd.Flags().Changed("memory dim") {
		return nil, terminal.Usagef("--memory: how many parameters has the model? Add dim, for example --memory 4GB,dim=1e6")
	}
	b := f.budget
	if !terminal.Given(cmd, "memory") {
		b.Memory = math.Inf(1)
	}
	return &b, nil
}

// BudgetFacts say what fits a budget, and why a class was chosen; none without a budget.
func BudgetFacts(s *plan.Solution) []document.Fact {
	b := s.Options.Budget
	if b == nil {
		return nil
	}
	steps := s.Problem.Schema.Steps()
	fits := fmt.Sprintf("%s are %s of %d bytes for each of %s parameters; dense needs %d, %s",
		terminal.BytesText(b.Memory), terminal.Count(b.Floats(), "number"), b.NumberBytes(), terminal.Grouped(b.Dim), steps,
		terminal.BytesText(b.Bytes(steps)))
	kept := s.Strategy().NodeCost().Floats
	chosen := fmt.Sprintf("%s, which keeps %s, %s", plan.ClassText(s.Options.Class),
		terminal.Count(kept, "number"), terminal.BytesText(b.Bytes(kept)))
	switch {
	case len(s.Candidates) > 0:
		chosen = fmt.Sprintf("%s, which keep %s: the best at this privacy of those that fit",
			terminal.Count(s.OfClass.Strategy.Parameters().Bandwidth, "band"), terminal.BytesText(b.Bytes(kept)))
	case len(s.Fitting) == 0:
		chosen += ": all strategies fit"
	default:
		chosen += fmt.Sprintf(": the least loss of %d strategies that fit", len(s.Fitting))
	}
	if other, ratio := nextBest(s); other != "" {
		chosen += fmt.Sprintf("\n(the best of another class, %s, has %.4f of it)", other, ratio)
	}
	if kept < steps && s.Options.Budget.Floats() < steps && len(s.Candidates) == 0 {
		chosen += "\n(dense fits any memory if a node makes earlier noise again in every step:\n" +
			"mafalda noise --regenerate, about T/2 times as much to draw)"
	}
	return []document.Fact{{Name: "memory", Value: fits}, {Name: "chosen", Value: chosen}}
}

// nextBest returns the best strategy of a class other than the chosen one, and its loss over the chosen strategy's.
func nextBest(s *plan.Solution) (name string, ratio float64) {
	for _, f := range s.Fitting {
		r := f.Result.Loss / s.Quality.Loss
		if f.Class.Name() != s.Options.Class.Name() && (name == "" || r < ratio) {
			name, ratio = plan.ClassText(f.Class), r
		}
	}
	return name, ratio
}
