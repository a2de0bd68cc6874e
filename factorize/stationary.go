package factorize

import (
	"math"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/lists"
	"mafalda/internal/parallel"
)

// stationary is the optimum for a Gram matrix that is alike at all times but for its scale, over very many steps: where
// to start from. If H has the symbol h(ω), and steps that are a multiple of b apart are in one pattern, then Λ is
// not zero at such lags only, so that its symbol λ has the period 2π/b, and X the symbol
//
//	x = √(h/λ),     with 1 as the mean of x(ω + 2πj/b) over j, so that λ is the square of the mean of √h(ω + 2πj/b):
//
// zero at these lags. If H grows with time by the factors w_s w_t, X does by their roots, and Λ does not.
type stationary struct {
	primal, dual []float64 // X and Λ by lag, but for scale
	weight       []float64 // factor of X by step
}

const stationaryFineness = 4 // points of a symbol, by step

// newStationary takes h(ω) from the Rayleigh quotients of cosines, after scaling H to a constant diagonal. O(T³), for a
// product of matrices.
func newStationary(h *mat.SymDense, b int) *stationary {
	steps := h.SymmetricDim()
	s := &stationary{weight: make([]float64, steps)}
	scaled := make([]float64, steps*steps)
	parallel.For(steps, func(t int) {
		s.weight[t] = math.Pow(h.At(t, t), 0.25)
		for u := range steps {
			scaled[t*steps+u] = h.At(t, u) / math.Sqrt(h.At(t, t)*h.At(u, u))
		}
	})
	root := logInterpolation(newCosine(steps, newScratch(steps)).diagonal(scaled))
	period := (stationaryFineness*steps + b - 1) / b
	n := period * b
	x, lambda := make([]float64, n), make([]float64, n)
	for i := range period {
		var mean float64
		for j := i; j < n; j += period {
			x[j] = root(2 * float64(min(j, n-j)) / float64(n))
			mean += x[j] / float64(b)
		}
		for j := i; j < n; j += period {
			x[j] /= mean
			lambda[j] = mean * mean
		}
	}
	fft := fourier.NewFFT(n)
	byLag := func(symbol []float64) []float64 {
		all := fft.Coefficients(nil, symbol)
		return lists.Make(steps, func(lag int) float64 { return real(all[lag]) / float64(n) })
	}
	s.primal, s.dual = byLag(x), byLag(lambda)
	return s
}

// logInterpolation returns the root of what has the given values at i/len, from 0 to 1.
func logInterpolation(values []float64) func(at float64) float64 {
	n := len(values)
	return func(at float64) float64 {
		i := min(int(at*float64(n)), n-1)
		next := min(i+1, n-1)
		share := at*float64(n) - float64(i)
		return math.Exp(((1-share)*math.Log(values[i]) + share*math.Log(values[next])) / 2)
	}
}

// gram returns X, row by row.
func (s *stationary) gram() []float64 {
	steps := len(s.primal)
	x := make([]float64, steps*steps)
	for t, w := range s.weight {
		for u, v := range s.weight {
			x[t*steps+u] = w * v * s.primal[max(t-u, u-t)]
		}
	}
	return x
}
