package threat

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/gemm"
	"mafalda/internal/parallel"
)

// batchFloats bounds the matrices M and the responses that are in memory together.
const batchFloats = 1 << 24

// respond calls visit with the T×T matrix M of every victim, by its position in sys.victims: nil if it is infinite,
// because a gradient is seen without noise. The matrix is the callee's. visit is called by one goroutine at a time, in
// any order.
func (sys *system) respond(ctx context.Context, all []*gains, stats []statistics, visit func(i int, m *mat.SymDense) error) error {
	exposed := sys.exposed(all)
	if sys.scaled && slices.Contains(exposed, true) {
		return ErrUnclear // every gradient comes with noise of its own: a rank was misjudged
	}
	var finite []int
	for i := range sys.victims {
		if exposed[i] {
			if err := visit(i, nil); err != nil {
				return err
			}
			continue
		}
		finite = append(finite, i)
	}
	state := 0
	if all[0].closed != nil {
		state, _ = all[0].closed.Dims()
	}
	var tree *span
	if state > 0 && len(finite) > 0 {
		tree = newSpan(all, 0, len(all))
	}
	batch := min(max(1, batchFloats/(sys.steps*(sys.steps+3*state))), len(finite))
	rows := make([]float64, 3*sys.steps*batch*state)
	for from := 0; from < len(finite); from += batch {
		b := newBatch(sys, all, stats, finite[from:min(from+batch, len(finite))], state)
		b.responses, b.pulled, b.work = rows[:len(rows)/3], rows[len(rows)/3:2*len(rows)/3], rows[2*len(rows)/3:]
		if tree != nil {
			if err := b.fill(ctx, tree); err != nil {
				return err
			}
		}
		for i, v := range b.victims {
			if err := visit(v, b.m[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// exposed says which victims' gradients reach a direction of what is observed that carries no noise. Random combinations
// of each victim's gradients are looked at.
func (sys *system) exposed(all []*gains) []bool {
	out := make([]bool, len(sys.victims))
	if !sys.degenerate || len(out) == 0 {
		return out
	}
	rng := rand.New(rand.NewPCG(1, uint64(len(all))))
	for range probes {
		var alive *mat.Dense // responses of the state so far, a column a victim
		for _, g := range all {
			weights := mat.NewDense(len(out), len(out), nil)
			for i := range out {
				weights.Set(i, i, math.Copysign(1+rng.Float64(), rng.Float64()-0.5))
			}
			if g.s != nil && g.s.free != nil {
				limit := math.Sqrt(clearAbove)
				if sys.scaled {
					limit = bareAbove * math.Sqrt(g.s.scale)
				}
				if shown := sumOrNil(mulOrNil(g.c, alive), mulOrNil(g.d, weights)); shown != nil {
					bare := mul(g.s.free.T(), shown)
					for i := range out {
						out[i] = out[i] || mat.Norm(bare.ColView(i), math.Inf(1)) > limit
					}
				}
			}
			alive = sumOrNil(mulOrNil(g.closed, alive), mulOrNil(g.entry(), weights))
		}
	}
	return out
}

// sumOrNil returns a + b, where nil stands for zeros.
func sumOrNil(a, b *mat.Dense) *mat.Dense {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	return add(a, b)
}

func mulOrNil(a, b *mat.Dense) *mat.Dense {
	if a == nil || b == nil {
		return nil
	}
	return mul(a, b)
}

// joinColumns returns a with the columns of b after its own; either may be nil.
func joinColumns(a, b *mat.Dense) *mat.Dense {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	var both mat.Dense
	both.Augment(a, b)
	return &both
}

// span is some rounds in a row, halved until they are single ones, and what they make of the state together.
type span struct {
	from, to    int
	left, right *span      // nil for a single round
	over        *mat.Dense // the product of the closed matrices, latest first; nil for the whole run, which needs none
}

func newSpan(all []*gains, from, to int) *span {
	s := &span{from: from, to: to}
	if to-from == 1 {
		s.over = all[from].closed
		return s
	}
	middle := (from + to) / 2
	s.left, s.right = newSpan(all, from, middle), newSpan(all, middle, to)
	if to-from < len(all) {
		s.over = mul(s.right.over, s.left.over)
	}
	return s
}

// batch computes M for some victims. Between an early and a late gradient lies a product of many closed matrices.
// Rounds are halved again and again: where responses to the gradients of the first half have come to its end, and
// statistics of responses to the second half are pulled back to its start, they meet; then all come over the other half by
// one product. That needs O(T log T m²) operations a victim instead of O(T² m²).
type batch struct {
	state   int
	victims []int // positions
	all     []*gains
	stats   []statistics
	m       []*mat.SymDense
	step    []int // the number of gradients before every round

	responses []float64 // d of all gradients: (step, victim) rows of state numbers; there may be more room
	pulled    []float64 // statistics of all gradients, likewise
	work      []float64 // scratch as large
}

func newBatch(sys *system, all []*gains, stats []statistics, victims []int, state int) *batch {
	b := &batch{state: state, victims: victims, all: all, stats: stats, step: make([]int, len(all)+1)}
	for range victims {
		b.m = append(b.m, mat.NewSymDense(sys.steps, nil))
	}
	for i, g := range all {
		b.step[i+1] = b.step[i]
		if g.d != nil || g.e != nil {
			for j, v := range victims {
				b.m[j].SetSym(b.step[i], b.step[i], stats[i].diagonal[v])
			}
			b.step[i+1]++
		}
	}
	return b
}

// fill sets M for the gradients of a span against each other. Then responses are at its end, statistics at its start.
func (b *batch) fill(ctx context.Context, s *span) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.left == nil {
		b.single(s.from)
		return nil
	}
	if err := b.fill(ctx, s.left); err != nil {
		return err
	}
	if err := b.fill(ctx, s.right); err != nil {
		return err
	}
	b.meet(s)
	if s.to < len(b.all) {
		b.multiply(b.part(b.responses, s.left), blas.Trans, s.right.over)
	}
	if s.from > 0 {
		b.multiply(b.part(b.pulled, s.right), blas.NoTrans, s.left.over)
	}
	return nil
}

// part returns the rows of a span.
func (b *batch) part(data []float64, s *span) []float64 {
	row := len(b.victims) * b.state
	return data[b.step[s.from]*row : b.step[s.to]*row]
}

// rows is a matrix of rows of state numbers.
func (b *batch) rows(data []float64) blas64.General {
	return blas64.General{Rows: len(data) / b.state, Cols: b.state, Stride: b.state, Data: data}
}

// multiply multiplies rows by a closed matrix, from the right.
func (b *batch) multiply(rows []float64, op blas.Transpose, closed *mat.Dense) {
	if len(rows) > 0 {
		work := b.work[:len(rows)]
		gemm.Gemm(blas.NoTrans, op, 1, b.rows(rows), closed.RawMatrix(), 0, b.rows(work))
		copy(rows, work)
	}
}

// single sets the rows of a round's gradient, if there is one.
func (b *batch) single(i int) {
	t := b.step[i]
	if t == b.step[i+1] {
		return
	}
	b.set(b.responses, t, b.all[i].entry(b.victims...), func(j int) int { return j })
	b.set(b.pulled, t, b.stats[i].c, func(j int) int { return b.victims[j] })
}

// set makes columns of a matrix, one of every victim, the rows of a step, and zeros of nil.
func (b *batch) set(data []float64, t int, m *mat.Dense, column func(j int) int) {
	n := len(b.victims)
	rows := data[t*n*b.state : (t+1)*n*b.state]
	if m == nil {
		clear(rows)
		return
	}
	for s := range b.state {
		from := m.RawRowView(s)
		for j := range n {
			rows[j*b.state+s] = from[column(j)]
		}
	}
}

// meet sets M for the gradients of the first half of a span against the second half's.
func (b *batch) meet(s *span) {
	n, first, middle, last := len(b.victims), b.step[s.from], b.step[s.left.to], b.step[s.to]
	if first == middle || middle == last {
		return
	}
	parallel.For(n, func(j int) {
		row := func(data []float64, from, to int) blas64.General {
			return blas64.General{Rows: to - from, Cols: b.state, Stride: n * b.state, Data: data[(from*n+j)*b.state:]}
		}
		product := blas64.General{Rows: middle - first, Cols: last - middle, Stride: last - middle,
			Data: make([]float64, (middle-first)*(last-middle))}
		gemm.Gemm(blas.NoTrans, blas.Trans, 1, row(b.responses, first, middle), row(b.pulled, middle, last), 0, product)
		for k := range product.Rows {
			for l, v := range product.Data[k*product.Stride : (k+1)*product.Stride] {
				b.m[j].SetSym(first+k, middle+l, v)
			}
		}
	})
}
