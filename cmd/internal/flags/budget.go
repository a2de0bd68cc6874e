package flags

import (
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

// boughtMemory is what the page budget says: what fits a budget, and why a class was chosen.
type boughtMemory struct {
	*plan.Solution
	Class, Other string
	Ratio        float64 // loss of the best strategy of another class over the chosen strategy's
}

var budgetPage = document.Page[boughtMemory](factPages, "budget")

// BudgetFacts say what fits a budget, and why a class was chosen; none without a budget.
func BudgetFacts(s *plan.Solution) []document.Fact {
	if s.Options.Budget == nil {
		return nil
	}
	m := boughtMemory{Solution: s, Class: plan.ClassText(s.Options.Class)}
	for _, f := range s.Fitting {
		r := f.Result.Loss / s.Quality.Loss
		if f.Class.Name() != s.Options.Class.Name() && (m.Other == "" || r < m.Ratio) {
			m.Other, m.Ratio = plan.ClassText(f.Class), r
		}
	}
	return facts(budgetPage(m))
}
