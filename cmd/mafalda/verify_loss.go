package main

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/internal/cli"
	"mafalda/optim"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/workload"
)

// loss checks squared error and loss, and proves the lower bounds anew.
func (v *verification) loss(ctx context.Context, c strategy.Strategy, h *mat.SymDense) error {
	m := v.export.Manifest
	q, err := factorize.Evaluate(c, factorize.Mean(h), v.schema)
	if err != nil {
		return err
	}
	v.lossIs(q, objectives[0])
	v.estimate(h, c)
	if m.Weights != nil {
		v.add("objective", false, "objective_weights are for the objective max; the manifest names none")
	}
	if isDense(m.Strategy) && participation.IsPartition(v.schema) {
		return v.denseBound(ctx, c, h)
	}
	best, err := factorize.Dense{}.Optimize(ctx, factorize.Mean(h), participation.Relaxation(v.schema), factorize.Options{Gap: v.fineGap()})
	if err != nil {
		return err
	}
	if err := v.overlapBound(ctx, c, h, best); err != nil {
		return err
	}
	switch {
	case !participation.IsPartition(v.schema) && m.Strategy.Ratio != 0:
		v.add("ratio", false, "strategy.ratio is for patterns that do not overlap")
	case !participation.IsPartition(v.schema):
	case m.Strategy.Ratio == 0 || m.Status != optim.Converged.String():
		v.skip("strategy.ratio")
	default:
		v.compare("ratio", fmt.Sprintf("the loss is %v times that of the dense optimum", m.Strategy.Ratio),
			claim{"strategy.ratio", m.Strategy.Ratio, q.Loss / best.Loss, 2 * math.Max(m.Tolerance, 1e-9)})
	}
	return v.classBound(ctx, h)
}

// fineGap is the relative precision to which an optimum is computed again: finer than what the manifest may claim.
func (v *verification) fineGap() float64 {
	return math.Max(math.Min(v.export.Manifest.Tolerance, 1e-7), factorize.MinGap(v.export.Manifest.Steps))
}

// boundIs checks a bound against an optimum: it must not be above a loss that was reached. A bound that is weaker
// than what the optimum could prove is one as well, and what it leaves open is its gap.
func (v *verification) boundIs(name, key string, says float64, best *factorize.Result) {
	if says > best.Loss {
		v.add(name, false, "%s is at most %v, a loss that is reached; the manifest says %v", key, best.Loss, says)
		return
	}
	v.add(name, true, "%s is proven, %s is reached; the manifest says %s", cli.DecimalDown(best.Bound(), 12), cli.DecimalUp(best.Loss, 12),
		cli.DecimalDown(says, 12))
}

// searched is how far apart the bounds are that searches on different processors prove.
const searched = 1e-7

// overlapBound checks the lower bound of a strategy that is not the dense optimum, which best is, under the schema or under
// fewer patterns. Where patterns overlap a search proves more, and what it proves is searched again.
func (v *verification) overlapBound(ctx context.Context, c strategy.Strategy, h *mat.SymDense, best *factorize.Result) error {
	says := v.export.Manifest.LowerBound
	if participation.IsPartition(v.schema) || says <= best.LowerBound {
		v.boundIs("lower bound", "lower_bound", says, best)
		return nil
	}
	proven, err := factorize.OverlapBound(ctx, h, strategy.GramOf(c), v.schema)
	if err != nil {
		return err
	}
	proven = math.Max(proven, best.LowerBound)
	v.add("lower bound", says <= proven*(1+searched), "%s is proven; the manifest says %s", cli.DecimalDown(proven, 12), cli.DecimalDown(says, 12))
	return nil
}

// denseBound proves the lower bound by the exported strategy or, if that is not enough, by optimizing from there.
func (v *verification) denseBound(ctx context.Context, c strategy.Strategy, h *mat.SymDense) error {
	m := v.export.Manifest
	if m.Strategy.Ratio != 0 || m.Strategy.ClassBound != 0 || m.Strategy.ClassGap != nil {
		v.add("ratio", false, "strategy.ratio, class_bound and class_gap are not for the dense optimum")
	}
	x := strategy.GramOf(c)
	bound, err := factorize.LowerBound(h, x, v.schema)
	if err != nil {
		return err
	}
	if m.LowerBound <= bound {
		v.add("lower bound", true, "%s is proven by the strategy itself; the manifest says %s", cli.DecimalDown(bound, 12), cli.DecimalDown(m.LowerBound, 12))
		return nil
	}
	best, err := factorize.Dense{}.Optimize(ctx, factorize.Mean(h), v.schema, factorize.Options{Gap: v.fineGap(), Start: x})
	if err != nil {
		return err
	}
	v.boundIs("lower bound", "lower_bound", m.LowerBound, best)
	return nil
}

// classBound checks the bound for strategies of the class alone, where there is one.
func (v *verification) classBound(ctx context.Context, h *mat.SymDense) error {
	m := v.export.Manifest
	says, gap := m.Strategy.ClassBound, m.Strategy.ClassGap
	class, err := factorize.ClassOf(m.Strategy.Class)
	if err != nil || !class.Traits().Certified {
		if says != 0 || gap != nil {
			v.add("class bound", false, "there is none for class %s; the manifest says %v", m.Strategy.Class, says)
		}
		return nil
	}
	if class.Traits().Bandwidth != nil {
		if err := strategy.CheckBandwidth(m.Strategy.Bandwidth, m.Steps); err != nil {
			return err
		}
		if class, err = class.With(factorize.Parameters{Bandwidth: m.Strategy.Bandwidth}); err != nil {
			return err
		}
	}
	best, err := class.Optimize(ctx, factorize.Mean(h), v.schema, factorize.Options{Gap: v.fineGap()})
	if err != nil {
		return err
	}
	if says == 0 && gap == nil {
		v.skip("strategy.class_bound", "strategy.class_gap")
		return nil
	}
	v.boundIs("class bound", "strategy.class_bound", says, best)
	if gap == nil {
		v.skip("strategy.class_gap")
		return nil
	}
	v.compare("class gap", fmt.Sprintf("the loss is within %s of the bound of the class", cli.DecimalUp(*gap, 2)),
		claim{"strategy.class_gap", *gap, (m.Loss - says) / says, sameFormula})
	return nil
}

// estimate checks what the manifest says about an estimated Gram matrix.
func (v *verification) estimate(h *mat.SymDense, c strategy.Strategy) {
	claimed := v.export.Manifest.Gram
	if claimed == nil || v.sketch == nil {
		return
	}
	m := v.export.Manifest
	again := *claimed
	optimum := isDense(m.Strategy) && participation.IsPartition(v.schema)
	if err := judge(&again, v.sketch, h, c, optimum, m.Gap); err != nil {
		v.add("estimate", false, "%v", err)
		return
	}
	claims := v.estimateClaims(v.sketch, again)
	text := fmt.Sprintf("of the Gram matrix: the loss within %s", cli.DecimalUp(*again.LossError, 2))
	if again.ExcessBound != nil {
		text += fmt.Sprintf(", C within %s of the optimum", cli.DecimalUp(*again.ExcessBound, 2))
	}
	v.compare("estimate", text, claims...)
}

// estimateClaims compares what the manifest says of an estimate with what it is. Unit vectors leave no choice to a seed.
func (v *verification) estimateClaims(s *workload.Sketch, is export.Gram) []claim {
	says := v.export.Manifest.Gram
	if says.Confidence == 1 {
		v.skip("gram.seed")
	}
	claims := append(optional("gram.loss_error", says.LossError, is.LossError), optional("gram.excess_bound", says.ExcessBound, is.ExcessBound)...)
	return append(claims, claim{"gram.probes", float64(says.Probes), float64(s.Probes()), 0})
}

// optional compares numbers that may be absent; NaN stands for what is not there.
func optional(key string, says, is *float64) []claim {
	if says == nil && is == nil {
		return nil
	}
	value := func(x *float64) float64 {
		if x == nil {
			return math.NaN()
		}
		return *x
	}
	return []claim{{key, value(says), value(is), 1e-7}}
}

// lossIs compares what was computed with the manifest.
func (v *verification) lossIs(q factorize.Quality, o objective) {
	m := v.export.Manifest
	v.compare("loss", fmt.Sprintf("%s, squared error %s, as the manifest says", cli.DecimalUp(q.Loss, 12), cli.DecimalUp(q.SquaredError, 12)),
		claim{"squared_error", m.SquaredError, q.SquaredError, sameMatrix}, claim{"loss", m.Loss, q.Loss, sameMatrix})
}

// arithmetic checks what follows from other numbers of the manifest alone.
func (v *verification) arithmetic() {
	m := v.export.Manifest
	nodes, steps := 1, m.Steps
	if m.Graph != nil {
		nodes = m.Graph.Nodes
	}
	if m.Objective != "" {
		steps = 1
	}
	q := factorize.Quality{Loss: m.Loss}
	claims := []claim{{"loss, sens_squared·squared_error,", m.Loss, m.SensSquared * m.SquaredError, sameFormula},
		{"rmse", m.RMSE, q.RMSE(nodes, steps), sameFormula}}
	if m.LowerBound > 0 {
		claims = append(claims, claim{"gap", m.Gap, (m.Loss - m.LowerBound) / m.LowerBound, sameFormula})
	} else if m.Gap != 0 {
		claims = append(claims, claim{"gap", m.Gap, 0, 0})
	}
	if m.SharedLoss > 0 {
		claims = append(claims, claim{"strategy.ratio", m.Strategy.Ratio, m.Loss / m.SharedLoss, sameFormula})
	}
	for name, b := range m.Baselines {
		claims = append(claims, claim{"baselines." + name + ".loss", b.Loss, b.SensSquared * b.SquaredError,
			sameFormula})
	}
	v.compare("arithmetic", "loss, rmse and gap follow from each other", claims...)
}

// ending checks what the manifest says of the optimizer's way, as far as it can contradict itself.
func (v *verification) ending() {
	m := v.export.Manifest
	v.skip("tolerance", "iterations", "status", "history")
	known := false
	for s := optim.Converged; s <= optim.Interrupted; s++ {
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
