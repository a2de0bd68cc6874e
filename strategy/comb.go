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
// between them, which the BLT alone needs two poles a multiple for. A node keeps l rows more.
type Comb struct {
	blt    *BLT
	period int
	teeth  Teeth
}

// Teeth are (1 - P x^l)/(1 - A x^l).
type Teeth struct{ P, A float64 }

// NewComb returns the strategy of a BLT and a comb. It is an error if the period is not from 1 to T-1, or a
// coefficient not finite.
func NewComb(b *BLT, period int, teeth Teeth) (*Comb, error) {
	if period < 1 || period >= b.steps {
		return nil, fmt.Errorf("a comb of period %d over %d steps", period, b.steps)
	}
	c := &Comb{b, period, teeth}
	if _, err := NewToeplitz(b.steps, c.Series(), nil); err != nil {
		return nil, err
	}
	return c, nil
}

// BLT returns the BLT, the period and the comb.
func (c *Comb) BLT() (b *BLT, period int, teeth Teeth) { return c.blt, c.period, c.teeth }

// Name returns "comb".
func (*Comb) Name() string { return "comb" }

// Steps returns T.
func (c *Comb) Steps() int { return c.blt.steps }

// StrategyTo writes C to dst.
func (c *Comb) StrategyTo(dst *mat.TriDense) { c.toeplitz().StrategyTo(dst) }

// NoisingTo writes C⁻¹ to dst.
func (c *Comb) NoisingTo(dst *mat.TriDense) error {
	(&Toeplitz{steps: c.Steps(), c: c.InverseSeries()}).StrategyTo(dst)
	return nil
}

func (c *Comb) toeplitz() *Toeplitz { return &Toeplitz{steps: c.Steps(), c: c.Series()} }

// Scaled returns by·C.
func (c *Comb) Scaled(by float64) Strategy {
	return &Comb{c.blt.Scaled(by).(*BLT), c.period, c.teeth}
}

// NodeCost returns one buffer a pole of the BLT, and the rows of a period.
func (c *Comb) NodeCost() NodeCost {
	cost := c.blt.NodeCost()
	return NodeCost{cost.Floats + c.period, cost.Flops + 4}
}

// Filter keeps the BLT's buffers, and a row for each step of a period. It is for any number of steps.
func (c *Comb) Filter() (Filter, error) {
	return combing{c.blt.rational(), c.period, c.teeth}, nil
}

// Parameters returns the period as bandwidth, P and A as coefficients, and the sections of the BLT.
func (c *Comb) Parameters() Parameters {
	p := c.blt.Parameters()
	return Parameters{Class: c.Name(), Bandwidth: c.period, Buffers: p.Buffers, Scale: p.Scale, Sections: p.Sections,
		Coefficients: []float64{c.teeth.P, c.teeth.A}}
}

func buildComb(p Parameters, steps int) (*Comb, error) {
	if len(p.Coefficients) != 2 {
		return nil, fmt.Errorf("a comb of %d coefficients, not of 2", len(p.Coefficients))
	}
	b, err := buildBLT(p, steps)
	if err != nil {
		return nil, err
	}
	return NewComb(b, p.Bandwidth, Teeth{p.Coefficients[0], p.Coefficients[1]})
}

// Series returns the T coefficients.
func (c *Comb) Series() []float64 {
	s := c.blt.Series()
	c.teeth.Multiply(s, c.period)
	return s
}

// InverseSeries returns the coefficients of 1/c.
func (c *Comb) InverseSeries() []float64 {
	r := c.blt.InverseSeries()
	c.teeth.Inverse().Multiply(r, c.period)
	return r
}

// Multiply multiplies the power series c by the comb.
func (t Teeth) Multiply(c []float64, period int) {
	for i := len(c) - 1; i >= period; i-- {
		c[i] -= t.P * c[i-period]
	}
	Teeth{A: t.A}.divide(c, period)
}

func (t Teeth) divide(c []float64, period int) {
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
