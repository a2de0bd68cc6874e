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

// Span is what a coalition learns of v(0) from messages: the span of the rows e_ℓᵀWᵗ on the nodes whose v(0) it cannot
// compute beforehand.
type Span struct {
	Hidden   []int     // the nodes whose v(0) is not known beforehand, ascending
	Place    []int     // place of every node in Hidden, or -1
	Messages []Message // the informative sequence (Definition 6.1), up to the round: its rows are a basis
	Whole    bool      // the messages determine v(0) of every hidden node: all coordinates are a basis

	weights *consensus.Weights
	pivots  *modular.Echelon // echelon form of Messages, modulo the prime
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
	hour       = 2e10 // operations
	tenSeconds = 3e9
)

// Observe finds what is learned up to a round, which may be Forever. The errors wrap consensus.ErrTooLarge, or are the
// context's. It takes O(n³) operations at most.
func (p *Observation) Observe(ctx context.Context, rounds int) (*Span, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	n, _ := p.Weights.Matrix.Dims()
	s := &Span{Place: slices.Repeat([]int{-1}, n), weights: p.Weights, pivots: &modular.Echelon{}}
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
	work := p.Work
	if work == (Work{}) {
		work = Work{Most: hour, Probe: tenSeconds}
	}
	if err := s.pursue(ctx, work, senders, rounds); err != nil {
		return nil, err
	}
	s.Whole = len(s.Messages) == len(s.Hidden)
	return s, nil
}

// pursue finds the informative sequence up to a round, by a basis pursuit in exact arithmetic.
func (s *Span) pursue(ctx context.Context, limit Work, senders []int, rounds int) error {
	rows := make(map[int][]uint64, len(senders))
	width, work := float64(len(s.Hidden)), 0.0
	most := math.Min(width, float64(len(senders))*(float64(rounds)+1)) // rank
	hopeless := most*most*width > limit.Most
	for t := 0; t <= rounds && len(senders) > 0 && len(s.Messages) < len(s.Hidden); t++ {
		var left []int
		for _, from := range senders {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if work += width * float64(1+len(s.Messages)); hopeless && work > limit.Probe {
				return fmt.Errorf("%w: following what %d nodes tell would take hours, or days", consensus.ErrTooLarge,
					len(s.Hidden))
			}
			if t == 0 {
				rows[from] = make([]uint64, len(s.Place))
				rows[from][from] = 1
			} else {
				rows[from] = s.weights.Times(rows[from])
			}
			if s.pivots.Add(lists.Map(s.Hidden, func(v int) uint64 { return rows[from][v] })) {
				left = append(left, from)
				s.Messages = append(s.Messages, Message{from, t})
			}
		}
		senders = left
	}
	return nil
}

// Determines decides, exactly, whether what is seen determines the sum of v(0) over some nodes.
func (s *Span) Determines(nodes []int) bool {
	sum := make([]uint64, len(s.Hidden))
	for _, v := range nodes {
		if at := s.Place[v]; at >= 0 {
			sum[at] = 1
		}
	}
	return s.pivots.Reduce(sum) < 0
}

// touches decides, exactly, whether anything that is seen depends on v(0) of the hidden node at this place.
func (s *Span) touches(at int) bool {
	return slices.ContainsFunc(s.pivots.Rows, func(row []uint64) bool { return row[at] != 0 })
}

// Exposures returns the exposures of the hidden nodes, whose v(0) are sources of their own.
func (s *Span) Exposures(ctx context.Context) ([]Exposure, error) {
	if s.Whole {
		return slices.Repeat([]Exposure{{Seen: 1}}, len(s.Hidden)), nil
	}
	all, err := Explain(ctx, lists.UpTo(len(s.Hidden)), func(bits uint) ([]Vector, int) {
		return s.Basis(bits), len(s.Messages)
	})
	for at, e := range all {
		if e.Seen > 0.999 && s.Determines(s.Hidden[at:at+1]) {
			all[at] = Exposure{Seen: 1}
		}
	}
	return all, err
}
