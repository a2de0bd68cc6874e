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
	Matrix   *graph.CSR
	shares   bool
	residues [][]uint64 // the weights modulo the prime, in the order of the matrix
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
	weights := &Weights{Matrix: w, shares: shares}
	weights.residues = lists.Make(n, func(i int) []uint64 {
		return row(weights, i, modular.Residue, func(k int64) uint64 { return modular.Inverse(uint64(k)) },
			func(others []uint64) uint64 {
				sum := uint64(0)
				for _, x := range others {
					sum = modular.Add(sum, x)
				}
				return modular.Add(1, modular.Neg(sum))
			})
	})
	return weights
}

// row returns the weights of row i, in the order of the matrix, as numbers of some kind: by the number of a
// floating-point one, by 1/k, and by what others leave of 1.
func row[N any](w *Weights, i int, of func(v float64) N, inverse func(k int64) N, rest func(others []N) N) []N {
	var all, others []N
	self := -1
	w.Matrix.DoRowNonZero(i, func(_, j int, v float64) {
		x := of(v)
		switch {
		case i == j:
			self = len(all)
		case w.shares:
			x = inverse(int64(math.Round(1 / v)))
			others = append(others, x)
		}
		all = append(all, x)
	})
	if w.shares && self >= 0 {
		all[self] = rest(others)
	}
	return all
}

// Fixed returns a number with this many binary digits behind the point.
func Fixed(v float64, bits uint) *big.Int {
	x, _ := new(big.Float).SetMantExp(big.NewFloat(v), int(bits)).Int(nil)
	return x
}

// Row returns the weights of a row with this many binary digits behind the point, in the order of the matrix.
func (w *Weights) Row(i int, bits uint) []*big.Int {
	one := new(big.Int).Lsh(big.NewInt(1), bits)
	return row(w, i, func(v float64) *big.Int { return Fixed(v, bits) },
		func(k int64) *big.Int { return new(big.Int).Quo(one, big.NewInt(k)) },
		func(others []*big.Int) *big.Int {
			left := new(big.Int).Set(one)
			for _, x := range others {
				left.Sub(left, x)
			}
			return left
		})
}

// Times returns xᵀW modulo the prime.
func (w *Weights) Times(x []uint64) []uint64 {
	y := make([]uint64, len(x))
	for i, c := range x {
		if c == 0 {
			continue
		}
		at := 0
		w.Matrix.DoRowNonZero(i, func(_, j int, _ float64) {
			y[j] = modular.Add(y[j], modular.Mul(c, w.residues[i][at]))
			at++
		})
	}
	return y
}
