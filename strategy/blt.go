package strategy

import (
	"fmt"
	"math"
	"math/cmplx"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/lists"
	"mafalda/internal/rows"
	"mafalda/internal/series"
)

// BLT is a buffered linear Toeplitz strategy (Dvijotham, McMahan, Pillutla, Steinke & Thakurta 2024): its coefficients
// are the power series of a rational function with d poles,
//
//	c(x) = scale · Π_i (1 - p_i x + q_i x²)/(1 - a_i x + b_i x²),
//
// two poles a section, real or complex conjugate, and one section of one pole (b = q = 0) if d is odd. A node that runs
// it keeps d vectors, whatever T.
type BLT struct {
	steps    int
	scale    float64
	sections []Section
}

// Section is (1 - P x + Q x²)/(1 - A x + B x²).
type Section struct{ P, Q, A, B float64 }

// NewBLT returns the strategy of T = steps with this scale and these sections, which are copied. It is an error if a
// coefficient is not finite, or the scale not positive.
func NewBLT(steps int, scale float64, sections []Section) (*BLT, error) {
	if steps < 1 {
		return nil, fmt.Errorf("BLT over %d steps", steps)
	}
	b := &BLT{steps, scale, append([]Section(nil), sections...)}
	if _, err := NewToeplitz(steps, b.Toeplitz().c, nil); err != nil {
		return nil, err
	}
	return b, nil
}

// Sections returns a copy of the sections, and the scale c_0.
func (b *BLT) Sections() ([]Section, float64) { return append([]Section(nil), b.sections...), b.scale }

// Name returns "blt".
func (*BLT) Name() string { return "blt" }

// Steps returns the number of steps, T.
func (b *BLT) Steps() int { return b.steps }

// Toeplitz returns the strategy with its T coefficients written out.
func (b *BLT) Toeplitz() *Toeplitz {
	c := make([]float64, b.steps)
	c[0] = b.scale
	for _, s := range b.sections {
		s.Multiply(c)
	}
	return &Toeplitz{steps: b.steps, c: c}
}

// StrategyTo writes C to dst.
func (b *BLT) StrategyTo(dst *mat.TriDense) { b.Toeplitz().StrategyTo(dst) }

// NoisingTo writes C⁻¹ to dst.
func (b *BLT) NoisingTo(dst *mat.TriDense) error { return b.Toeplitz().NoisingTo(dst) }

// Scaled returns by·C.
func (b *BLT) Scaled(by float64) Strategy { return &BLT{b.steps, b.scale * by, b.sections} }

// NodeCost returns one buffer a pole.
func (b *BLT) NodeCost() NodeCost {
	poles := b.rational().Memory()
	return NodeCost{poles, 4*poles + 1}
}

// Filter keeps one buffer a pole. It is for any number of steps.
func (b *BLT) Filter() (Filter, error) { return b.rational(), nil }

func (b *BLT) rational() rational {
	return rational{rows.NewCascade(1/b.scale, lists.Map(b.sections, func(s Section) rows.Section {
		return rows.Section{P: s.P, Q: s.Q, A: s.A, B: s.B, Poles: s.poles()}
	}))}
}

// Parameters returns the sections and, unless poles coincide, the buffers.
func (b *BLT) Parameters() Parameters {
	out := Parameters{Class: b.Name(), Scale: b.scale}
	out.Sections = lists.Map(b.sections, func(s Section) [4]float64 { return [4]float64{s.P, s.Q, s.A, s.B} })
	theta, omega, _ := b.Buffers()
	out.Buffers = len(theta)
	for i := range theta {
		if re, im := real(omega[i]), imag(omega[i]); math.IsNaN(re+im) || math.IsInf(re+im, 0) {
			out.Theta, out.Omega = nil, nil // poles coincide: only the sections say what it is
			break
		}
		out.Theta = append(out.Theta, [2]float64{real(theta[i]), imag(theta[i])})
		out.Omega = append(out.Omega, [2]float64{real(omega[i]), imag(omega[i])})
	}
	return out
}

func buildBLT(p Parameters, steps int) (*BLT, error) {
	return NewBLT(steps, p.Scale, lists.Map(p.Sections, func(x [4]float64) Section {
		return Section{P: x[0], Q: x[1], A: x[2], B: x[3]}
	}))
}

// Series returns the T coefficients.
func (b *BLT) Series() []float64 { return b.Toeplitz().c }

// InverseSeries returns the coefficients of 1/c, section by section.
func (b *BLT) InverseSeries() []float64 {
	r := make([]float64, b.steps)
	r[0] = 1 / b.scale
	for _, x := range b.sections {
		x.Inverse().Multiply(r)
	}
	return r
}

// Buffers returns the poles θ_i and weights ω_i with c_j = Σ_i ω_i θ_i^(j-1) for j ≥ 1, and c_0. Complex ones come in
// conjugate pairs. Poles that coincide have no such weights, which then are infinite or NaN.
func (b *BLT) Buffers() (theta, omega []complex128, c0 float64) {
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
	return theta, omega, b.scale
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
