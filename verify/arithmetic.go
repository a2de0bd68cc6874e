package verify

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"mafalda/factorize"
	"mafalda/optim"
	"mafalda/participation"
)

// arithmetic checks what follows from other numbers of the manifest alone.
func (v *verification) arithmetic() {
	m := v.export.Manifest
	nodes, steps := 1, v.spec.Counted(m.Steps)
	if m.Graph != nil {
		nodes = m.Graph.Nodes
	}
	if m.Objective != "" {
		steps = 1
	}
	q := factorize.Quality{Loss: m.Loss}
	claims := []claim{{"loss, sens_squared·squared_error,", m.Loss, m.SensSquared * m.SquaredError, sameFormula},
		{"rmse", m.RMSE, q.RMSE(nodes, steps), sameFormula}}
	if m.LowerBound > 0 && !m.Binned() {
		claims = append(claims, claim{"gap", m.Gap, (m.Loss - m.LowerBound) / m.LowerBound, sameFormula})
	} else if m.Gap != 0 {
		claims = append(claims, claim{"gap", m.Gap, 0, 0})
	}
	claims = append(claims, v.atPrivacy()...)
	if m.SharedLoss > 0 {
		claims = append(claims, claim{"strategy.ratio", m.Strategy.Ratio, m.Loss / m.SharedLoss, sameFormula})
	}
	for _, name := range slices.Sorted(maps.Keys(m.Baselines)) {
		b := m.Baselines[name]
		key := "baselines." + name
		claims = append(claims, claim{key + ".loss", b.Loss, b.SensSquared * b.SquaredError, sameFormula})
		switch {
		case m.Space != nil && m.Sampled():
			claims = append(claims, v.spaceAtPrivacy(name)...)
		case b.ErrorAtPrivacy != 0 && m.Sampled():
			claims = append(claims, claim{key + ".error_at_privacy", b.ErrorAtPrivacy, 0, 0})
		case b.ErrorAtPrivacy != 0:
			claims = append(claims, claim{key + ".error_at_privacy", b.ErrorAtPrivacy,
				m.ErrorAtPrivacy / m.Loss * b.Loss, 4 * sameFormula})
		case m.ErrorAtPrivacy != 0 && !m.Sampled():
			v.skip(key + ".error_at_privacy")
		}
	}
	v.compare("arithmetic", "loss, rmse and gap follow from each other", claims...)
}

// ending checks what the manifest says of the optimizer's way, as far as it can contradict itself.
func (v *verification) ending() {
	m := v.export.Manifest
	v.skip("tolerance", "iterations", "status", "history")
	known := false
	for s := optim.Converged; s <= optim.Stalled; s++ {
		known = known || s.String() == m.Status
	}
	if !known {
		v.add("ending", false, "%q is no way for an optimization to end", m.Status)
		return
	}
	converged := m.Status == optim.Converged.String()
	optimal := isDense(m.Strategy) && m.PerNode == nil && participation.IsPartition(v.schema)
	if converged && optimal && m.Gap > m.Tolerance {
		v.add("ending", false, "the gap is %v, above the tolerance; the manifest says %s with a tolerance of %v",
			m.Gap, m.Status, m.Tolerance)
		return
	}
	if err := v.history(converged); err != nil {
		v.add("ending", false, "%v", err)
		return
	}
	v.add("ending", true, "the history of the run does not contradict its end")
}

// history checks that bounds rose to the end's, that no loss was below them, and that the last loss is the optimum's.
func (v *verification) history(converged bool) error {
	m := v.export.Manifest
	var bound float64
	least := math.Inf(1)
	for i, p := range m.History {
		if !(p.Loss > 0) || p.LowerBound < bound {
			return fmt.Errorf("history[%d] has a loss of %v and a bound of %v, after one of %v", i, p.Loss,
				p.LowerBound, bound)
		}
		bound, least = p.LowerBound, math.Min(least, p.Loss)
	}
	if least < bound*(1-sameMatrix) {
		return fmt.Errorf("a loss in the history, %v, is below a bound in it, %v", least, bound)
	}
	if !converged || len(m.History) == 0 {
		return nil
	}
	end := m.History[len(m.History)-1]
	optimum := m.Loss
	if m.SharedLoss > 0 {
		optimum = m.SharedLoss
	} else if m.Strategy.Ratio > 0 {
		optimum = m.Loss / m.Strategy.Ratio
	} else if !participation.IsPartition(v.schema) {
		return nil // the history is that of a relaxation
	}
	if math.Abs(end.Loss-optimum) > 1e-7*optimum {
		return fmt.Errorf("the history ends with a loss of %v, the optimum has %v", end.Loss, optimum)
	}
	if m.SharedLoss == 0 && math.Abs(end.LowerBound-m.LowerBound) > sameMatrix*m.LowerBound {
		return fmt.Errorf("the history ends with a bound of %v, the manifest has %v", end.LowerBound, m.LowerBound)
	}
	return nil
}
