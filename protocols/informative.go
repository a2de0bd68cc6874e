package protocols

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"mafalda/graph"
	_ "mafalda/internal/gemm" // makes products fast
)

// Message is what a neighbour sends in a round: v_From(Round).
type Message struct{ From, Round int }

// Forever stands for all rounds.
const Forever = math.MaxInt

// span is what a coalition learns of v(0) from messages: an orthonormal basis of the span of the rows e_ℓᵀWᵗ on the nodes whose
// v(0) it cannot compute beforehand.
//
// A row (ℓ, t) that is a combination of earlier ones, in the order of rounds, makes (ℓ, t+1) one, too: the spans of earlier rows go over
// into each other when multiplied by W. So each neighbour has a chain of rows, which ends for good when nothing is new.
//
// Whether something is new is decided modulo a prime if W has whole entries up to a factor, as I - (D-A)/d_max has. The basis is
// that of all coordinates if everything is seen. Otherwise powers of W would lose all digits after a few rounds, because their rows
// become parallel; but a chain may go on from any vector that differs from its row by earlier ones: q ← the new part of qᵀW, which is
// block Arnoldi with full reorthogonalization.
type span struct {
	hidden   []int     // the nodes whose v(0) is not known beforehand, ascending
	place    []int     // of a node in hidden, or -1
	basis    []float64 // rank×len(hidden), orthonormal rows
	messages []Message // the informative sequence (Definition 6.1)
	exact    bool      // newness was decided in exact arithmetic
	ceiling  bool      // double precision could not follow: the basis is of all of v(0), which the coalition is assumed to know
}

// A unit vector whose new part is no longer than nothingNew has none; from somethingNew on it has one. What lies between is beyond double
// precision.
const (
	nothingNew   = 1e-12
	somethingNew = 1e-10
)

// observation is a consensus, and who sees which messages of it.
type observation struct {
	w       *graph.CSR
	integer *graph.CSR       // a multiple of w with whole entries, or nil
	known   func(v int) bool // v(0) is known beforehand; of coalitions always, and of others only if W mixes it with known ones alone
	seen    func(v int) bool // the coalition receives the messages of this node
}

// observe finds what is learned up to a round.
func (p *observation) observe(ctx context.Context, rounds int) (*span, error) {
	n, _ := p.w.Dims()
	s := &span{place: slices.Repeat([]int{-1}, n), exact: p.integer != nil}
	var senders []int
	for v := range n {
		if p.known(v) {
			continue
		}
		s.place[v] = len(s.hidden)
		s.hidden = append(s.hidden, v)
		if p.seen(v) {
			senders = append(senders, v)
		}
	}
	var isNew func(m Message, size float64) (decided, yes bool)
	if s.exact {
		if err := s.pursueExactly(ctx, p.integer, senders, rounds); err != nil {
			return nil, err
		}
		if len(s.messages) == len(s.hidden) {
			s.seeAll()
			return s, nil
		}
		found := map[Message]bool{}
		for _, m := range s.messages {
			found[m] = true
		}
		isNew = func(m Message, size float64) (bool, bool) { return !found[m] || size > nothingNew, found[m] }
		s.messages = nil
	} else {
		isNew = func(_ Message, size float64) (bool, bool) {
			return size <= nothingNew || size >= somethingNew, size >= somethingNew
		}
	}
	return s, s.pursue(ctx, p.w, senders, rounds, isNew)
}

// pursueExactly finds the informative sequence of a matrix with whole entries.
func (s *span) pursueExactly(ctx context.Context, integer *graph.CSR, senders []int, rounds int) error {
	rows := make(map[int][]uint64, len(senders))
	pivots := newEchelon(len(s.hidden))
	for t := 0; len(senders) > 0 && t <= rounds && len(s.messages) < len(s.hidden); t++ {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		var left []int
		for _, from := range senders {
			rows[from] = exactRow(integer, rows[from], from, t)
			short := make([]uint64, len(s.hidden))
			for at, v := range s.hidden {
				short[at] = rows[from][v]
			}
			if pivots.add(short) {
				left = append(left, from)
				s.messages = append(s.messages, Message{from, t})
			}
		}
		senders = left
	}
	return nil
}

// pursue builds the basis by block Arnoldi; isNew says of a unit vector with a new part of this size whether the message is new, and
// whether that can be said.
func (s *span) pursue(ctx context.Context, w *graph.CSR, senders []int, rounds int, isNew func(Message, float64) (decided, yes bool)) error {
	last := make(map[int][]float64, len(senders))
	n, _ := w.Dims()
	whole, next := make([]float64, n), make([]float64, n)
	for t := 0; len(senders) > 0 && t <= rounds && len(s.messages) < len(s.hidden); t++ {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		var left []int
		for _, from := range senders {
			row := make([]float64, len(s.hidden))
			if t == 0 {
				row[s.place[from]] = 1
			} else {
				s.spread(whole, last[from])
				w.MulVecTo(next, true, whole)
				for at, v := range s.hidden {
					row[at] = next[v]
				}
			}
			size := s.newPart(row)
			decided, yes := isNew(Message{from, t}, size)
			if !decided {
				s.ceiling = true
				s.seeAll()
				return nil
			}
			if yes {
				last[from] = row
				left = append(left, from)
				s.basis = append(s.basis, row...)
				s.messages = append(s.messages, Message{from, t})
			}
		}
		senders = left
	}
	return nil
}

// spread writes a vector on the hidden nodes to all nodes.
func (s *span) spread(whole, row []float64) {
	clear(whole)
	for at, v := range s.hidden {
		whole[v] = row[at]
	}
}

// newPart takes the basis out of a row, twice, scales what is left to length 1 and returns its length before, relative to 1.
func (s *span) newPart(row []float64) float64 {
	if rank := s.rank(); rank > 0 {
		q := blas64.General{Rows: rank, Cols: len(row), Stride: len(row), Data: s.basis}
		along := blas64.Vector{N: rank, Inc: 1, Data: make([]float64, rank)}
		for range 2 {
			blas64.Gemv(blas.NoTrans, 1, q, vector(row), 0, along)
			blas64.Gemv(blas.Trans, -1, q, along, 1, vector(row))
		}
	}
	size := blas64.Nrm2(vector(row))
	if size > 0 {
		blas64.Scal(1/size, vector(row))
	}
	return size
}

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }

// seeAll makes the basis that of all hidden nodes.
func (s *span) seeAll() {
	n := len(s.hidden)
	s.basis = make([]float64, n*n)
	for i := range n {
		s.basis[i*n+i] = 1
	}
}

// rank returns the dimension.
func (s *span) rank() int {
	if len(s.hidden) == 0 {
		return 0
	}
	return len(s.basis) / len(s.hidden)
}

// sortMessages orders messages by round, then sender.
func sortMessages(m []Message) {
	slices.SortFunc(m, func(a, b Message) int { return cmp.Or(a.Round-b.Round, a.From-b.From) })
}
