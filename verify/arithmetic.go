package verify

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/factorize/baselines"
	"mafalda/measure"
	"mafalda/optim"
	"mafalda/participation"
)

// arithmetic checks what follows from other numbers of the manifest alone: in a copy of it all that follows is
// computed.
func (v *verification) arithmetic() {
	m := v.export.Manifest
	follows := *m
	nodes, steps := 1, v.spec.Counted(m.Steps)
	if m.Graph != nil {
		nodes = m.Graph.Nodes
	}
	if m.Objective != "" {
		steps = 1
	}
	follows.Loss, follows.Gap = m.SensSquared*m.SquaredError, 0
	follows.RMSE = factorize.Quality{Loss: m.Loss}.RMSE(nodes, steps)
	cost, bound := m.Loss, m.LowerBound
	if m.Sampled() {
		cost, bound = m.ErrorAtPrivacy, m.Sampling.LowerBound
	}
	if bound > 0 {
		follows.Gap = (cost - bound) / bound
	}
	if m.SharedLoss > 0 {
		follows.Strategy.Ratio = m.Loss / m.SharedLoss
	}
	v.atPrivacy(&follows)
	follows.Baselines = map[string]export.Baseline{}
	for _, name := range slices.Sorted(maps.Keys(m.Baselines)) {
		b := m.Baselines[name]
		b.Loss = b.SensSquared * b.SquaredError
		b.ErrorAtPrivacy = v.baselineAtPrivacy(name)
		follows.Baselines[name] = b
	}
	v.compareWith(&follows, "arithmetic", "loss, rmse and gap follow from each other")
}

// baselineAtPrivacy returns the error of a baseline with the noise for the privacy, by other numbers of the manifest:
// what the manifest says where that is not known.
func (v *verification) baselineAtPrivacy(name string) float64 {
	m := v.export.Manifest
	b := m.Baselines[name]
	switch {
	case m.Sampled() && m.Space == nil:
		return 0
	case b.ErrorAtPrivacy == 0:
		if m.ErrorAtPrivacy != 0 || m.Sampled() {
			v.skip("baselines." + name + ".error_at_privacy")
		}
		return 0
	case m.Sampled() && name == baselines.DECOR && m.Privacy != nil && m.Privacy.Epsilon != nil && m.Privacy.Delta != nil:
		noise, err := v.noiseFor(1) // DECOR has one band
		if err != nil {
			return math.NaN()
		}
		return measure.ErrorAtPrivacy(noise, b.SquaredError)
	}
	return m.ErrorAtPrivacy / m.Loss * b.Loss
}

// ending checks what the manifest says of the optimizer's way, as far as it can contradict itself.
func (v *verification) ending() {
	m := v.export.Manifest
	known := false
	for s := optim.Converged; s <= optim.Stalled; s++ {
		known = known || s.String() == m.Status
	}
	if !known {
		v.add("ending", false, "%q is no way for an optimization to end", m.Status)
		return
	}
	converged := m.Status == optim.Converged.String()
	optimal := isDense(m.Strategy) && m.PerNode == nil && !m.Sampled() && participation.IsPartition(v.schema)
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
		return nil // the history belongs to a relaxation
	}
	if math.Abs(end.Loss-optimum) > 1e-7*optimum {
		return fmt.Errorf("the history ends with a loss of %v, the optimum has %v", end.Loss, optimum)
	}
	if m.SharedLoss == 0 && math.Abs(end.LowerBound-m.LowerBound) > sameMatrix*m.LowerBound {
		return fmt.Errorf("the history ends with a bound of %v, the manifest has %v", end.LowerBound, m.LowerBound)
	}
	return nil
}
