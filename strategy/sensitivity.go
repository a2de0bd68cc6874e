package strategy

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"mafalda/internal/dense"
	"mafalda/participation"
)

// ErrUnsupported is wrapped by errors about a combination of strategy, schema and objective for which no formula or
// search is known.
var ErrUnsupported = errors.New("not supported")

// Sensitivity returns the sensitivity of c under the schema, from its entries and rounded up. For Toeplitz strategies
// of more than LongSteps steps it is a bound in O(kT), exact where no coefficient is negative, under cyclic
// participation only.
func Sensitivity(c Strategy, schema participation.Schema) (participation.Sensitivity, error) {
	if p, ok := c.(*Toeplitz); ok && p.steps > LongSteps {
		return longSensitivity(p.Series(), p.columns, schema)
	}
	return checkRange(schema.Sensitivity(leadingGram{dense.FullTransposed(LowerOf(c)), c.Steps()}))
}

// checkRange refuses a sensitivity of a strategy whose entries have squares that no number holds.
func checkRange(s participation.Sensitivity, err error) (participation.Sensitivity, error) {
	if err == nil && !keepsPrecision(s.Squared) {
		return participation.Sensitivity{}, fmt.Errorf("sensitivity² of the strategy is %v: its entries are out of range, "+
			"multiply them and the noise by one number", s.Squared)
	}
	return s, err
}

// Normalize returns c divided by its sensitivity: sens² of the result, rounded up, is at most 1, and less by rounding
// only.
func Normalize(c Strategy, schema participation.Schema) (Strategy, error) {
	margin := 0.0
	for round := 0; ; round++ {
		sens, err := Sensitivity(c, schema)
		if err != nil {
			return nil, err
		}
		rounding := math.Abs(sens.Squared-1) < 1e-12
		if sens.Squared <= 1 && (rounding || margin > 0) {
			return c, nil
		}
		scale := 1 / math.Sqrt(sens.Squared)
		if rounding {
			scale = 1
		}
		if rounding || round > 0 { // only rounding is left: step over it, further each time
			margin = max(2*margin, 0x1p-52)
			scale *= 1 - margin
		}
		c = c.Scaled(scale)
	}
}

// LongSteps is the number of steps beyond which nothing of size T×T is made for Toeplitz strategies.
const LongSteps = 4096

// ToeplitzMajorant returns Σ_t (Σ_{i<k} |c_{t-ib}|)², which bounds sens² of a Toeplitz strategy under cyclic participation, T
// = kb or not: rows of columns of a pattern add up to no more in magnitude, and the pattern that starts in the first
// step has the longest columns. It is sens² itself if no coefficient is negative. With pull, the derivative by c is
// added to it. All terms are positive, so that its relative rounding error is at most (T+k+2)·2⁻⁵³.
func ToeplitzMajorant(c []float64, schema participation.Cyclic, pull []float64) float64 {
	magnitudes := make([]float64, schema.Steps())
	for t, v := range c {
		magnitudes[t] = math.Abs(v)
	}
	sums := windows(magnitudes, schema)
	var total float64
	for _, v := range sums {
		total += v * v
	}
	if pull == nil {
		return total
	}
	slices.Reverse(sums)
	later := windows(sums, schema) // Σ_{i<k} sums_{t+ib}, backwards
	for t, v := range c {
		if g := 2 * later[len(later)-1-t]; v < 0 {
			pull[t] -= g
		} else {
			pull[t] += g
		}
	}
	return total
}

// windows returns Σ_{i<k} x_{t-ib} for every t.
func windows(x []float64, schema participation.Cyclic) []float64 {
	k, b := schema.Participations(), schema.Separation()
	sums := slices.Clone(x)
	if len(x) <= k*b { // the window never ends
		for t := b; t < len(x); t++ {
			sums[t] += sums[t-b]
		}
		return sums
	}
	for t := range sums {
		for i := 1; i < k && i*b <= t; i++ {
			sums[t] += x[t-i*b]
		}
	}
	return sums
}

// mostProducts is how many products of coefficients a sensitivity is worth.
const mostProducts = 2e9

// keepsPrecision reports whether a sum of squares of entries is finite, and so large that what squares lose below the least
// numbers is far below its rounding.
func keepsPrecision(squared float64) bool { return squared > 0x1p-900 && !math.IsInf(squared, 1) }

// longSensitivity returns the sensitivity of a Toeplitz strategy with coefficients c, rounded up: ToeplitzMajorant,
// exact if no coefficient is negative, or ToeplitzSum where that is less. With columns scaled by d it is ColumnsSum. It
// fails for a schema that is not cyclic, and with scales for one whose patterns overlap or whose sum takes more than
// mostProducts.
func longSensitivity(c, d []float64, schema participation.Schema) (participation.Sensitivity, error) {
	cyclic, ok := schema.(participation.Cyclic)
	few := ok && SumProducts(c, cyclic) <= mostProducts
	if !ok || d != nil && !(few && participation.IsPartition(schema)) {
		return participation.Sensitivity{}, fmt.Errorf("more than %d steps under %v: %w", LongSteps, schema, ErrUnsupported)
	}
	first := 0
	s := participation.Sensitivity{Exact: !slices.ContainsFunc(c, func(v float64) bool { return v < 0 })}
	if d != nil {
		if s.Squared, first = ColumnsSum(c, d, cyclic); s.Exact {
			s.Attained = s.Squared / (1 + 4*columnsRounding(c, cyclic))
		}
	} else {
		majorant, up := ToeplitzMajorant(c, cyclic, nil), 1+8*float64(cyclic.Steps())*0x1p-53
		if s.Squared = majorant * up; s.Exact {
			s.Attained = majorant
		} else if few {
			sum, worst := ToeplitzSum(c, cyclic)
			// A partial sum is wrong by less than T roundings of the sum of its magnitudes. Those of a pattern add up to
			// the majorant at most, and in a class, whose sums are subtracted, to three of every k steps.
			windows := float64(2 + cyclic.Steps()/(cyclic.Participations()*cyclic.Separation()))
			if sum += (up - 1) * windows * majorant; sum*up < s.Squared {
				s.Squared, first = sum*up, worst
			}
		}
	}
	for t := first; t <= lastStep(first, cyclic); t += cyclic.Separation() {
		s.Pattern = append(s.Pattern, t)
	}
	return checkRange(s, nil)
}
