package verify

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/internal/rounding"
	"mafalda/measure"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/workload"
)

// estimate checks what the manifest says about an estimated Gram matrix.
func (v *verification) estimate(h *mat.SymDense, c strategy.Strategy) {
	claimed := v.export.Manifest.Gram
	if claimed == nil || v.estimated == nil {
		return
	}
	m := v.export.Manifest
	again := *claimed
	d, err := measure.Judge(&again, v.estimated, h, c)
	if err == nil && isDense(m.Strategy) && participation.IsPartition(v.schema) {
		err = d.Optimum(m.Gap)
	}
	if err != nil {
		v.add("estimate", false, "%v", err)
		return
	}
	claims := v.estimateClaims(v.estimated, again)
	text := fmt.Sprintf("of the Gram matrix: the loss within %s", rounding.UpText(*again.LossError, 2))
	if again.ExcessBound != nil {
		text += fmt.Sprintf(", C within %s of the optimum", rounding.UpText(*again.ExcessBound, 2))
	}
	v.compare("estimate", text, claims...)
}

// estimateClaims compares what the manifest says of an estimate with what it is. Unit vectors leave no choice to a
// seed.
func (v *verification) estimateClaims(s workload.Estimate, is export.Gram) []claim {
	says := v.export.Manifest.Gram
	if says.Confidence == 1 {
		v.skip("gram.seed")
	}
	claims := optional("gram.loss_error", says.LossError, is.LossError)
	claims = append(claims, optional("gram.excess_bound", says.ExcessBound, is.ExcessBound)...)
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
