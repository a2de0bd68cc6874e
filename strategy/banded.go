package strategy

import (
	"fmt"
	"slices"

	"mafalda/internal/lists"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Banded is a strategy with w bands: C[t,s] = 0 for t - s ≥ w. A node that runs it keeps the last w-1 rows of noise,
// and needs w multiplications a step and model parameter.
type Banded struct {
	diagonals [][]float64 // diagonals[d][s] = C[s+d, s] for d < w
}

// NewBanded returns the strategy of the T×T lower-triangular matrix c, which must be zero outside its w bands.
func NewBanded(c mat.Matrix, bands int) (*Banded, error) {
	d, err := NewDense(c)
	if err != nil {
		return nil, err
	}
	steps := d.Steps()
	if err := CheckBandwidth(bands, steps); err != nil {
		return nil, err
	}
	for t := range steps {
		for s := 0; s+bands <= t; s++ {
			if v := d.c.At(t, s); v != 0 {
				return nil, fmt.Errorf("strategy entry (%d,%d) outside %d bands is %v", t, s, bands, v)
			}
		}
	}
	return &Banded{lists.Make(bands, func(lag int) []float64 {
		return lists.Make(steps-lag, func(s int) float64 { return d.c.At(s+lag, s) })
	})}, nil
}

// NewBandedFromDiagonals returns the strategy with C[s+d, s] = diagonals[d][s]: w diagonals of T, T-1, ... numbers, which
// are copied.
func NewBandedFromDiagonals(diagonals [][]float64) (*Banded, error) {
	if len(diagonals) == 0 || len(diagonals) > len(diagonals[0]) {
		return nil, fmt.Errorf("%d diagonals are no banded strategy", len(diagonals))
	}
	for lag, d := range diagonals {
		if steps := len(diagonals[0]); len(d) != steps-lag {
			return nil, fmt.Errorf("diagonal %d has %d numbers, not %d", lag, len(d), steps-lag)
		}
	}
	b := &Banded{lists.Map(diagonals, slices.Clone[[]float64])}
	_, err := NewDense(LowerOf(b))
	return b, err
}

// Name returns "banded".
func (*Banded) Name() string { return BandedClass }

// Steps returns the number of steps, T.
func (b *Banded) Steps() int { return len(b.diagonals[0]) }

// StrategyTo writes C to dst.
func (b *Banded) StrategyTo(dst *mat.TriDense) {
	fillLower(dst, b.Steps(), func(t, s int) float64 {
		if t-s < len(b.diagonals) {
			return b.diagonals[t-s][s]
		}
		return 0
	})
}

// NoisingTo writes C⁻¹, which has no band, to dst, by forward substitution in O(T²w).
func (b *Banded) NoisingTo(dst *mat.TriDense) error {
	steps := b.Steps()
	resizeLower(dst, steps)
	for s := range steps {
		for t := s; t < steps; t++ {
			sum := 0.0
			if t == s {
				sum = 1
			}
			for lag := 1; lag < len(b.diagonals) && lag <= t-s; lag++ {
				sum -= b.diagonals[lag][t-lag] * dst.At(t-lag, s)
			}
			dst.SetTri(t, s, sum/b.diagonals[0][t])
		}
	}
	return nil
}

// Scaled returns by·C.
func (b *Banded) Scaled(by float64) Strategy {
	return &Banded{lists.Map(b.diagonals, func(d []float64) []float64 {
		return floats.ScaleTo(make([]float64, len(d)), by, d)
	})}
}

// NodeCost returns w-1 rows of correlated noise.
func (b *Banded) NodeCost() NodeCost { return NodeCost{len(b.diagonals) - 1, 2 * len(b.diagonals)} }

// Filter keeps w-1 rows of correlated noise.
func (b *Banded) Filter() (Filter, error) {
	return autoregressive{b.Steps(), len(b.diagonals), func(lag, s int) float64 { return b.diagonals[lag][s] }}, nil
}

// Parameters returns the bands.
func (b *Banded) Parameters() Parameters {
	return Parameters{Class: b.Name(), Bandwidth: len(b.diagonals), Diagonals: lists.Map(b.diagonals, slices.Clone[[]float64])}
}
