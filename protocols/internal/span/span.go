package span

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mafalda/internal/lists"
	"mafalda/protocols/internal/consensus"
	"mafalda/protocols/internal/modular"
)

// Message is what a neighbour sends in a round: v_From(Round).
type Message struct{ From, Round int }

// Forever stands for all rounds.
const Forever = math.MaxInt

// Span is what a coalition learns of v(0) from messages: an orthonormal basis of the span of the rows e_ℓᵀWᵗ on the
// nodes whose v(0) it cannot compute beforehand.
type Span struct {
	Hidden   []int     // the nodes whose v(0) is not known beforehand, ascending
	Place    []int     // place of every node in Hidden, or -1
	Basis    []float64 // Rank()×len(Hidden), orthonormal rows
	Blur     float64   // how far entries of Basis may be from the truth; 0 if the basis is all coordinates
	Messages []Message // the informative sequence (Definition 6.1), up to the round
	Ceiling  bool      // too much precision would be needed: the coalition is assumed to know all of v(0)

	fine     [][]number       // Basis in 106 bits, or nil
	fineBlur float64          // how far entries of fine may be from the truth
	pivots   *modular.Echelon // echelon form of Messages and later ones, modulo the prime
}

// Observation is a consensus, and who sees which messages of it.
type Observation struct {
	Weights *consensus.Weights
	Known   func(v int) bool // v(0) is known beforehand; of others than coalitions only if W mixes it with known ones
	Seen    func(v int) bool // the coalition receives the messages of this node
	Work    Work             // the zero value stands for an hour
}

// Work says how many operations finding a span may take, some rank²·hidden, where the rank is at most the number of
// hidden nodes, and of messages.
type Work struct {
	Most  float64 // operations allowed; more are only begun if the rank might turn out to be small
	Probe float64 // operations after which such an attempt is given up (some ten seconds)
}

const (
	hour       = 1e12 // operations
	tenSeconds = 3e9
)

func (w Work) orDefault() Work {
	if w == (Work{}) {
		return Work{Most: hour, Probe: tenSeconds}
	}
	return w
}

// Observe finds what is learned up to a round, which may be Forever. The errors wrap consensus.ErrTooLarge, or are the
// context's. It takes O(n³) operations at most.
func (p *Observation) Observe(ctx context.Context, rounds int) (*Span, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	n, _ := p.Weights.Matrix.Dims()
	s := &Span{Place: slices.Repeat([]int{-1}, n), pivots: &modular.Echelon{}}
	var senders []int
	for v := range n {
		if p.Known(v) {
			continue
		}
		s.Place[v] = len(s.Hidden)
		s.Hidden = append(s.Hidden, v)
		if p.Seen(v) {
			senders = append(senders, v)
		}
	}
	horizon := p.Work.orDefault().horizon(len(s.Hidden), len(senders), rounds)
	all, err := s.pursue(ctx, p, senders, horizon)
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		if m.Round <= rounds {
			s.Messages = append(s.Messages, m)
		}
	}
	if len(s.Messages) == len(s.Hidden) {
		s.seeAll()
		return s, nil
	}
	basis, err := newPursuit(p.Weights, s, senders, all, horizon).basis(ctx)
	if err != nil {
		return nil, err
	}
	if basis == nil {
		s.Ceiling = true
		s.seeAll()
		return s, nil
	}
	s.Basis, s.Blur, s.fineBlur = basis.rows[:len(s.Messages)*len(s.Hidden)], basis.blur, basis.fineBlur
	if basis.fine != nil {
		s.fine = basis.fine[:len(s.Messages)]
	}
	return s, nil
}

// horizon returns the round up to which messages are followed: for ever, unless only the given rounds are within
// reach.
func (w Work) horizon(hidden, senders, rounds int) int {
	work := func(rank float64) float64 { return rank * rank * float64(hidden) }
	if work(float64(hidden)) > w.Most && work(float64(senders)*(float64(rounds)+1)) <= w.Most {
		return rounds
	}
	return Forever
}

// pursue finds the informative sequence up to a round, by a basis pursuit in exact arithmetic.
func (s *Span) pursue(ctx context.Context, p *Observation, senders []int, horizon int) ([]Message, error) {
	var messages []Message
	rows := make(map[int][]uint64, len(senders))
	width, work := float64(len(s.Hidden)), 0.0
	limits := p.Work.orDefault()
	hopeless := horizon == Forever && width*width*width > limits.Most
	for t := 0; t <= horizon && len(senders) > 0 && len(messages) < len(s.Hidden); t++ {
		var left []int
		for _, from := range senders {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if work += width * float64(1+len(messages)); hopeless && work > limits.Probe {
				return nil, fmt.Errorf("%w: following what %d nodes tell for ever would take hours, or days",
					consensus.ErrTooLarge, len(s.Hidden))
			}
			if t == 0 {
				rows[from] = make([]uint64, len(s.Place))
				rows[from][from] = 1
			} else {
				rows[from] = p.Weights.Times(rows[from])
			}
			if s.pivots.Add(lists.Map(s.Hidden, func(v int) uint64 { return rows[from][v] })) {
				left = append(left, from)
				messages = append(messages, Message{from, t})
			}
		}
		senders = left
	}
	return messages, nil
}

// Determines decides, exactly, whether what is seen determines the sum of v(0) over some nodes.
func (s *Span) Determines(nodes []int) bool {
	sum := make([]uint64, len(s.Hidden))
	for _, v := range nodes {
		if at := s.Place[v]; at >= 0 {
			sum[at] = 1
		}
	}
	return s.pivots.Reduce(sum, len(s.Messages)) < 0
}

// Touches decides, exactly, whether anything that is seen depends on v(0) of the hidden node at this place.
func (s *Span) Touches(at int) bool {
	return slices.ContainsFunc(s.pivots.Rows[:len(s.Messages)], func(row []uint64) bool { return row[at] != 0 })
}

// seeAll takes all hidden nodes as the basis.
func (s *Span) seeAll() {
	n := len(s.Hidden)
	s.Basis = make([]float64, n*n)
	for i := range n {
		s.Basis[i*n+i] = 1
	}
}

// Rank returns the dimension of the basis.
func (s *Span) Rank() int {
	if len(s.Hidden) == 0 {
		return 0
	}
	return len(s.Basis) / len(s.Hidden)
}
