package strategy

import "fmt"

// Parameters say which strategy of its class one is, in plain data, where that takes fewer than T² numbers: what a
// node needs to make C again, scaled to sensitivity one. With r = 1/c as power series and p, q, a, b of Sections,
//
//	banded          diagonals[d][s] = C[s+d, s] for d < w
//	toeplitz        C[t,s] = c[t-s]·d[s], C⁻¹[t,s] = r[t-s]/d[t]; c coefficients, d column_scales, if there are some
//	banded-inverse  C⁻¹[t,s] = r[t-s], r coefficients
//	blt             c(x) = scale · Π (1 - p x + q x²)/(1 - a x + b x²); c_0 = scale and c_j = Σ omega·theta^(j-1)
//	comb            c(x) is a BLT's times (1 - p x^w)/(1 - a x^w), p and a coefficients; with column_scales e, 1 to 8,
//	                C⁻¹[t,s] = e(t)·r[t-s], C[t,s] = c[t-s]/e(s), e(t) = e_0 + e_1 t/T + e_2 (t/T)² + …
type Parameters struct {
	Class     string `json:"class" verify:"given in strategy" in:"banded banded-inverse blt comb dense toeplitz"` // dense, banded, toeplitz, blt, banded-inverse or comb
	Bandwidth int    `json:"bandwidth,omitempty" verify:"exactly in cost" in:"[1,)"`                              // w of banded, toeplitz and banded-inverse; the period of comb
	Buffers   int    `json:"buffers,omitempty" verify:"exactly in cost" in:"[1,)"`                                // d of blt and comb

	Diagonals [][]float64 `json:"diagonals,omitempty" verify:"exactly in cost"` // banded: diagonals[d][s] = C[s+d, s]
	// toeplitz: C[t,s] = coefficients[t-s]·column_scales[s]; banded-inverse: of C⁻¹; comb: p and a of (1 - p x^w)/(1 - a x^w)
	Coefficients []float64 `json:"coefficients,omitempty" verify:"exactly in cost"`
	// toeplitz: T scales; comb: the e of C⁻¹[t,s] = (e_0 + e_1 t/T + e_2 (t/T)² + …)·r[t-s], r = 1/c
	Columns []float64 `json:"column_scales,omitempty" verify:"exactly in cost"`
	// blt and comb, whose c is this times the comb: c(x) = scale · Π (1 - p x + q x²)/(1 - a x + b x²)
	Scale    float64      `json:"scale,omitempty" verify:"exactly in cost" in:"(0,)"`
	Sections [][4]float64 `json:"sections,omitempty" verify:"exactly in cost"`   // p, q, a, b
	Theta    [][2]float64 `json:"theta,omitempty" verify:"within 1e-12 in cost"` // blt: poles, real and imaginary part
	// blt: c_j = Σ omega·theta^(j-1) for j ≥ 1, where poles are distinct
	Omega [][2]float64 `json:"omega,omitempty" verify:"within 1e-12 in cost"`
}

// Names of the classes.
const (
	DenseClass         = "dense"
	BandedClass        = "banded"
	ToeplitzClass      = "toeplitz"
	BLTClass           = "blt"
	BandedInverseClass = "banded-inverse"
	CombClass          = "comb"
)

// Classes returns the names of the classes.
func Classes() []string {
	return []string{DenseClass, BandedClass, ToeplitzClass, BLTClass, BandedInverseClass, CombClass}
}

// Build makes the strategy that the parameters describe; nil for dense, which has none. It fails for an unknown class,
// and for parameters that describe no strategy of this many steps.
func (p Parameters) Build(steps int) (Strategy, error) {
	c, err := p.build(steps)
	switch {
	case err != nil || p.Class == DenseClass:
		return nil, err
	case c.Steps() != steps:
		return nil, fmt.Errorf("parameters for %d steps, not %d", c.Steps(), steps)
	}
	return c, nil
}

func (p Parameters) build(steps int) (Strategy, error) {
	switch p.Class {
	case DenseClass:
		return nil, nil
	case BandedClass:
		return NewBandedFromDiagonals(p.Diagonals)
	case ToeplitzClass:
		return NewToeplitz(steps, p.Coefficients, p.Columns)
	case BLTClass:
		return NewBLT(steps, p.Scale, p.sections())
	case BandedInverseClass:
		return NewBandedInverse(steps, p.Coefficients)
	case CombClass:
		return buildComb(p, steps)
	}
	return nil, fmt.Errorf("unknown strategy class %q", p.Class)
}

// Count is how many there are of one of the parameters.
type Count struct {
	Key    string // key of the parameter
	Number int
}

// Counts lists all parameters that are lists or numbers of something: T steps have room for T of each.
func (p Parameters) Counts() []Count {
	return []Count{{"bandwidth", p.Bandwidth}, {"buffers", p.Buffers}, {"diagonals", len(p.Diagonals)},
		{"coefficients", len(p.Coefficients)}, {"column_scales", len(p.Columns)}, {"sections", len(p.Sections)},
		{"theta", len(p.Theta)}, {"omega", len(p.Omega)}}
}
