package consensus

import (
	"math"
	"math/big"

	"mafalda/graph"
	"mafalda/internal/lists"
	"mafalda/protocols/internal/modular"
)

// Weights are a consensus matrix as rational numbers. Weights 1/k with whole k, as I - (D-A)/d_max, Metropolis and
// max-degree weights of graphs without weights have, are taken for what they are meant to be, with the diagonal that
// makes rows sum to 1; other matrices for what their floating-point numbers are.
type Weights struct {
	Matrix *graph.CSR
	shares bool
}

// largestShare is the largest k that is recognized.
const largestShare = 1 << 30

// NewWeights looks at a matrix, which it keeps.
func NewWeights(w *graph.CSR) *Weights {
	n, _ := w.Dims()
	const ulps = 4 * 0x1p-53
	shares := true
	for i := range n {
		var sum, self float64
		w.DoRowNonZero(i, func(_, j int, v float64) {
			if i == j {
				self = v
				return
			}
			k := math.Round(1 / v)
			shares = shares && k >= 1 && k <= largestShare && math.Abs(v*k-1) <= ulps
			sum += v
		})
		shares = shares && math.Abs(1-sum-self) <= float64(w.RowNNZ(i)+2)*ulps
	}
	return &Weights{w, shares}
}

// share returns k of a weight 1/k.
func share(v float64) int64 { return int64(math.Round(1 / v)) }

// Residues returns the weights modulo the prime, in the order of the matrix.
func (w *Weights) Residues() [][]uint64 {
	n, _ := w.Matrix.Dims()
	rows := make([][]uint64, n)
	for i := range n {
		row := make([]uint64, 0, w.Matrix.RowNNZ(i))
		self, sum := -1, uint64(0)
		w.Matrix.DoRowNonZero(i, func(_, j int, v float64) {
			x := modular.Residue(v)
			if w.shares && i != j {
				x = modular.Inverse(uint64(share(v)))
				sum = modular.Add(sum, x)
			}
			if i == j {
				self = len(row)
			}
			row = append(row, x)
		})
		if w.shares && self >= 0 {
			row[self] = modular.Add(1, modular.Neg(sum))
		}
		rows[i] = row
	}
	return rows
}

// Floats returns the weights with so many bits, in the order of the matrix.
func (w *Weights) Floats(bits uint) [][]*big.Float {
	n, _ := w.Matrix.Dims()
	return lists.Make(n, func(i int) []*big.Float { return w.Row(i, bits) })
}

// Row returns the weights of a row.
func (w *Weights) Row(i int, bits uint) []*big.Float {
	number := func() *big.Float { return new(big.Float).SetPrec(bits) }
	row := make([]*big.Float, 0, w.Matrix.RowNNZ(i))
	self, sum := -1, number()
	w.Matrix.DoRowNonZero(i, func(_, j int, v float64) {
		x := number().SetFloat64(v)
		if w.shares && i != j {
			x.Quo(number().SetInt64(1), number().SetInt64(share(v)))
			sum.Add(sum, x)
		}
		if i == j {
			self = len(row)
		}
		row = append(row, x)
	})
	if w.shares && self >= 0 {
		row[self].Sub(number().SetInt64(1), sum)
	}
	return row
}

// Times returns xᵀW modulo the prime.
func Times(x []uint64, w *graph.CSR, residues [][]uint64) []uint64 {
	y := make([]uint64, len(x))
	for i, c := range x {
		if c == 0 {
			continue
		}
		at := 0
		w.DoRowNonZero(i, func(_, j int, _ float64) {
			y[j] = modular.Add(y[j], modular.Mul(c, residues[i][at]))
			at++
		})
	}
	return y
}
