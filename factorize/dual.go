package factorize

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
	"mafalda/internal/rounding"
)

// factor is F of a dual variable Λ = F Fᵀ, T×T.
type factor interface {
	mulTo(dst, a []float64) // a·F, both T×T row by row
	dense() *mat.Dense
}

// dualFactor makes F of lambda (T×T, row by row; symmetric with a positive diagonal) and returns it with Σ_i y_i,
// rounded up, where y_i is what a budget can pay: the largest sum of diagonal entries of F Fᵀ over one of its groups,
// divided by its cost. Entries of lambda that would meet entries of X that are free are dropped; what remains is
// scaled by congruence to equal sums over the groups of each budget, and mixed with the identity until it is
// numerically positive definite. If the patterns are a partition and there is no band, F is block diagonal over them.
func dualFactor(lambda []float64, k mask) (factor, float64, error) {
	if k.partition() {
		return newBlockFactor(lambda, k)
	}
	return newMaskFactor(lambda, k)
}

// blockFactor is a block-diagonal F: for every pattern a lower-triangular k×k matrix.
type blockFactor struct {
	steps    int
	patterns [][]int
	blocks   []*mat.TriDense
}

func newBlockFactor(lambda []float64, k mask) (*blockFactor, float64, error) {
	steps := k.schema.Steps()
	f := &blockFactor{steps: steps, patterns: k.schema.Disjoint()}
	var total rounding.Sum
	for _, pattern := range f.patterns {
		scale, y, err := unitScale(lambda, steps, pattern)
		if err != nil {
			return nil, 0, err
		}
		block := mat.NewSymDense(len(pattern), nil)
		for i, s := range pattern {
			block.SetSym(i, i, 1)
			for j := i + 1; j < len(pattern); j++ {
				block.SetSym(i, j, lambda[s*steps+pattern[j]]*scale[i]*scale[j])
			}
		}
		chol := factorOf(block)
		var lower mat.TriDense
		chol.LTo(&lower)
		lower.ScaleTri(math.Sqrt(y), &lower)
		f.blocks = append(f.blocks, &lower)
		var largest float64
		for i := range pattern {
			largest = math.Max(largest, squaredNormUp(lower.RawTriangular().Data[i*len(pattern):i*len(pattern)+i+1]))
		}
		total.Add(largest)
	}
	return f, total.Up(), nil
}

// unitScale returns the factors that scale the pattern's diagonal entries to one, and the mean of these entries.
func unitScale(lambda []float64, steps int, pattern []int) (scale []float64, mean float64, err error) {
	scale = make([]float64, len(pattern))
	for i, s := range pattern {
		d := lambda[s*steps+s]
		if !(d > 0) || math.IsInf(d, 1) {
			return nil, 0, fmt.Errorf("dual variable has the diagonal entry %v", d)
		}
		scale[i] = 1 / math.Sqrt(d)
		mean += d / float64(len(pattern))
	}
	return scale, mean, nil
}

func squaredNormUp(row []float64) float64 {
	var sum rounding.Sum
	for _, v := range row {
		sum.AddProduct(v, v)
	}
	return sum.Up()
}

// factorOf returns the Cholesky factorization of the unit-diagonal block, after shrinking its off-diagonal as much as
// it takes to have one.
func factorOf(block *mat.SymDense) *dense.Cholesky {
	var chol dense.Cholesky
	k := block.SymmetricDim()
	for mix := 1e-14; !chol.Factorize(block); mix = math.Min(8*mix, 1) {
		for i := range k {
			for j := i + 1; j < k; j++ {
				block.SetSym(i, j, (1-mix)*block.At(i, j))
			}
		}
	}
	return &chol
}

// dense returns F as a T×T matrix whose columns are sorted by pattern; the order changes no nuclear norm.
func (f *blockFactor) dense() *mat.Dense {
	steps := f.steps
	d := mat.NewDense(steps, steps, nil)
	column := 0
	for i, pattern := range f.patterns {
		for j := range pattern {
			for r := j; r < len(pattern); r++ {
				d.Set(pattern[r], column, f.blocks[i].At(r, j))
			}
			column++
		}
	}
	return d
}

// mulTo works pattern by pattern, O(T²k); the columns of the result are sorted by pattern.
func (f *blockFactor) mulTo(dst, a []float64) {
	steps := f.steps
	gathered := make([]float64, steps)
	for t := range steps {
		row, out, column := a[t*steps:(t+1)*steps], dst[t*steps:(t+1)*steps], 0
		for i, pattern := range f.patterns {
			for r, s := range pattern {
				gathered[r] = row[s]
			}
			block := f.blocks[i].RawTriangular()
			result := out[column : column+len(pattern)]
			column += len(pattern)
			clear(result)
			for r, v := range gathered[:len(pattern)] {
				for j, x := range block.Data[r*block.Stride : r*block.Stride+r+1] {
					result[j] += v * x
				}
			}
		}
	}
}

// maskFactor is F for any other mask: Λ is zero where X is free, and otherwise arbitrary, since there X is zero.
type maskFactor struct {
	steps int
	upper []float64 // Fᵀ
}

func newMaskFactor(lambda []float64, k mask) (*maskFactor, float64, error) {
	steps := k.schema.Steps()
	scale, back, err := groupScales(lambda, k)
	if err != nil {
		return nil, 0, err
	}
	unit := mat.NewSymDense(steps, nil)
	for s := range steps {
		unit.SetSym(s, s, 1)
		for t := s + 1; t < steps; t++ {
			if !k.free(s, t) {
				unit.SetSym(s, t, lambda[s*steps+t]*scale[s]*scale[t])
			}
		}
	}
	f := &maskFactor{steps: steps, upper: mat.DenseCopyOf(factorOf(unit).RawU()).RawMatrix().Data}
	column := make([]float64, steps)
	norms := make([]float64, steps)
	for s := range steps { // row s of F is column s of Fᵀ
		for t := range s + 1 {
			f.upper[t*steps+s] *= back[s]
			column[t] = f.upper[t*steps+s]
		}
		norms[s] = squaredNormUp(column[:s+1])
	}
	var total rounding.Sum
	for _, budget := range k.budgets {
		var largest float64
		for _, group := range budget.Groups {
			var sum rounding.Sum
			for _, s := range group {
				sum.Add(norms[s])
			}
			largest = math.Max(largest, sum.Up())
		}
		total.Add(math.Nextafter(largest/budget.Cost, math.Inf(1)))
	}
	return f, total.Up(), nil
}

// groupScales returns the factors that scale the diagonal of lambda to one, and those that scale it back to diagonals
// of equal sums over the groups of each budget.
func groupScales(lambda []float64, k mask) (scale, back []float64, err error) {
	steps := k.schema.Steps()
	scale, back = make([]float64, steps), make([]float64, steps)
	for _, budget := range k.budgets {
		var total float64
		sums := make([]float64, len(budget.Groups))
		for i, group := range budget.Groups {
			one, mean, err := unitScale(lambda, steps, group)
			if err != nil {
				return nil, nil, err
			}
			sums[i] = mean * float64(len(group))
			total += sums[i]
			for j, s := range group {
				scale[s] = one[j]
			}
		}
		for i, group := range budget.Groups {
			for _, s := range group {
				back[s] = math.Sqrt(total/float64(len(sums))/sums[i]) / scale[s]
			}
		}
	}
	return scale, back, nil
}

func (f *maskFactor) dense() *mat.Dense {
	return mat.DenseCopyOf(mat.NewDense(f.steps, f.steps, f.upper).T())
}

func (f *maskFactor) mulTo(dst, a []float64) { dense.MulUpperTo(dst, a, f.upper, f.steps) }
