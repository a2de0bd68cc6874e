package canaries

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/gemm"
)

const (
	maxParts = 16   // of a model, that are looked at apart
	width    = 2048 // columns of O at a time, a multiple of 8
)

// observed is what an audit looks at: rows of noise and gradients over the parameters.
type observed struct {
	rows      int
	whitening *mat.Dense // L⁻¹, rows×rows: the noise of L⁻¹O is independent, with deviation 1
	layers    []int      // parameters of each

	design func(row []float64, taken []int)           // adds to the rows what a gradient of norm 1 in these steps does
	read   func(dst []float32, from, width int) error // columns from … of O, row by row

	dim int
}

// Gram returns ZZᵀ, Z the rows O above the rows V of the patterns (signs.patterns). Time is O((rows+patterns)²·dim).
func (o *observed) Gram(ctx context.Context, c *Coins, look *canary, progress func(done int)) (*mat.SymDense, error) {
	patterns := len(look.times)
	n := o.rows + patterns
	total := mat.NewSymDense(n, nil)
	block, gram, signs := make([]float32, n*width), make([]float32, n*n), newSigns(c, len(c.Steps))
	for from := 0; from < o.dim; from += width {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		w := min(width, o.dim-from)
		if err := o.read(block, from, w); err != nil {
			return nil, err
		}
		signs.patterns(block[o.rows*w:n*w], w, look, o.dim)
		a := general(block, n, w)
		gemm.Gemm32(blas.NoTrans, blas.Trans, 1, a, a, 0, general(gram, n, n))
		for i := range n {
			for j := i; j < n; j++ {
				total.SetSym(i, j, total.At(i, j)+float64(gram[i*n+j]))
			}
		}
		progress(from + w)
	}
	return total, nil
}

// patterns writes the next columns of V, a row for each pattern: Σ x_i c_i over its canaries, x_i what each contributes.
// It returns the signs.
func (s *signs) patterns(dst []float32, columns int, look *canary, dim int) []float32 {
	clear(dst)
	if s.block == nil {
		s.block = make([]float32, len(s.streams)*width)
	}
	block := s.block[:len(s.streams)*columns]
	s.next(block, columns)
	for i, p := range look.pattern {
		row := vector(dst[p*columns : (p+1)*columns])
		blas32.Axpy(float32(look.took[i]/math.Sqrt(float64(dim))), vector(block[i*columns:(i+1)*columns]), row)
	}
	return block
}

// projection is ⟨V, QE⟩ over a part of the model, Q weights of rows and E = O - FV what is left of O if all canaries
// arrived; its variance over the signs of V; and ⟨V, QFV⟩.
type projection struct{ sum, variance, template float64 }

func (p *projection) add(q projection) {
	p.sum, p.variance, p.template = p.sum+q.sum, p.variance+q.variance, p.template+q.template
}

// Project returns the scores ⟨w, O c_i⟩ of canaries, w the row of their pattern, and projections for every matrix of
// weights (patterns×rows) and part of the model. Parts are layers, or several next to each other where there are many.
// Time is O(dim·(canaries + rows·patterns·(1 + weights) + patterns²·weights)).
func (o *observed) Project(
	ctx context.Context, c *Coins, look *canary, scoring *mat.Dense, weights []*mat.Dense, progress func(done int),
) (scores []float64, found [][]projection, sizes []int, err error) {
	sizes = parts(o.layers)
	patterns, count := len(look.times), len(look.pattern)
	block, v := make([]float32, o.rows*width), make([]float32, patterns*width)
	product, signs := make([]float32, patterns*width), newSigns(c, count)
	design, score := single(look.design), single(scoring)
	left, own := make([]blas32.General, len(weights)), make([]blas32.General, len(weights))
	for k, q := range weights {
		left[k], own[k] = single(q), single(multiply(q, look.design))
		found = append(found, make([]projection, len(sizes)))
	}
	scores = make([]float64, count)
	from := 0
	for part, size := range sizes {
		for end := from + size; from < end; {
			if ctx.Err() != nil {
				return nil, nil, nil, context.Cause(ctx)
			}
			w := min(width, end-from)
			if err := o.read(block, from, w); err != nil {
				return nil, nil, nil, err
			}
			rows, sums, out := general(block, o.rows, w), general(v, patterns, w), general(product, patterns, w)
			all := signs.patterns(sums.Data, w, look, o.dim)
			gemm.Gemm32(blas.NoTrans, blas.NoTrans, 1, score, rows, 0, out)
			for i, p := range look.pattern {
				scores[i] += float64(blas32.Dot(vector(all[i*w:(i+1)*w]), vector(out.Data[p*w:(p+1)*w])))
			}
			gemm.Gemm32(blas.NoTrans, blas.NoTrans, -1, design, sums, 1, rows) // E
			for k := range weights {
				at := &found[k][part]
				gemm.Gemm32(blas.NoTrans, blas.NoTrans, 1, left[k], rows, 0, out)
				for p, times := range look.times {
					row := vector(out.Data[p*w : (p+1)*w])
					at.sum += float64(blas32.Dot(row, vector(sums.Data[p*w:(p+1)*w])))
					at.variance += times / float64(o.dim) * float64(blas32.Dot(row, row))
				}
				gemm.Gemm32(blas.NoTrans, blas.NoTrans, 1, own[k], sums, 0, out)
				at.template += float64(blas32.Dot(vector(out.Data), vector(sums.Data)))
			}
			from += w
			progress(from)
		}
	}
	return scores, found, sizes, nil
}

func single(m *mat.Dense) blas32.General {
	r, c := m.Dims()
	g := general(make([]float32, r*c), r, c)
	for i := range r {
		for j := range c {
			g.Data[i*c+j] = float32(m.At(i, j))
		}
	}
	return g
}

// parts joins layers next to each other until there are at most maxParts.
func parts(layers []int) []int {
	each := (len(layers) + maxParts - 1) / maxParts
	var sizes []int
	for i, n := range layers {
		if i%each == 0 {
			sizes = append(sizes, 0)
		}
		sizes[len(sizes)-1] += n
	}
	return sizes
}

func vector(data []float32) blas32.Vector { return blas32.Vector{N: len(data), Inc: 1, Data: data} }

func general(data []float32, rows, columns int) blas32.General {
	return blas32.General{Rows: rows, Cols: columns, Stride: columns, Data: data[:rows*columns]}
}
