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

// observed is what an audit looks at: rows of noise and gradients over the parameters.
type observed struct {
	rows      int
	whitening *mat.Dense // L⁻¹, rows×rows: the noise of L⁻¹O is independent, with deviation 1
	layers    []int      // parameters of each

	design func(row []float64, taken []int)           // adds to the rows what a gradient of norm 1 in these steps does
	read   func(dst []float32, from, width int) error // columns from … of O, row by row

	dim int
}

// Gram returns G = OOᵀ. Time is O(rows²·dim).
func (o *observed) Gram(ctx context.Context, progress func(done int)) (*mat.SymDense, error) {
	total := mat.NewSymDense(o.rows, nil)
	block, gram := make([]float32, o.rows*width), make([]float32, o.rows*o.rows)
	for from := 0; from < o.dim; from += width {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		w := min(width, o.dim-from)
		if err := o.read(block, from, w); err != nil {
			return nil, err
		}
		a := general(block, o.rows, w)
		gemm.Gemm32(blas.NoTrans, blas.Trans, 1, a, a, 0, general(gram, o.rows, o.rows))
		for i := range o.rows {
			for j := i; j < o.rows; j++ {
				total.SetSym(i, j, total.At(i, j)+float64(gram[i*o.rows+j]))
			}
		}
		progress(from + w)
	}
	return total, nil
}

// Along returns, for every matrix of weights, part of the model and direction, ⟨w, O c⟩, where c are the signs of the
// direction and w is its row of the weights: that of its number in pattern, in turn. Directions behind pattern are of
// no canary. Parts are layers, or several next to each other where there are many. Time is O(dim·(directions +
// rows·weights)).
func (o *observed) Along(
	ctx context.Context, c *Coins, weights []*mat.Dense, pattern []int, unused int, progress func(done int),
) (sums [][][]float64, sizes []int, err error) {
	sizes = parts(o.layers)
	count, kinds := len(pattern)+unused, len(weights)
	each, _ := weights[0].Dims()
	left := make([]float32, kinds*each*o.rows)
	for k, m := range weights {
		for i := range each {
			for j := range o.rows {
				left[(k*each+i)*o.rows+j] = float32(m.At(i, j))
			}
		}
		sums = append(sums, make([][]float64, len(sizes)))
	}
	block, product, d := make([]float32, o.rows*width), make([]float32, kinds*each*width), make([]float32, count*width)
	signs := newSigns(c, count)
	from := 0
	for part, size := range sizes {
		for k := range kinds {
			sums[k][part] = make([]float64, count)
		}
		for end := from + size; from < end; {
			if ctx.Err() != nil {
				return nil, nil, context.Cause(ctx)
			}
			w := min(width, end-from)
			if err := o.read(block, from, w); err != nil {
				return nil, nil, err
			}
			signs.next(d, w)
			gemm.Gemm32(blas.NoTrans, blas.NoTrans, 1, general(left, kinds*each, o.rows), general(block, o.rows, w), 0,
				general(product, kinds*each, w))
			for i := range count {
				for k := range kinds {
					row := (k*each + pattern[i%len(pattern)]) * w
					sums[k][part][i] += float64(blas32.Dot(vector(d[i*w:(i+1)*w]), vector(product[row:row+w])))
				}
			}
			from += w
			progress(from)
		}
	}
	return sums, sizes, nil
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
