package reaction

import (
	"math"

	"mafalda/internal/lists"
)

// What is computed of Q and P differs from the exact value by at most γ times the same products of absolute values,
// entry by entry. Such an error E, |E| ≤ γ|A|ᵀ|P||A| and the like, is made up for by a diagonal: for any weights w > 0
//
//	±E ⪯ diag((|E| w)_i / w_i),
//
// by diagonal dominance in the scale w. |E| w takes products of matrices with vectors only. With w_i = 1/√Q_ii the
// diagonal is a multiple of Q_ii, so that small costs of far victims are raised by little, too.

// unit is the largest relative error of one rounding.
const unit = 0x1p-53

// gamma returns a bound for what sums of n products, a few of them in a row, lose relative to sums of absolute values.
func gamma(n int) float64 { return 4 * float64(n+8) * unit }

// smallest is the share of the largest cost below which weights do not grow: sensitivities beyond its root are below
// what raise adds.
const smallest = 1e-26

// weightsOf returns 1/√a_ii for the diagonal of a cost.
func weightsOf(a []float64, n int) []float64 {
	largest := 0.0
	for i := range n {
		largest = math.Max(largest, a[i*n+i])
	}
	w := make([]float64, n)
	if largest == 0 {
		return w
	}
	for i := range w {
		w[i] = 1 / math.Sqrt(math.Max(a[i*n+i], smallest*largest))
	}
	return w
}

// raiseBy adds error/weight to the diagonal of a cost.
func raiseBy(a []float64, n int, errors, weights []float64) {
	for i, e := range errors {
		if e > 0 {
			a[i*n+i] += e / weights[i] * (1 + 1e-10)
		}
	}
}

// absTimes returns |A|x for a matrix of rows×cols numbers.
func absTimes(a []float64, rows, cols int, x []float64) []float64 {
	y := make([]float64, rows)
	for i := range y {
		sum := 0.0
		for j, v := range a[i*cols : (i+1)*cols] {
			sum += math.Abs(v) * x[j]
		}
		y[i] = sum
	}
	return y
}

// absTransposeTimes returns |A|ᵀx.
func absTransposeTimes(a []float64, rows, cols int, x []float64) []float64 {
	y := make([]float64, cols)
	for i := range rows {
		if x[i] == 0 {
			continue
		}
		for j, v := range a[i*cols : (i+1)*cols] {
			y[j] += math.Abs(v) * x[i]
		}
	}
	return y
}

// abs returns |O|.
func (o *operator) abs() *operator {
	out := *o
	out.value, out.full.Data = lists.Map(o.value, math.Abs), nil
	return &out
}
