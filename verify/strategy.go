package verify

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/internal/rounding"
	"mafalda/participation"
	"mafalda/strategy"
)

// read returns the exported strategies, one for all nodes or several: of their matrices, of parameters, or of both if they
// agree.
func (v *verification) read() ([]strategy.Strategy, error) {
	m, layers := v.export.Manifest, v.export.Layers
	if v.export.C != nil {
		layers = []export.Layer{{C: v.export.C, Inverse: v.export.Inverse}}
	}
	if m.PerNode != nil && (!isDense(m.Strategy) || !participation.IsPartition(v.schema) || m.Objective != "" || m.Weights != nil ||
		len(layers) == 0) {
		return nil, errors.New("several strategies are dense, for the mean error and disjoint patterns; the manifest says otherwise")
	}
	made, err := m.Strategy.Build(m.Steps)
	if err != nil {
		return nil, err
	}
	if len(layers) == 0 {
		v.add("strategy", true, "made from the parameters of class %s, T = %d", m.Strategy.Class, m.Steps)
		v.description(made)
		return []strategy.Strategy{made}, nil
	}
	var all []strategy.Strategy
	var wrong error
	for _, layer := range layers {
		c, err := strategy.NewDense(layer.C)
		if err != nil {
			return nil, err
		}
		all, wrong = append(all, c), cmp.Or(wrong, strategy.CheckInverse(layer.C, layer.Inverse))
	}
	v.add("strategy", true, "%s is lower triangular with a positive diagonal, T = %d", v.export.CFile, m.Steps)
	if wrong == nil {
		v.add("inverse", true, "C·C⁻¹ is I, within what rounding allows")
	} else {
		v.add("inverse", false, "%v", wrong)
	}
	if made == nil {
		made = all[0]
	} else {
		v.parameters(made)
	}
	v.description(made)
	return all, nil
}

// parameters checks that the parameters make the exported matrix: to the bit where they are its entries.
func (v *verification) parameters(made strategy.Strategy) {
	var lower mat.TriDense
	made.StrategyTo(&lower)
	var difference mat.Dense
	difference.Sub(&lower, v.export.C)
	worst := mat.Norm(&difference, math.Inf(1)) / mat.Norm(v.export.C, math.Inf(1))
	allowed := 1e-12
	class := v.export.Manifest.Strategy.Class
	if class == "banded" || class == "toeplitz" {
		allowed = 0
	}
	if worst <= allowed {
		v.add("parameters", true, "those of class %s make the same C within %.1e", class, worst)
		return
	}
	v.add("parameters", false, "those of class %s make another matrix than %s, by %.1e of its norm", class,
		v.export.CFile, worst)
}

// description compares what the manifest says of the strategy beside its parameters with the strategy.
func (v *verification) description(c strategy.Strategy) {
	is := export.Describe(c)
	v.again.Strategy = is
	v.compare("cost", fmt.Sprintf("a node keeps %d numbers for each model parameter and makes %d operations a step",
		is.MemoryFloats, is.FlopsPerStep))
}

// sensitivityIs compares what was computed with the manifest. It must not say less, nor more than rounding explains:
// strategies are exported with the sensitivity that they have. A bound may be looser than the one that can be proven
// now.
func (v *verification) sensitivityIs(sens participation.Sensitivity) {
	m := v.export.Manifest
	enough := sens.Squared <= m.SensSquared*(1+sameFormula)
	tight := m.SensSquared <= sens.Squared*(1+1e-11) && sens.Kind() == m.SensKind || m.SensKind == "bound" &&
		m.SensSquared > sens.Squared*(1+1e-11)
	if enough && tight {
		v.add("sensitivity", true, "sens² = %s (%s) for %v", rounding.UpText(m.SensSquared, 15), m.SensKind, v.schema)
		return
	}
	v.add("sensitivity", false, "sens² is %v (%s) for %v; the manifest says %v (%s)", sens.Squared, sens.Kind(),
		v.schema, m.SensSquared, m.SensKind)
}
