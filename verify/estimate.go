package verify

import (
	"fmt"

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
	text := fmt.Sprintf("of the Gram matrix: the loss within %s", rounding.UpText(*again.LossError, 2))
	if again.ExcessBound != nil {
		text += fmt.Sprintf(", C within %s of the optimum", rounding.UpText(*again.ExcessBound, 2))
	}
	v.estimateIs(v.estimated, &again, text)
}

// estimateIs compares what the manifest says of an estimate with what it is. Unit vectors leave no choice to a seed.
func (v *verification) estimateIs(s workload.Estimate, is *export.Gram, text string) {
	if v.export.Manifest.Gram.Confidence == 1 {
		v.skip("gram.seed")
	}
	is.Probes = s.Probes()
	v.again.Gram = is
	v.compare("estimate", text)
}
