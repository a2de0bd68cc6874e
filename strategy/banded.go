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
	steps, bands int
	diagonals    [][]float64 // diagonals[d][s] = C[s+d, s]
}

// NewBanded returns the strategy of the T×T lower-triangular matrix c, which must be zero outside its w bands.
func NewBanded(c mat.Matrix, bands int) (*Banded, error) {
	d, err := NewDense(c)
	if err != nil {
		return nil, err
	}
	if err := CheckBandwidth(bands, d.Steps()); err != nil {
		return nil, err
	}
	b := &Banded{steps: d.Steps(), bands: bands}
	b.diagonals = lists.Make(bands, func(lag int) []float64 {
		return lists.Make(b.steps-lag, func(s int) float64 { return d.c.At(s+lag, s) })
	})
	for t := range b.steps {
		for s := 0; s+bands <= t; s++ {
			if v := d.c.At(t, s); v != 0 {
				return nil, fmt.Errorf("strategy entry (%d,%d) outside %d bands is %v", t, s, bands, v)
			}
		}
	}
	return b, nil
}

// Name returns "banded".
func (*Banded) Name() string { return "banded" }

// Steps returns the number of steps, T.
func (b *Banded) Steps() int { return b.steps }

// Diagonals returns a copy of the bands: Diagonals()[d][s] = C[s+d, s].
func (b *Banded) Diagonals() [][]float64 {
	return lists.Map(b.diagonals, slices.Clone[[]float64])
}

// NewBandedFromDiagonals is the inverse of Diagonals: w diagonals of T, T-1, ... numbers, which are copied.
func NewBandedFromDiagonals(diagonals [][]float64) (*Banded, error) {
	if len(diagonals) == 0 || len(diagonals) > len(diagonals[0]) {
		return nil, fmt.Errorf("%d diagonals are no banded strategy", len(diagonals))
	}
	steps := len(diagonals[0])
	b := &Banded{steps: steps, bands: len(diagonals)}
	for lag, d := range diagonals {
		if len(d) != steps-lag {
			return nil, fmt.Errorf("diagonal %d has %d numbers, not %d", lag, len(d), steps-lag)
		}
		for s, v := range d {
			if v-v != 0 || (lag == 0 && v <= 0) {
				return nil, fmt.Errorf("entry %d of diagonal %d is %v", s, lag, v)
			}
		}
		b.diagonals = append(b.diagonals, append([]float64(nil), d...))
	}
	return b, nil
}

// StrategyTo writes C to dst.
func (b *Banded) StrategyTo(dst *mat.TriDense) {
	resizeLower(dst, b.steps)
	dst.Zero()
	for lag, diagonal := range b.diagonals {
		for s, v := range diagonal {
			dst.SetTri(s+lag, s, v)
		}
	}
}

// NoisingTo writes C⁻¹, which has no band, to dst, by forward substitution in O(T²w).
func (b *Banded) NoisingTo(dst *mat.TriDense) error {
	resizeLower(dst, b.steps)
	for s := range b.steps {
		for t := s; t < b.steps; t++ {
			sum := 0.0
			if t == s {
				sum = 1
			}
			for lag := 1; lag < b.bands && lag <= t-s; lag++ {
				sum -= b.diagonals[lag][t-lag] * dst.At(t-lag, s)
			}
			dst.SetTri(t, s, sum/b.diagonals[0][t])
		}
	}
	return nil
}

// Scaled returns by·C.
func (b *Banded) Scaled(by float64) Strategy {
	return &Banded{b.steps, b.bands, lists.Map(b.diagonals, func(d []float64) []float64 {
		return floats.ScaleTo(make([]float64, len(d)), by, d)
	})}
}

// NodeCost returns w-1 rows of correlated noise.
func (b *Banded) NodeCost() NodeCost { return NodeCost{b.bands - 1, 2 * b.bands} }

// Filter keeps w-1 rows of correlated noise.
func (b *Banded) Filter() (Filter, error) {
	return autoregressive{b.steps, b.bands, func(lag, s int) float64 { return b.diagonals[lag][s] }}, nil
}

// Parameters returns the bands.
func (b *Banded) Parameters() Parameters {
	return Parameters{Class: b.Name(), Bandwidth: b.bands, Diagonals: b.Diagonals()}
}
