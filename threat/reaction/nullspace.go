package reaction

import (
	"math"
	"slices"

	"mafalda/internal/lists"

	"gonum.org/v1/gonum/mat"
)

// A direction of what is seen whose length, beside the others, is below freeBelow after the others are taken out is a
// combination of them; between freeBelow and clearAbove rounding does not allow to tell.
const (
	freeBelow  = 1e-13
	clearAbove = 1e-9
)

// basis is an orthonormal basis of all vectors of m messages: seen ones first, the row space of H, then those that the
// attacker does not see, the null space of H.
type basis struct {
	seen, unseen [][]float64
}

// exact reports whether all vectors of the basis are unit vectors.
func (b basis) exact() bool {
	for _, column := range slices.Concat(b.seen, b.unseen) {
		if slices.ContainsFunc(column, func(x float64) bool { return x != 0 && math.Abs(x) != 1 }) {
			return false
		}
	}
	return true
}

// basisOf returns the basis that belongs to what is seen, by Householder reflections of the rows of H, the longest
// first. Unit rows are reflected exactly. ok is false if the rank cannot be told.
func basisOf(h *mat.Dense, m int) (b basis, ok bool) {
	var rows [][]float64
	if h != nil {
		count, _ := h.Dims()
		for i := range count {
			row := slices.Clone(h.RawRowView(i))
			if length := norm(row); length > 0 {
				for j := range row {
					row[j] /= length
				}
				rows = append(rows, row)
			}
		}
	}
	// rows of the product of all reflections, which is orthogonal
	full := lists.Make(m, func(i int) []float64 { return unitVector(m, i) })
	rank := 0
	for len(rows) > 0 && rank < m {
		longest, length := 0, -1.0
		for i, row := range rows {
			if l := norm(row[rank:]); l > length {
				longest, length = i, l
			}
		}
		if length < freeBelow {
			break
		}
		if length < clearAbove {
			return basis{}, false
		}
		v := slices.Clone(rows[longest][rank:])
		rows = slices.Delete(rows, longest, longest+1)
		// move the largest entry to the front: unit rows then stay permutations
		largest := 0
		for j := range v {
			if math.Abs(v[j]) > math.Abs(v[largest]) {
				largest = j
			}
		}
		swap := func(x []float64) { x[0], x[largest] = x[largest], x[0] }
		swap(v)
		v[0] += math.Copysign(length, v[0])
		scale := 2 / dot(v, v)
		reflect := func(x []float64) {
			swap(x)
			if d := dot(v, x); d != 0 {
				add(x, -scale*d, v)
			}
		}
		for _, row := range rows {
			reflect(row[rank:])
		}
		for _, row := range full {
			reflect(row[rank:])
		}
		rank++
	}
	// H times the reflections is lower trapezoidal: the first columns of their product span its rows
	for j := range m {
		column := lists.Map(full, func(row []float64) float64 { return row[j] })
		if j < rank {
			b.seen = append(b.seen, column)
		} else {
			b.unseen = append(b.unseen, column)
		}
	}
	return b, true
}

func norm(x []float64) float64 { return math.Sqrt(dot(x, x)) }
