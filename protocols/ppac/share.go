package ppac

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"mafalda/internal/dense"
	"mafalda/internal/gemm"
	"mafalda/internal/rounding"
)

// Bounds. For vectors y and r, with what arithmetic has lost in r = ê_j - Cy bounded by F entry by entry, and z ≥ ‖Pr‖,
//
//	1 - ‖Pê_j‖² = ‖(I-P)(r + f)‖² ≥ ‖r‖² - z² - 2|r|ᵀF - 2z‖F‖,          |f| ≤ F,
//	‖Pê_j‖ ≤ ‖Cy‖ + ‖P(ê_j - Cy)‖                                        where little is explained.
//
// z comes from ‖Pr‖ ≤ 2‖w‖, w = R⁻ᵀCᵀr, with R as computed (sound): |R⁻¹|ᵀ(e + nu|R|ᵀ|w|) is what rounding may have
// lost of w, e of it in the sums Cᵀr. Since y comes from R, and r has been projected again, z is of the order of
// rounding itself, and its square of nothing. F counts, for a row, as many roundings as it has entries, and how far
// these may be from the truth.
const unit = 0x1p-53

// What is explained says it better than what is left for shares of a variance below faint, and may up to small. Up to
// plain what is left need not be projected again.
const (
	faint = 1e-9
	small = 1e-3
	plain = 0.5
)

// together is for how many victims vectors are held at a time, and togetherNumbers how many numbers they may have.
const (
	together        = 256
	togetherNumbers = 1 << 25
)

// nats returns upper bounds of -½ log(1 - ‖Pê_j‖²) of the victims j, whose values are not recovered.
func (k *knowledge) nats(ctx context.Context, victims []int) ([]float64, error) {
	nats := make([]float64, len(victims))
	if k.columns.Cols == 0 {
		return nats, nil
	}
	var seen []int // numbers of victims
	for i, j := range victims {
		if k.size[j] > 0 || k.vague[j] > 0 { // otherwise nothing that is known depends on u_j
			seen = append(seen, i)
		}
	}
	part := max(1, min(together, togetherNumbers/k.columns.Rows))
	for from := 0; from < len(seen); from += part {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err := k.bound(victims, seen[from:min(from+part, len(seen))], nats); err != nil {
			return nil, err
		}
	}
	return nats, nil
}

// shares are vectors of some victims, a column each.
type shares struct {
	knowledge *knowledge
	victims   []int
	explained blas64.General // Cy
	rest      blas64.General // ê_j - Cy
	lost      blas64.General // F
}

// bound fills in the nats of the victims with these numbers.
func (k *knowledge) bound(victims, numbers []int, nats []float64) error {
	s := &shares{knowledge: k, rest: dense.NewGeneral(k.columns.Rows, len(numbers)), lost: dense.NewGeneral(k.columns.Rows,
		len(numbers))}
	for c, i := range numbers {
		s.victims = append(s.victims, victims[i])
		s.rest.Data[victims[i]*s.rest.Stride+c] = 1
	}
	s.explained = s.takeOut()
	var little, most, much []int // columns
	for c := range numbers {
		share := norm(s.explained, c)
		share *= share
		if share < small {
			little = append(little, c)
		}
		switch {
		case share < faint:
		case k.wide || !(share < plain):
			much = append(much, c)
		default:
			most = append(most, c)
		}
		nats[numbers[c]] = math.Inf(1)
	}
	for i, share := range s.pick(little).little() {
		nats[numbers[little[i]]] = rounding.Above(-math.Log1p(-share) / 2)
	}
	passes := 2
	if k.wide { // R is less good then
		passes = 4
	}
	for passes, columns := range map[int][]int{0: most, passes: much} {
		for i, left := range s.pick(columns).hiddenShares(passes) {
			at := numbers[columns[i]]
			if left > 0 {
				nats[at] = math.Min(nats[at], math.Max(rounding.Above(-math.Log(left)/2), 0))
			}
			if math.IsInf(nats[at], 1) || math.IsNaN(nats[at]) {
				return errSingular
			}
		}
	}
	return nil
}

// pick returns some of the columns.
func (s *shares) pick(columns []int) *shares {
	out := &shares{knowledge: s.knowledge}
	for _, c := range columns {
		out.victims = append(out.victims, s.victims[c])
	}
	for _, m := range []struct{ from, to *blas64.General }{{&s.explained, &out.explained}, {&s.rest, &out.rest},
		{&s.lost, &out.lost}} {
		*m.to = dense.NewGeneral(m.from.Rows, len(columns))
		for i := range m.from.Rows {
			for to, c := range columns {
				m.to.Data[i*m.to.Stride+to] = m.from.Data[i*m.from.Stride+c]
			}
		}
	}
	return out
}

// takeOut projects what is known out of the rest, and returns Cy, what it has taken.
func (s *shares) takeOut() blas64.General {
	k, columns := s.knowledge, s.rest.Cols
	y := dense.NewGeneral(k.columns.Cols, columns)
	gemm.Gemm(blas.Trans, blas.NoTrans, 1, k.columns, s.rest, 0, y)
	gemm.Trsm(blas.Left, blas.Trans, 1, k.upper, y)
	gemm.Trsm(blas.Left, blas.NoTrans, 1, k.upper, y)
	taken := dense.NewGeneral(k.columns.Rows, columns)
	gemm.Gemm(blas.NoTrans, blas.NoTrans, 1, k.columns, y, 0, taken)
	sum, most := make([]float64, columns), make([]float64, columns) // of |y|
	for i, x := range y.Data {
		sum[i%columns] += math.Abs(x)
		most[i%columns] = math.Max(most[i%columns], math.Abs(x))
	}
	for i := range k.columns.Rows {
		for c := range columns {
			at := i*columns + c
			magnitude := k.size[i] * math.Min(sum[c], k.entries[i]*most[c]) // of the terms of the row
			s.lost.Data[at] += (k.entries[i]+2)*unit*(magnitude+math.Abs(s.rest.Data[at])) + k.vague[i]*sum[c]
			s.rest.Data[at] -= taken.Data[at]
		}
	}
	return taken
}

// seenShares returns, for columns x, an upper bound of twice ‖R⁻ᵀ(Cᵀx - b)‖, with what rounding does to sums and
// solution, and b, if there is one, a row of C.
func (s *shares) seenShares(x blas64.General, row func(c int) int) []float64 {
	k := s.knowledge
	product, lost := s.residuals(x, row)
	vague := make([]float64, x.Cols)
	for at, v := range x.Data {
		vague[at%x.Cols] += k.vague[at/x.Cols] * math.Abs(v)
	}
	for at := range lost.Data {
		c := at % x.Cols
		lost.Data[at] += vague[c]
		if row != nil {
			lost.Data[at] += k.vague[row(c)]
		}
	}
	gemm.Trsm(blas.Left, blas.Trans, 1, k.upper, product)
	sizes, solving := make([]float64, x.Cols), dense.NewGeneral(product.Rows, x.Cols) // |R|ᵀ|w| for w = R⁻ᵀ(Cᵀx - b)
	for at, v := range product.Data {
		product.Data[at] = math.Abs(v)
		solving.Data[at] = math.Abs(v)
	}
	gemm.Trmm(blas.Left, blas.Trans, 1, k.magnitude, solving)
	for at, v := range solving.Data {
		lost.Data[at] += float64(product.Rows+4) * unit * v
	}
	gemm.Trmm(blas.Left, blas.Trans, 1, k.inverse, lost)
	for at, v := range lost.Data {
		product.Data[at] += v
	}
	for c := range sizes {
		sizes[c] = 2 * norm(product, c)
	}
	return sizes
}

// residuals returns Cᵀx - b, and what rounding may have lost of it. Where standard deviations are far apart R⁻¹ is so
// large that sums in double precision lose too much: they are made in twice that.
func (s *shares) residuals(x blas64.General, row func(c int) int) (product, lost blas64.General) {
	k, rank := s.knowledge, s.knowledge.columns.Cols
	product, lost = dense.NewGeneral(rank, x.Cols), dense.NewGeneral(rank, x.Cols)
	positive := dense.NewGeneral(x.Rows, x.Cols)
	for at, v := range x.Data {
		positive.Data[at] = math.Abs(v)
	}
	if row != nil {
		for c := range x.Cols {
			for r, v := range dense.Row(k.columns, row(c)) {
				product.Data[r*x.Cols+c] = -v
			}
		}
	}
	terms := float64(x.Rows + 4)
	relative := terms * unit
	if k.wide {
		relative *= relative
	}
	own := product
	if row != nil {
		own = blas64.General{Rows: rank, Cols: x.Cols, Stride: x.Cols, Data: slices.Clone(product.Data)}
	}
	gemm.Gemm(blas.Trans, blas.NoTrans, 1, k.absolute, positive, 0, lost)
	for at, v := range own.Data {
		lost.Data[at] = relative*(lost.Data[at]+math.Abs(v)) + terms*0x1p-1022
	}
	if k.wide {
		addCompensated(product, k.columns, x)
	} else {
		gemm.Gemm(blas.Trans, blas.NoTrans, 1, k.columns, x, 1, product)
	}
	for at, v := range product.Data {
		lost.Data[at] += 4 * unit * math.Abs(v)
	}
	return product, lost
}

// little returns upper bounds of ‖Pê_j‖² by ‖Cy‖.
func (s *shares) little() []float64 {
	if len(s.victims) == 0 {
		return nil
	}
	shares := s.seenShares(s.explained, func(c int) int { return s.victims[c] })
	grown := 1 + float64(s.rest.Rows+4)*unit
	for c, z := range shares {
		size := norm(s.explained, c)*grown + 2*norm(s.lost, c) + z
		shares[c] = size * size * (1 + 8*unit)
	}
	return shares
}

// hiddenShares returns lower bounds of 1 - ‖Pê_j‖². P is taken out passes times, for what rounding in R has left
// of it.
func (s *shares) hiddenShares(passes int) []float64 {
	if len(s.victims) == 0 {
		return nil
	}
	for range passes {
		s.takeOut()
	}
	left := s.seenShares(s.rest, nil)
	shrunk := 1 - float64(s.rest.Rows+8)*unit
	for c, z := range left {
		var squared, cross float64
		for at := c; at < len(s.rest.Data); at += s.rest.Stride {
			squared += s.rest.Data[at] * s.rest.Data[at]
			cross += math.Abs(s.rest.Data[at]) * s.lost.Data[at]
		}
		left[c] = squared*shrunk - (z*z+2*cross+2*z*norm(s.lost, c))*(2-shrunk)
	}
	return left
}

// norm returns the Euclidean norm of a column of m.
func norm(m blas64.General, column int) float64 {
	return blas64.Nrm2(blas64.Vector{N: m.Rows, Inc: m.Stride, Data: m.Data[column:]})
}

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }
