package factorize

import (
	"runtime"
	"sync"

	"gonum.org/v1/gonum/dsp/fourier"

	"mafalda/internal/dense"
)

// cosine transforms the rows and columns of n×n matrices to the basis of the discrete cosine transform (DCT-II) and back.
// With the orthogonal matrix U[t,j] ∝ cos(π(t+½)j/n), forward computes a ∘ (Uᵀ m U) for the outer product a of the
// factors norm, and backward inverts it. Both take O(n² log n) if n has small prime factors, at worst O(n³).
type cosine struct {
	n       int
	workers []*fourier.QuarterWaveFFT
}

func newCosine(n int) *cosine {
	c := &cosine{n: n}
	for range min(runtime.GOMAXPROCS(0), (n+31)/32) {
		c.workers = append(c.workers, fourier.NewQuarterWaveFFT(n))
	}
	return c
}

// normSquared returns the square of the factor norm_j that forward leaves on row and on column j.
func (c *cosine) normSquared(j int) float64 {
	if j == 0 {
		return 16 * float64(c.n)
	}
	return 8 * float64(c.n)
}

// forward transforms the symmetric m in place; the result is symmetric.
func (c *cosine) forward(m []float64) {
	c.bothSides(m, func(f *fourier.QuarterWaveFFT, row []float64) { f.CosSequence(row, row) })
}

// backward undoes forward, on symmetric m.
func (c *cosine) backward(m []float64) {
	scale := 1 / (4 * float64(c.n))
	c.bothSides(m, func(f *fourier.QuarterWaveFFT, row []float64) {
		f.CosCoefficients(row, row)
		for i := range row {
			row[i] *= scale
		}
	})
}

func (c *cosine) bothSides(m []float64, transform func(f *fourier.QuarterWaveFFT, row []float64)) {
	c.rows(m, transform)
	dense.Transpose(m, c.n)
	c.rows(m, transform)
}

func (c *cosine) rows(m []float64, transform func(f *fourier.QuarterWaveFFT, row []float64)) {
	var wg sync.WaitGroup
	for w, f := range c.workers {
		from, to := w*c.n/len(c.workers), (w+1)*c.n/len(c.workers)
		wg.Go(func() {
			for i := from; i < to; i++ {
				transform(f, m[i*c.n:(i+1)*c.n])
			}
		})
	}
	wg.Wait()
}
