package export

import (
	"fmt"

	"mafalda/factorize"
)

// Build makes the strategy of a manifest's parameters; nil for dense, which has none. The error cases are an unknown class, and
// parameters that are those of no strategy of so many steps.
func (s Strategy) Build(steps int) (factorize.Strategy, error) {
	var c factorize.Strategy
	var err error
	switch s.Class {
	case "dense":
		return nil, nil
	case "banded":
		c, err = factorize.NewBandedFromDiagonals(s.Diagonals)
	case "toeplitz":
		c, err = factorize.NewToeplitz(steps, s.Coefficients, s.Columns)
	case "banded-inverse":
		c, err = factorize.NewBandedInverse(steps, s.Coefficients)
	case "blt":
		var sections []factorize.Section
		for _, x := range s.Sections {
			sections = append(sections, factorize.Section{P: x[0], Q: x[1], A: x[2], B: x[3]})
		}
		c, err = factorize.NewBLT(steps, s.Scale, sections)
	default:
		return nil, fmt.Errorf("unknown strategy class %q", s.Class)
	}
	if err != nil {
		return nil, err
	}
	if c.Steps() != steps {
		return nil, fmt.Errorf("parameters for %d steps, not %d", c.Steps(), steps)
	}
	return c, nil
}
