package strategy

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/rows"
)

// Comb is a BLT with a comb of period l: its coefficients are the power series of
//
//	c(x) = b(x)·(1 - p x^l)/(1 - a x^l),    b a BLT.
//
// Where records come again after l steps the best noise is small in all multiples of the frequency 1/l, and large
// between them, which the BLT alone needs two poles a multiple for. A node keeps l rows more. Columns may be scaled:
// C[t,s] = c_(t-s)/e_s with a polynomial e of s/T, so that a node keeps nothing more.
type Comb struct {
	blt     *BLT
	period  int
	teeth   Teeth
	columns Polynomial // e; nil: 1
}

// Teeth are (1 - P x^l)/(1 - A x^l).
type Teeth struct{ P, A float64 }

// NewComb returns the strategy of a BLT and a comb. It is an error if the period is not from 1 to T-1, or a
// coefficient not finite.
func NewComb(b *BLT, period int, teeth Teeth) (*Comb, error) {
	if period < 1 || period >= b.steps {
		return nil, fmt.Errorf("a comb of period %d over %d steps", period, b.steps)
	}
	c := &Comb{blt: b, period: period, teeth: teeth}
	if _, err := NewToeplitz(b.steps, c.Series(), nil); err != nil {
		return nil, err
	}
	return c, nil
}

// WithColumns returns the comb, whose columns are not scaled, with the columns divided by e, which is copied. It is an
// error if e has more than MaxColumns coefficients, or is not positive and finite in all steps.
func (c *Comb) WithColumns(e Polynomial) (*Comb, error) {
	if len(e) < 1 || len(e) > MaxColumns {
		return nil, fmt.Errorf("column scales of %d coefficients, not of 1 to %d", len(e), MaxColumns)
	}
	for t := range c.Steps() {
		if v := e.At(t, c.Steps()); !(v > 0) || math.IsInf(v, 1) || math.IsInf(1/v, 1) {
			return nil, fmt.Errorf("one over the scale of column %d is %v: must be positive and finite", t, v)
		}
	}
	return &Comb{c.blt, c.period, c.teeth, slices.Clone(e)}, nil
}

// Unscaled returns the comb without the scales of its columns, and e, nil if there are none.
func (c *Comb) Unscaled() (*Comb, Polynomial) {
	return &Comb{blt: c.blt, period: c.period, teeth: c.teeth}, slices.Clone(c.columns)
}

// Name returns "comb".
func (*Comb) Name() string { return "comb" }

// Steps returns the number of steps, T.
func (c *Comb) Steps() int { return c.blt.steps }

// StrategyTo writes C to dst.
func (c *Comb) StrategyTo(dst *mat.TriDense) {
	(&Toeplitz{c.Steps(), c.series(), c.columns.Scales(c.Steps())}).StrategyTo(dst)
}

// NoisingTo writes C⁻¹[t,s] = e_t r_(t-s) to dst.
func (c *Comb) NoisingTo(dst *mat.TriDense) error {
	(&Toeplitz{steps: c.Steps(), c: c.inverseSeries()}).StrategyTo(dst)
	for t := range c.Steps() {
		for s := range t + 1 {
			dst.SetTri(t, s, c.columns.At(t, c.Steps())*dst.At(t, s))
		}
	}
	return nil
}

// Scaled returns by·C.
func (c *Comb) Scaled(by float64) Strategy {
	return &Comb{c.blt.Scaled(by).(*BLT), c.period, c.teeth, c.columns}
}

// NodeCost returns one buffer a pole of the BLT, and the rows of a period.
func (c *Comb) NodeCost() NodeCost {
	cost := c.blt.NodeCost()
	flops := cost.Flops + 4
	if c.columns != nil {
		flops++
	}
	return NodeCost{cost.Floats + c.period, flops}
}

// Filter keeps the BLT's buffers, and a row for each step of a period. It is for any number of steps unless columns are
// scaled.
func (c *Comb) Filter() (Filter, error) {
	f := combing{c.blt.rational(), c.period, c.teeth}
	if c.columns != nil {
		return scaledRows{f, c.columns, c.Steps()}, nil
	}
	return f, nil
}

// Parameters returns what buildComb takes: the period as Bandwidth, P and A as Coefficients, the BLT's sections, scales of columns.
func (c *Comb) Parameters() Parameters {
	p := c.blt.Parameters()
	return Parameters{Class: c.Name(), Bandwidth: c.period, Buffers: p.Buffers, Scale: p.Scale, Sections: p.Sections,
		Coefficients: []float64{c.teeth.P, c.teeth.A}, Columns: slices.Clone(c.columns)}
}

func buildComb(p Parameters, steps int) (*Comb, error) {
	if len(p.Coefficients) != 2 {
		return nil, fmt.Errorf("a comb of %d coefficients, not of 2", len(p.Coefficients))
	}
	b, err := buildBLT(p, steps)
	if err != nil {
		return nil, err
	}
	c, err := NewComb(b, p.Bandwidth, Teeth{p.Coefficients[0], p.Coefficients[1]})
	if err != nil || p.Columns == nil {
		return c, err
	}
	return c.WithColumns(p.Columns)
}

// Series returns the T coefficients, nil if columns are scaled.
func (c *Comb) Series() []float64 {
	if c.columns != nil {
		return nil
	}
	return c.series()
}

// InverseSeries returns the coefficients of 1/c, nil if columns are scaled.
func (c *Comb) InverseSeries() []float64 {
	if c.columns != nil {
		return nil
	}
	return c.inverseSeries()
}

func (c *Comb) series() []float64 {
	s := c.blt.Series()
	c.teeth.Multiply(s, c.period)
	return s
}

func (c *Comb) inverseSeries() []float64 {
	r := c.blt.InverseSeries()
	c.teeth.Inverse().Multiply(r, c.period)
	return r
}

// Multiply multiplies the power series c by the comb.
func (t Teeth) Multiply(c []float64, period int) {
	for i := len(c) - 1; i >= period; i-- {
		c[i] -= t.P * c[i-period]
	}
	for i := period; i < len(c); i++ {
		if c[i] += t.A * c[i-period]; math.Abs(c[i]) < 0x1p-900 {
			c[i] = 0
		}
	}
}

// MultiplyBack is the transpose of Multiply.
func (t Teeth) MultiplyBack(g []float64, period int) {
	slices.Reverse(g)
	t.Multiply(g, period)
	slices.Reverse(g)
}

// Inverse returns one divided by the comb.
func (t Teeth) Inverse() Teeth { return Teeth{P: t.A, A: t.P} }

// combing is a BLT's filter and, of what that makes, y_t = u_t + s_t, s_(t+l) = a·s_t + (p - a)·y_t. The rows s are behind
// the BLT's buffers, the one for step t last.
type combing struct {
	rational
	period int
	teeth  Teeth
}

var _ Filter = combing{}

func (c combing) Memory() int { return c.Poles() + c.period }

func (c combing) StepTo(dst, z []float64, kept [][]float64, t int) {
	c.rational.StepTo(dst, z, kept[:c.Poles()], t)
	kept = kept[c.Poles():]
	s := kept[len(kept)-1]
	if s == nil {
		s = make([]float64, len(z))
	}
	rows.AddScaled(dst, 1, s)
	rows.ScaleTo(s, c.teeth.A, s)
	rows.AddScaled(s, c.teeth.P-c.teeth.A, dst)
	copy(kept[1:], kept)
	kept[0] = s
}
