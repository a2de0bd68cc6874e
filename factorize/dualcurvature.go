package factorize

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"mafalda/internal/gemm"
	"mafalda/internal/parallel"
)

// dualCurvature is -∇²D at a point, in single precision: conjugate gradients that stop at some percent of the residual
// need no more, and the step that they find is tried in double precision. As the rows of S have about unit norm and a
// direction is scaled, nothing leaves the range of numbers.
type dualCurvature struct {
	search *dualSearch
	s, d   []float32

	product, weighted []float32 // scratch
}

func newDualCurvature(n *dualSearch, p *dualPoint) *dualCurvature {
	c := &dualCurvature{search: n, s: make([]float32, len(p.s)), d: make([]float32, len(p.d)),
		product: make([]float32, len(p.s)), weighted: make([]float32, len(p.s))}
	for i, v := range p.s {
		c.s[i] = float32(v)
	}
	for i, v := range p.d {
		c.d[i] = float32(v)
	}
	return c
}

// row returns a row of a T×T matrix.
func (c *dualCurvature) row(m []float32, s int) []float32 {
	return m[s*c.search.steps : (s+1)*c.search.steps]
}

// hessianTimes returns what -∇²D makes of a direction.
func (c *dualCurvature) hessianTimes(direction []float64) []float64 {
	var largest float64
	for _, v := range direction {
		largest = math.Max(largest, math.Abs(v))
	}
	out := make([]float64, len(direction))
	if largest == 0 {
		return out
	}
	c.multiply(direction, 1/largest)
	c.weigh()
	steps := c.search.steps
	square := func(m []float32) blas32.General {
		return blas32.General{Rows: steps, Cols: steps, Stride: steps, Data: m}
	}
	gemm.Gemm32(blas.NoTrans, blas.NoTrans, 1, square(c.s), square(c.weighted), 0, square(c.product))
	c.blocksTo(out, largest)
	return out
}

// multiply sets product to AS, for the A of a direction times scale.
func (c *dualCurvature) multiply(direction []float64, scale float64) {
	clear(c.product)
	c.search.unknowns(func(pattern []int, at int) {
		next := at + 1
		add := func(to, from int, by float64) {
			blas32.Axpy(float32(scale*by), c.vector(c.s, from), c.vector(c.product, to))
		}
		for r, s := range pattern {
			add(s, s, direction[at])
			for _, t := range pattern[:r] {
				add(s, t, direction[next])
				add(t, s, direction[next])
				next++
			}
		}
	})
}

func (c *dualCurvature) vector(m []float32, s int) blas32.Vector {
	return blas32.Vector{N: c.search.steps, Data: c.row(m, s), Inc: 1}
}

// weigh sets weighted to W, W[i,j] = (SᵀAS)[i,j]/(d_i + d_j): the rows of its lower triangle, in strips, and these
// mirrored.
func (c *dualCurvature) weigh() {
	const strips = 6
	steps := c.search.steps
	size := (steps + strips - 1) / strips
	for from := 0; from < steps; from += size {
		rows, cols := min(size, steps-from), min(from+size, steps)
		gemm.Gemm32(blas.Trans, blas.NoTrans, 1,
			blas32.General{Rows: steps, Cols: rows, Stride: steps, Data: c.s[from:]},
			blas32.General{Rows: steps, Cols: cols, Stride: steps, Data: c.product}, 0,
			blas32.General{Rows: rows, Cols: cols, Stride: steps, Data: c.weighted[from*steps:]})
	}
	for i, di := range c.d {
		row := c.row(c.weighted, i)
		for j, dj := range c.d[:i+1] {
			row[j] /= di + dj
			c.weighted[j*steps+i] = row[j]
		}
	}
}

// blocksTo writes the derivatives by the unknowns of ⟨Λ, product·Sᵀ⟩, times scale.
func (c *dualCurvature) blocksTo(out []float64, scale float64) {
	starts := make([]int, 0, len(c.search.patterns))
	c.search.unknowns(func(_ []int, at int) { starts = append(starts, at) })
	parallel.For(len(starts), func(i int) {
		at := starts[i]
		next := at + 1
		dot := func(s, t int) float64 {
			return scale * float64(blas32.Dot(c.vector(c.product, s), c.vector(c.s, t)))
		}
		for r, s := range c.search.patterns[i] {
			out[at] += dot(s, s)
			for _, t := range c.search.patterns[i][:r] {
				out[next] = 2 * dot(s, t)
				next++
			}
		}
	})
}
