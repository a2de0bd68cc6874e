package strategy

import (
	"fmt"
	"math/cmplx"
	"slices"

	"mafalda/internal/lists"
	"mafalda/internal/rows"
	"mafalda/internal/series"
)

// blt is the series of a buffered linear Toeplitz strategy (Dvijotham, McMahan, Pillutla, Steinke & Thakurta 2024), of a
// rational function with d poles,
//
//	c(x) = scale · Π_i (1 - p_i x + q_i x²)/(1 - a_i x + b_i x²),
//
// two poles a section, real or complex conjugate, and one section of one pole (b = q = 0) if d is odd. A node that runs
// it keeps d vectors, whatever T.
type blt struct {
	scale    float64
	sections []Section
}

// Section is (1 - P x + Q x²)/(1 - A x + B x²).
type Section struct{ P, Q, A, B float64 }

// NewBLT returns the strategy of T = steps with this scale and these sections, which are copied. It is an error if a
// coefficient is not finite, or the scale not positive.
func NewBLT(steps int, scale float64, sections []Section) (*Toeplitz, error) {
	if steps < 1 {
		return nil, fmt.Errorf("BLT over %d steps", steps)
	}
	return newSeries(steps, blt{scale, slices.Clone(sections)})
}

// newSeries returns the strategy of a series, unless one of its coefficients is refused.
func newSeries(steps int, c powerSeries) (*Toeplitz, error) {
	if _, err := NewToeplitz(steps, c.coefficients(steps), nil); err != nil {
		return nil, err
	}
	return &Toeplitz{steps: steps, series: c}, nil
}

func (blt) name() string { return BLTClass }

func (b blt) coefficients(steps int) []float64 {
	c := make([]float64, steps)
	c[0] = b.scale
	for _, s := range b.sections {
		s.Multiply(c)
	}
	return c
}

// inverse goes section by section.
func (b blt) inverse(steps int) []float64 {
	r := make([]float64, steps)
	r[0] = 1 / b.scale
	for _, s := range b.sections {
		s.Inverse().Multiply(r)
	}
	return r
}

func (b blt) times(by float64, _ int) powerSeries { return blt{b.scale * by, b.sections} }

// cost is one buffer a pole.
func (b blt) cost() NodeCost {
	poles := b.rational().Memory()
	return NodeCost{poles, 4*poles + 1}
}

func (b blt) filter(*Toeplitz) Filter { return b.rational() }

func (b blt) rational() rational {
	return rational{rows.NewCascade(1/b.scale, lists.Map(b.sections, func(s Section) rows.Section {
		return rows.Section{P: s.P, Q: s.Q, A: s.A, B: s.B, Poles: s.poles()}
	}))}
}

// parameters returns the sections and, unless poles coincide, the buffers.
func (b blt) parameters() Parameters {
	out := Parameters{Class: b.name(), Scale: b.scale}
	out.Sections = lists.Map(b.sections, func(s Section) [4]float64 { return [4]float64{s.P, s.Q, s.A, s.B} })
	theta, omega := b.buffers()
	out.Buffers = len(theta)
	for i := range theta {
		if w := omega[i]; cmplx.IsNaN(w) || cmplx.IsInf(w) {
			out.Theta, out.Omega = nil, nil // poles coincide: only the sections say what it is
			break
		}
		out.Theta = append(out.Theta, [2]float64{real(theta[i]), imag(theta[i])})
		out.Omega = append(out.Omega, [2]float64{real(omega[i]), imag(omega[i])})
	}
	return out
}

// sections returns the sections of blt and comb.
func (p Parameters) sections() []Section {
	return lists.Map(p.Sections, func(x [4]float64) Section { return Section{P: x[0], Q: x[1], A: x[2], B: x[3]} })
}

// buffers returns the poles θ_i and weights ω_i with c_j = Σ_i ω_i θ_i^(j-1) for j ≥ 1. Complex ones come in conjugate
// pairs. Poles that coincide have no such weights, which then are infinite or NaN.
func (b blt) buffers() (theta, omega []complex128) {
	for _, s := range b.sections {
		if s.poles() == 1 {
			theta = append(theta, complex(s.A, 0))
			continue
		}
		root := cmplx.Sqrt(complex(s.A*s.A/4-s.B, 0))
		theta = append(theta, complex(s.A/2, 0)+root, complex(s.A/2, 0)-root)
	}
	for i, t := range theta {
		x := 1 / t
		w := complex(b.scale, 0) * t
		for _, s := range b.sections {
			w *= 1 - complex(s.P, 0)*x + complex(s.Q, 0)*x*x
		}
		for l, u := range theta {
			if l != i {
				w /= 1 - u*x
			}
		}
		omega = append(omega, w)
	}
	return theta, omega
}

// Multiply multiplies the power series c by the section.
func (s Section) Multiply(c []float64) {
	series.Multiply(c, s.P, s.Q)
	series.Divide(c, s.A, s.B)
}

// Inverse returns one divided by the section.
func (s Section) Inverse() Section { return Section{P: s.A, Q: s.B, A: s.P, B: s.Q} }

// poles returns 1 for a section of a single pole, else 2.
func (s Section) poles() int {
	if s.B == 0 && s.Q == 0 {
		return 1
	}
	return 2
}
