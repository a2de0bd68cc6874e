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
// A basis pursuit over powers of W loses all digits after a few rounds, because the rows become parallel. It may be run on other
// vectors with the same spans: if the part of row (ℓ, t) that is new is q, then row (ℓ, t+1) is qᵀW up to earlier rows, for the
// spans of earlier rows go over into each other when multiplied by W. So each neighbour has a chain of unit vectors, q ← the new
// part of qᵀW, which ends for good when nothing is new: block Arnoldi with full reorthogonalization.
type span struct {
	hidden   []int     // the nodes whose v(0) is not known beforehand, ascending
	place    []int     // of a node in hidden, or -1
	basis    []float64 // len(messages)×len(hidden), orthonormal rows
	messages []Message // the informative sequence (Definition 6.1)

	// exact says that ranks were decided in exact arithmetic; else newness was a matter of newTolerance.
	exact bool
	// complete says that double precision could not follow: the basis is of all of v(0), which the coalition is assumed to know.
	complete bool
	least    float64 // the smallest new part that counted, of unit vectors
	most     float64 // the largest that did not
}

// newTolerance is how large the new part of a unit vector must be to count.
const newTolerance = 1e-11

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
	s := &span{place: slices.Repeat([]int{-1}, n), exact: p.integer != nil, least: 1}
	for v := range n {
		if !p.known(v) {
			s.place[v] = len(s.hidden)
			s.hidden = append(s.hidden, v)
		}
	}
	type chain struct {
		from int
		last []float64 // on hidden
	}
	var chains []*chain
	for _, v := range s.hidden {
		if p.seen(v) {
			chains = append(chains, &chain{from: v})
		}
	}
	var pivots *echelon
	exactRows := map[int][]uint64{}
	if s.exact {
		pivots = newEchelon(len(s.hidden))
	}
	whole, next := make([]float64, n), make([]float64, n)
	for t := 0; len(chains) > 0 && t <= rounds && len(s.messages) < len(s.hidden); t++ {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		for _, c := range chains {
			row := make([]float64, len(s.hidden))
			if t == 0 {
				row[s.place[c.from]] = 1
			} else {
				s.spread(whole, c.last)
				p.w.MulVecTo(next, true, whole)
				for at, v := range s.hidden {
					row[at] = next[v]
				}
			}
			size := s.newPart(row)
			isNew := size > newTolerance
			if s.exact {
				exactRows[c.from] = exactRow(p.integer, exactRows[c.from], c.from, t)
				isNew = pivots.add(s.restrict(exactRows[c.from]))
				if isNew && size <= newTolerance {
					s.completeBasis()
					return s, nil
				}
			}
			if !isNew {
				s.most = math.Max(s.most, size)
				c.last = nil
				continue
			}
			s.least = math.Min(s.least, size)
			c.last = row
			s.basis = append(s.basis, row...)
			s.messages = append(s.messages, Message{c.from, t})
		}
		chains = slices.DeleteFunc(chains, func(c *chain) bool { return c.last == nil })
	}
	return s, nil
}

// spread writes a vector on the hidden nodes to all nodes.
func (s *span) spread(whole, row []float64) {
	clear(whole)
	for at, v := range s.hidden {
		whole[v] = row[at]
	}
}

func (s *span) restrict(row []uint64) []uint64 {
	short := make([]uint64, len(s.hidden))
	for at, v := range s.hidden {
		short[at] = row[v]
	}
	return short
}

// newPart takes the basis out of a row, twice, scales what is left to length 1 and returns its length before, relative to 1.
func (s *span) newPart(row []float64) float64 {
	size := 1.0
	if rank := len(s.messages); rank > 0 {
		q := blas64.General{Rows: rank, Cols: len(row), Stride: len(row), Data: s.basis}
		along := blas64.Vector{N: rank, Inc: 1, Data: make([]float64, rank)}
		for range 2 {
			blas64.Gemv(blas.NoTrans, 1, q, vector(row), 0, along)
			blas64.Gemv(blas.Trans, -1, q, along, 1, vector(row))
		}
	}
	if size = blas64.Nrm2(vector(row)); size > 0 {
		blas64.Scal(1/size, vector(row))
	}
	return size
}

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }

// completeBasis makes the basis that of all hidden nodes.
func (s *span) completeBasis() {
	n := len(s.hidden)
	s.complete = true
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
