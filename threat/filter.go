package threat

import (
	"gonum.org/v1/gonum/mat"

	"mafalda/factorize"
)

// filter makes a node's correlated noise ξ = C⁻¹z from white noise with a few numbers of memory:
//
//	ξ_t = Λ_t p_t + δ_t z_t,     p_{t+1} = Φ_t p_t + Ψ_t z_t,     p_0 = 0.
type filter interface {
	memory() int
	at(t int) (phi *mat.Dense, psi, lambda []float64, delta float64)
}

// longestFilter is the memory up to which a filter is worth its larger state.
const longestFilter = 32

// filterOf returns the filter of a structured strategy, nil if it has none of a small memory.
func filterOf(c factorize.Strategy) filter {
	switch c := c.(type) {
	case factorize.Identity:
		return nil
	case factorize.AntiPGD:
		return difference{}
	case *factorize.BandedInverse:
		if r := c.Coefficients(); len(r)-1 <= longestFilter {
			return moving{r}
		}
	case *factorize.Banded:
		if c.Bands()-1 <= longestFilter {
			return autoregression{c.Diagonals()}
		}
	case *factorize.Toeplitz:
		if len(c.Coefficients())-1 <= longestFilter {
			return toeplitzFilter(c)
		}
	case *factorize.BLT:
		return newRational(c)
	}
	return nil
}

// difference is AntiPGD's: ξ_t = z_t - z_{t-1}.
type difference struct{}

func (difference) memory() int { return 1 }
func (difference) at(int) (*mat.Dense, []float64, []float64, float64) {
	return mat.NewDense(1, 1, nil), []float64{1}, []float64{-1}, 1
}

// moving is a banded inverse's: ξ_t = Σ_j r_j z_{t-j}; p holds the last z, newest first.
type moving struct{ r []float64 }

func (m moving) memory() int { return len(m.r) - 1 }
func (m moving) at(int) (*mat.Dense, []float64, []float64, float64) {
	d := m.memory()
	if d == 0 {
		return nil, nil, nil, m.r[0]
	}
	phi, psi := shift(d)
	return phi, psi, m.r[1:], m.r[0]
}

// shift moves a memory of d numbers by one and puts the new one first.
func shift(d int) (*mat.Dense, []float64) {
	phi := mat.NewDense(d, d, nil)
	for i := 1; i < d; i++ {
		phi.Set(i, i-1, 1)
	}
	psi := make([]float64, d)
	psi[0] = 1
	return phi, psi
}

// autoregression is a banded strategy's: C ξ = z, so ξ_t = (z_t - Σ_{j≥1} C[t,t-j] ξ_{t-j})/C[t,t]; p holds the last ξ,
// newest first.
type autoregression struct{ diagonals [][]float64 }

func toeplitzFilter(c *factorize.Toeplitz) filter {
	coefficients, columns := c.Coefficients(), c.Columns()
	diagonals := make([][]float64, len(coefficients))
	for lag, v := range coefficients {
		diagonals[lag] = make([]float64, c.Steps()-lag)
		for s := range diagonals[lag] {
			diagonals[lag][s] = v
			if columns != nil {
				diagonals[lag][s] *= columns[s]
			}
		}
	}
	return autoregression{diagonals}
}

func (a autoregression) memory() int { return len(a.diagonals) - 1 }
func (a autoregression) at(t int) (*mat.Dense, []float64, []float64, float64) {
	d := a.memory()
	delta := 1 / a.diagonals[0][t]
	if d == 0 {
		return nil, nil, nil, delta
	}
	lambda := make([]float64, d)
	for j := 1; j <= d && j <= t; j++ {
		lambda[j-1] = -a.diagonals[j][t-j] * delta
	}
	phi, psi := shift(d)
	for j, l := range lambda {
		phi.Set(0, j, l)
	}
	for i := range psi {
		psi[i] *= delta
	}
	return phi, psi, lambda, delta
}

// rational is a BLT's: 1/c(x) = Π_i (1 - a_i x + b_i x²)/(1 - p_i x + q_i x²)/scale, sections one after the other.
type rational struct {
	sections []factorize.Section
	scale    float64
}

func newRational(c *factorize.BLT) filter {
	sections, scale := c.Sections()
	return rational{sections, scale}
}

func (r rational) memory() int { return 2 * len(r.sections) }

// at composes the sections: in transposed direct form II a section with input u and state (s1, s2) gives y = u + s1, and
// s1' = -a u + p y + s2, s2' = b u - q y.
func (r rational) at(int) (*mat.Dense, []float64, []float64, float64) {
	d := r.memory()
	if d == 0 {
		return nil, nil, nil, 1 / r.scale
	}
	phi := mat.NewDense(d, d, nil)
	psi := make([]float64, d)
	input, direct := make([]float64, d), 1/r.scale // of the next section, as a combination of states and of z
	for i, s := range r.sections {
		s1, s2 := 2*i, 2*i+1
		output := append([]float64(nil), input...)
		output[s1]++
		for j := range d {
			phi.Set(s1, j, -s.A*input[j]+s.P*output[j])
			phi.Set(s2, j, s.B*input[j]-s.Q*output[j])
		}
		phi.Set(s1, s2, phi.At(s1, s2)+1)
		psi[s1] = (s.P - s.A) * direct
		psi[s2] = (s.B - s.Q) * direct
		input = output
	}
	return phi, psi, input, direct
}
