package canaries

import (
	"context"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/gemm"
)

const (
	maxParts = 16   // of a model, that are looked at apart
	width    = 2048 // columns of O at a time, a multiple of 8
)

// Sums is all that an audit needs of the messages.
type Sums struct {
	Gram        *mat.SymDense // G = OOᵀ over the steps that were sent
	Projections []*mat.Dense  // of every part of the model: steps sent × directions, of canaries first
	Sizes       []int         // parameters of every part
}

// Project reads the messages once. Directions are those of the canaries, and unused ones behind them. Time is
// O(T·d·directions), memory O(T·directions) for every part: a layer, or several next to each other where there are
// many.
func Project(
	ctx context.Context, r *Run, c *Coins, sent []int, unused int, progress func(done, all int),
) (*Sums, error) {
	sizes := parts(r.Layers)
	count, steps := len(c.Steps)+unused, len(sent)
	s := &Sums{Gram: mat.NewSymDense(steps, nil), Sizes: sizes}
	o, d := make([]float32, steps*width), make([]float32, count*width)
	product, gram := make([]float32, steps*count), make([]float32, steps*steps)
	signs := newSigns(c, count)
	from := 0
	for _, size := range sizes {
		total := mat.NewDense(steps, count, nil)
		for end := from + size; from < end; {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			w := min(width, end-from)
			if err := r.gradients(o, sent, from, w); err != nil {
				return nil, err
			}
			signs.next(d, w)
			a, b := general(o, steps, w), general(d, count, w)
			gemm.Gemm32(blas.NoTrans, blas.Trans, 1, a, b, 0, general(product, steps, count))
			gemm.Gemm32(blas.NoTrans, blas.Trans, 1, a, a, 0, general(gram, steps, steps))
			for i := range steps {
				row := total.RawRowView(i)
				for j := range row {
					row[j] += float64(product[i*count+j])
				}
				for j := i; j < steps; j++ {
					s.Gram.SetSym(i, j, s.Gram.At(i, j)+float64(gram[i*steps+j]))
				}
			}
			from += w
			if progress != nil {
				progress(from, r.Dim)
			}
		}
		s.Projections = append(s.Projections, total)
	}
	return s, nil
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

func general(data []float32, rows, columns int) blas32.General {
	return blas32.General{Rows: rows, Cols: columns, Stride: columns, Data: data[:rows*columns]}
}
