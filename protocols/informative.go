package protocols

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrTooLarge is wrapped by errors about networks that are too large to say what observers learn, or to calibrate
// estimates: hours of work, or more memory than there is. Fewer rounds help, where there is a limit to them.
var ErrTooLarge = errors.New("too large")

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
// Whether something is new is decided exactly, modulo a prime. The basis is that of all coordinates if everything is seen; otherwise it
// comes from block Arnoldi (arnoldi.go), in as much precision as it takes for the chains to end where they should.
type span struct {
	hidden   []int       // the nodes whose v(0) is not known beforehand, ascending
	place    []int       // of a node in hidden, or -1
	basis    []float64   // rank×len(hidden), orthonormal rows
	fine     [][]twofold // the same in 106 bits, or nil
	blur     float64     // how far entries of basis may be from the truth; 0 if the basis is that of all coordinates
	fineBlur float64     // the same for fine
	messages []Message   // the informative sequence (Definition 6.1), up to the round
	pivots   *echelon    // of messages and later ones, modulo the prime
	ceiling  bool        // too much precision would be needed: the basis is of all of v(0), which the coalition is assumed to know
}

// observation is a consensus, and who sees which messages of it.
type observation struct {
	weights  *weights
	residues [][]uint64       // of the weights
	known    func(v int) bool // v(0) is known beforehand; of coalitions always, and of others only if W mixes it with known ones alone
	seen     func(v int) bool // the coalition receives the messages of this node
}

// observe finds what is learned up to a round.
func (p *observation) observe(ctx context.Context, rounds int) (*span, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	n, _ := p.weights.w.Dims()
	s := &span{place: slices.Repeat([]int{-1}, n), pivots: &echelon{}}
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
	horizon := horizonOf(len(s.hidden), len(senders), rounds)
	all, err := s.pursue(ctx, p, senders, horizon)
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		if m.Round <= rounds {
			s.messages = append(s.messages, m)
		}
	}
	if len(s.messages) == len(s.hidden) {
		s.seeAll()
		return s, nil
	}
	basis, err := arnoldi(ctx, p.weights, s, senders, all, horizon)
	if err != nil {
		return nil, err
	}
	if basis == nil {
		s.ceiling = true
		s.seeAll()
		return s, nil
	}
	s.basis, s.blur, s.fineBlur = basis.rows[:len(s.messages)*len(s.hidden)], basis.blur, basis.fineBlur
	if basis.fine != nil {
		s.fine = basis.fine[:len(s.messages)]
	}
	return s, nil
}

// What an observer learns takes some rank²·hidden operations, where the rank is at most that of all hidden nodes, and
// of all messages.
var (
	mostWork  = 1e12 // an hour; more is only begun if the rank might turn out to be small,
	probeWork = 3e9  // and given up after some ten seconds
)

// horizonOf returns the round up to which messages are followed: for ever, unless only the given rounds are within
// reach.
func horizonOf(hidden, senders, rounds int) int {
	work := func(rank float64) float64 { return rank * rank * float64(hidden) }
	if work(float64(hidden)) > mostWork && work(float64(senders)*(float64(rounds)+1)) <= mostWork {
		return rounds
	}
	return Forever
}

// pursue finds the informative sequence up to a round, by a basis pursuit in exact arithmetic.
func (s *span) pursue(ctx context.Context, p *observation, senders []int, horizon int) ([]Message, error) {
	var messages []Message
	rows := make(map[int][]uint64, len(senders))
	width, work := float64(len(s.hidden)), 0.0
	hopeless := horizon == Forever && width*width*width > mostWork
	for t := 0; t <= horizon && len(senders) > 0 && len(messages) < len(s.hidden); t++ {
		var left []int
		for _, from := range senders {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if work += width * float64(1+len(messages)); hopeless && work > probeWork {
				return nil, fmt.Errorf("%w: following what %d nodes tell for ever would take hours, or days",
					ErrTooLarge, len(s.hidden))
			}
			if t == 0 {
				rows[from] = make([]uint64, len(s.place))
				rows[from][from] = 1
			} else {
				rows[from] = times(rows[from], p.weights.w, p.residues)
			}
			if s.pivots.add(s.restrict(rows[from])) {
				left = append(left, from)
				messages = append(messages, Message{from, t})
			}
		}
		senders = left
	}
	return messages, nil
}

// restrict returns the entries of the hidden nodes.
func (s *span) restrict(row []uint64) []uint64 {
	short := make([]uint64, len(s.hidden))
	for at, v := range s.hidden {
		short[at] = row[v]
	}
	return short
}

// determines decides, exactly, whether what is seen determines the sum of v(0) over some nodes.
func (s *span) determines(nodes []int) bool {
	sum := make([]uint64, len(s.hidden))
	for _, v := range nodes {
		if at := s.place[v]; at >= 0 {
			sum[at] = 1
		}
	}
	return s.pivots.reduce(sum, len(s.messages)) < 0
}

// touches decides, exactly, whether anything that is seen depends on v(0) of a hidden node.
func (s *span) touches(at int) bool {
	return slices.ContainsFunc(s.pivots.rows[:len(s.messages)], func(row []uint64) bool { return row[at] != 0 })
}

// seeAll makes the basis that of all hidden nodes.
func (s *span) seeAll() {
	n := len(s.hidden)
	s.basis = make([]float64, n*n)
	for i := range n {
		s.basis[i*n+i] = 1
	}
}

// rank returns the dimension of the basis.
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
