package verify

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"mafalda/factorize"
	"mafalda/internal/rounding"
	"mafalda/participation"
	"mafalda/strategy"
)

// fineGap is the relative precision to which an optimum is computed again: finer than what the manifest may claim.
func (v *verification) fineGap() float64 {
	return math.Max(math.Min(v.export.Manifest.Tolerance, 1e-7), factorize.MinGap(v.export.Manifest.Steps))
}

// boundIs checks a bound, whose place in the manifest is again, against an optimum: it must not be above a loss that
// was reached. A bound that is weaker than what the optimum could prove is one as well, and what it leaves open is its
// gap.
func (v *verification) boundIs(check string, again *float64, says float64, best *factorize.Result) {
	*again = best.Loss
	v.compare(check, fmt.Sprintf("%s is proven, %s is reached; the manifest says %s", textDown(best.Bound()),
		textUp(best.Loss), textDown(says)))
}

// overlapBound checks the lower bound of a strategy that is not the dense optimum, which best is, under the schema or
// under fewer patterns. Where patterns overlap a search proves more, and what it proves is searched again.
func (v *verification) overlapBound(ctx context.Context, c strategy.Strategy, h *mat.SymDense,
	best *factorize.Result) error {
	says := v.export.Manifest.LowerBound
	if participation.IsPartition(v.schema) || says <= best.LowerBound {
		v.boundIs("lower bound", &v.again.LowerBound, says, best)
		return nil
	}
	proven, err := factorize.OverlapBound(ctx, h, strategy.GramOf(c), v.schema)
	if err != nil {
		return err
	}
	proven = math.Max(proven, best.LowerBound)
	v.again.LowerBound = proven * (1 + sameSearch)
	v.compare("lower bound", fmt.Sprintf("%s is proven; the manifest says %s", textDown(proven), textDown(says)))
	return nil
}

// denseBound proves the lower bound by the exported strategy or, if that is not enough, by optimizing from there.
func (v *verification) denseBound(ctx context.Context, c strategy.Strategy, h *mat.SymDense) error {
	m := v.export.Manifest
	v.refuseRatio()
	x := strategy.GramOf(c)
	bound, err := factorize.LowerBound(h, x, v.schema)
	if err != nil {
		return err
	}
	if m.LowerBound <= bound {
		v.again.LowerBound = bound
		v.compare("lower bound", fmt.Sprintf("%s is proven by the strategy itself; the manifest says %s", textDown(bound),
			textDown(m.LowerBound)))
		return nil
	}
	best, err := factorize.Dense{}.Optimize(ctx, factorize.Mean(h), v.schema,
		factorize.Options{Gap: v.fineGap(), Start: x})
	if err != nil {
		return err
	}
	v.boundIs("lower bound", &v.again.LowerBound, m.LowerBound, best)
	return nil
}

// refuseRatio refuses what only strategies of other classes than dense have.
func (v *verification) refuseRatio() {
	if s := v.export.Manifest.Strategy; s.Ratio != 0 || s.ClassBound != 0 || s.ClassGap != nil {
		v.add("ratio", false, "strategy.ratio, class_bound and class_gap are not for the dense optimum")
	}
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
	v.boundIs("class bound", &v.again.Strategy.ClassBound, says, best)
	if gap == nil {
		v.skip("strategy.class_gap")
		return nil
	}
	v.again.Strategy.ClassGap = new((m.Loss - says) / says)
	v.compare("class gap", fmt.Sprintf("the loss is within %s of the bound of the class", rounding.UpText(*gap, 2)))
	return nil
}
