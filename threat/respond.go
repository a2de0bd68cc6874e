package threat

import (
	"context"
	"math"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/gemm"
)

// batchFloats bounds the matrices M and the responses that are in memory together.
const batchFloats = 1 << 22

// respond calls visit with the T×T matrix M of every victim, by its position in sys.victims: nil if it is infinite,
// because a gradient is seen without noise. The matrix is the callee's. visit is called by one goroutine at a time, in
// any order.
func (sys *system) respond(ctx context.Context, all []*gains, stats []statistics, visit func(i int, m *mat.SymDense) error) error {
	exposed := make([]bool, len(sys.victims))
	if !sys.scaled {
		exposed = sys.exposed(all)
	} else if sys.leaks(all) {
		return ErrUnclear
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
	batch := max(1, batchFloats/(sys.steps*(sys.steps+state)))
	for from := 0; from < len(finite); from += batch {
		b := newBatch(sys, all, stats, finite[from:min(from+batch, len(finite))], state)
		if err := b.run(ctx); err != nil {
			return err
		}
		for i, v := range b.victims {
			if err := visit(v, b.m[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// exposed says which victims' gradients reach a direction of what is observed that carries no noise.
func (sys *system) exposed(all []*gains) []bool {
	out := make([]bool, len(sys.victims))
	if !sys.degenerate {
		return out
	}
	var alive *mat.Dense // m×victims·(gradient rounds so far): the responses
	for _, g := range all {
		if g.s != nil && g.s.free != nil {
			for _, response := range []*mat.Dense{mulOrNil(g.c, alive), g.d} {
				if response == nil {
					continue
				}
				seen := mul(g.s.free.T(), response)
				rows, cols := seen.Dims()
				for i := range rows {
					for j := range cols {
						if math.Abs(seen.At(i, j)) > math.Sqrt(clearAbove) {
							out[j%len(sys.victims)] = true
						}
					}
				}
			}
		}
		alive = mulOrNil(g.closed, alive)
		if entry := g.entry(); entry != nil {
			alive = beside(alive, entry)
		}
	}
	return out
}

func mulOrNil(a, b *mat.Dense) *mat.Dense {
	if a == nil || b == nil {
		return nil
	}
	return mul(a, b)
}

func beside(a, b *mat.Dense) *mat.Dense {
	if a == nil {
		return b
	}
	var both mat.Dense
	both.Augment(a, b)
	return &both
}

// batch computes M for some victims. Between an early and a late gradient lies a product of many closed matrices.
// Rounds are cut into blocks of about √(T/2): within a block statistics are pulled back to its start step by step, and
// earlier responses are pushed over the whole block by one product. That needs O(T^1.5 m²) operations a victim instead
// of O(T² m²).
type batch struct {
	steps     int
	state     int
	victims   []int // positions
	all       []*gains
	stats     []statistics
	m         []*mat.SymDense
	step      []int     // of every round: the gradient's step, -1 without one
	responses []float64 // d of all gradients so far at the start of the block: (step, victim) rows of state numbers
	done      int       // steps in responses
}

func newBatch(sys *system, all []*gains, stats []statistics, victims []int, state int) *batch {
	b := &batch{steps: sys.steps, state: state, victims: victims, all: all, stats: stats, step: make([]int, len(all))}
	for range victims {
		b.m = append(b.m, mat.NewSymDense(sys.steps, nil))
	}
	count := 0
	for i, g := range all {
		b.step[i] = -1
		if g.d != nil || g.e != nil {
			b.step[i] = count
			count++
		}
	}
	b.responses = make([]float64, sys.steps*len(victims)*state)
	return b
}

func (b *batch) run(ctx context.Context) error {
	for i := range b.all {
		if t := b.step[i]; t >= 0 {
			for j, v := range b.victims {
				b.m[j].SetSym(t, t, b.stats[i].diagonal[v])
			}
		}
	}
	if b.state == 0 {
		return nil
	}
	length := max(1, int(math.Sqrt(float64(len(b.all))/2)))
	for from := 0; from < len(b.all); from += length {
		if err := ctx.Err(); err != nil {
			return err
		}
		b.block(from, min(from+length, len(b.all)))
	}
	return nil
}

// rows is a matrix of so many rows of state numbers.
func (b *batch) rows(data []float64, rows int) blas64.General {
	return blas64.General{Rows: rows, Cols: b.state, Stride: b.state, Data: data}
}

func general(m *mat.Dense) blas64.General { return m.RawMatrix() }

// block fills M for the gradients in rounds from..to-1, against each other and all earlier ones.
func (b *batch) block(from, to int) {
	n := len(b.victims)
	pulled := make([]float64, (to-from)*n*b.state) // statistics of (round, victim), pulled back to the start of round i+1
	work := make([]float64, len(pulled))
	first := to // pulled holds rounds first..to-1
	for i := to - 1; i >= from; i-- {
		g := b.all[i]
		if entry := b.entry(g); entry != nil {
			b.meet(i, entry, pulled[(i+1-from)*n*b.state:], i+1, to)
		}
		if first < to { // pull back over round i: row·closed
			live := pulled[(first-from)*n*b.state:]
			count := (to - first) * n
			transposed := mat.DenseCopyOf(g.closed.T()) // a·bᵀ is what gonum does fastest
			gemm.Gemm(blas.NoTrans, blas.Trans, 1, b.rows(live, count), general(transposed), 0, b.rows(work, count))
			copy(live[:count*b.state], work)
		}
		first = i
		own := pulled[(i-from)*n*b.state : (i+1-from)*n*b.state]
		clear(own)
		if c := b.stats[i].c; c != nil {
			for j, v := range b.victims {
				for s := range b.state {
					own[j*b.state+s] = c.At(s, v)
				}
			}
		}
	}
	b.meetEarlier(pulled, from, to)
	b.push(from, to)
}

// entry returns the rows of a gradient's response, (victim, state).
func (b *batch) entry(g *gains) []float64 {
	entry := g.entry(b.victims...)
	if entry == nil {
		return nil
	}
	return mat.DenseCopyOf(entry.T()).RawMatrix().Data
}

// meet sets M[k,l] for the gradient of round i and those of the rounds first..to-1, whose statistics are given.
func (b *batch) meet(i int, entry, pulled []float64, first, to int) {
	n := len(b.victims)
	for l := first; l < to; l++ {
		if b.step[l] < 0 {
			continue
		}
		for j := range n {
			c := pulled[((l-first)*n+j)*b.state:][:b.state]
			b.m[j].SetSym(b.step[i], b.step[l], floats.Dot(entry[j*b.state:(j+1)*b.state], c))
		}
	}
}

// meetEarlier sets M for all gradients before the block and those in it.
func (b *batch) meetEarlier(pulled []float64, from, to int) {
	if b.done == 0 {
		return
	}
	n := len(b.victims)
	var wg sync.WaitGroup
	for j := range n {
		wg.Go(func() {
			earlier := blas64.General{Rows: b.done, Cols: b.state, Stride: n * b.state, Data: b.responses[j*b.state:]}
			late := blas64.General{Rows: to - from, Cols: b.state, Stride: n * b.state, Data: pulled[j*b.state:]}
			product := blas64.General{Rows: b.done, Cols: to - from, Stride: to - from, Data: make([]float64, b.done*(to-from))}
			gemm.Gemm(blas.NoTrans, blas.Trans, 1, earlier, late, 0, product)
			for k := range b.done {
				for l := from; l < to; l++ {
					if b.step[l] >= 0 {
						b.m[j].SetSym(k, b.step[l], product.Data[k*product.Stride+l-from])
					}
				}
			}
		})
	}
	wg.Wait()
}

// push moves all responses to the end of the block, and adds those of its gradients.
func (b *batch) push(from, to int) {
	n := len(b.victims)
	row := n * b.state
	if b.done > 0 {
		over := general(b.all[from].closed)
		for i := from + 1; i < to; i++ {
			over = general(mul(b.all[i].closed, denseOf(over)))
		}
		moved := make([]float64, b.done*row)
		gemm.Gemm(blas.NoTrans, blas.Trans, 1, b.rows(b.responses, b.done*n), over, 0, b.rows(moved, b.done*n))
		copy(b.responses, moved)
	}
	before := b.done
	work := make([]float64, (to-from)*row)
	for i := from; i < to; i++ {
		if count := (b.done - before) * n; count > 0 {
			fresh := b.responses[before*row:]
			gemm.Gemm(blas.NoTrans, blas.Trans, 1, b.rows(fresh, count), general(b.all[i].closed), 0, b.rows(work, count))
			copy(fresh[:count*b.state], work)
		}
		if b.step[i] >= 0 {
			if entry := b.entry(b.all[i]); entry != nil {
				copy(b.responses[b.done*row:], entry)
			}
			b.done++
		}
	}
}

func denseOf(g blas64.General) *mat.Dense { return mat.NewDense(g.Rows, g.Cols, g.Data) }
