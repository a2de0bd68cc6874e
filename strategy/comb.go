package strategy

import (
	"fmt"
	"math"
	"slices"

	"mafalda/internal/rows"
)

// comb is the series of a BLT with a comb of period l:
//
//	c(x) = b(x)·(1 - p x^l)/(1 - a x^l),    b a BLT.
//
// Where records come again after l steps the best noise is small in all multiples of the frequency 1/l, and large
// between them, which the BLT alone needs two poles a multiple for. A node keeps l rows more. Columns may be scaled:
// C[t,s] = c_(t-s)/e_s with a polynomial e of s/T, so that a node keeps nothing more.
type comb struct {
	blt
	period int
	teeth  Teeth
}

// Teeth are (1 - P x^l)/(1 - A x^l).
type Teeth struct{ P, A float64 }

// NewComb returns the strategy of T = steps of a BLT with this scale and these sections, and a comb. It fails as NewBLT
// does, and if the period is not from 1 to T-1.
func NewComb(steps int, scale float64, sections []Section, period int, teeth Teeth) (*Toeplitz, error) {
	if period < 1 || period >= steps {
		return nil, fmt.Errorf("a comb of period %d over %d steps", period, steps)
	}
	return newSeries(steps, comb{blt{scale, slices.Clone(sections)}, period, teeth})
}

// WithColumns returns the comb, whose columns are not scaled, with the columns divided by e, which is copied. It is an
// error if e has more than MaxColumns coefficients, or is not positive and finite in all steps, and for other classes.
func (p *Toeplitz) WithColumns(e Polynomial) (*Toeplitz, error) {
	if _, ok := p.series.(comb); !ok || len(e) < 1 || len(e) > MaxColumns {
		return nil, fmt.Errorf("column scales of %d coefficients for %s: only combs have them, 1 to %d", len(e), p.Name(), MaxColumns)
	}
	for t := range p.steps {
		if v := e.At(t, p.steps); !(v > 0) || math.IsInf(v, 1) || math.IsInf(1/v, 1) {
			return nil, fmt.Errorf("one over the scale of column %d is %v: must be positive and finite", t, v)
		}
	}
	return &Toeplitz{p.steps, p.series, e.Scales(p.steps), slices.Clone(e)}, nil
}

func (comb) name() string { return CombClass }

func (c comb) coefficients(steps int) []float64 {
	s := c.blt.coefficients(steps)
	c.teeth.Multiply(s, c.period)
	return s
}

func (c comb) inverse(steps int) []float64 {
	r := c.blt.inverse(steps)
	c.teeth.Inverse().Multiply(r, c.period)
	return r
}

func (c comb) times(by float64, _ int) powerSeries {
	c.scale *= by
	return c
}

// cost is one buffer a pole of the BLT, and the rows of a period.
func (c comb) cost() NodeCost {
	cost := c.blt.cost()
	return NodeCost{cost.Floats + c.period, cost.Flops + 4}
}

func (c comb) filter(*Toeplitz) Filter { return combing{c.rational(), c.period, c.teeth} }

// parameters returns what buildComb takes: the period as Bandwidth, P and A as Coefficients, and the BLT's sections.
func (c comb) parameters() Parameters {
	p := c.blt.parameters()
	p.Class, p.Bandwidth, p.Coefficients = c.name(), c.period, []float64{c.teeth.P, c.teeth.A}
	p.Theta, p.Omega = nil, nil
	return p
}

func buildComb(p Parameters, steps int) (*Toeplitz, error) {
	if len(p.Coefficients) != 2 {
		return nil, fmt.Errorf("a comb of %d coefficients, not of 2", len(p.Coefficients))
	}
	c, err := NewComb(steps, p.Scale, p.sections(), p.Bandwidth, Teeth{p.Coefficients[0], p.Coefficients[1]})
	if err != nil || p.Columns == nil {
		return c, err
	}
	return c.WithColumns(p.Columns)
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
