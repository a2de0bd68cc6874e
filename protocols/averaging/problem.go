package averaging

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/internal/limits"
	"mafalda/internal/lists"
	"mafalda/protocols/internal/consensus"
	"mafalda/protocols/internal/span"
)

// Problem is a network whose nodes average their values by consensus, and those who look on.
type Problem struct {
	Network   *graph.Network
	Values    []float64 // values of the nodes
	ValueStd  float64   // standard deviation of the Gaussian values that leakage is computed for
	Rounds    *int      // t: nodes average t times, observers see v(0), …, v(t). Nil: until they agree, and for ever
	Observers [][]int   // coalitions of nodes; nil: every node, alone
	Victims   []int     // victims, whose values observers are after; nil: all other nodes
	Seed      uint64    // seed of what nodes draw
}

// Largest limits values and standard deviations: sums and squares of larger ones would not be numbers.
const Largest = 1e150

const (
	closeEnough = 1e-6 // to the average, for rounds to end by themselves
	mostNumbers = 2e7  // nodes·rounds that are kept
	bytesOfPair = 300  // what an observer and a victim take, in the result and as JSON
)

// Check finds, before anything is computed, what makes no sense (*fault.Argument, ErrNetwork) and what there is no
// memory for (*PairsError).
func (p *Problem) Check() error {
	n := p.Network.Graph.Nodes()
	if len(p.Values) != n {
		return fmt.Errorf("%w: %d values for %d nodes", consensus.ErrNetwork, len(p.Values), n)
	}
	if err := CheckDeviation("ValueStd", p.ValueStd); err != nil {
		return err
	}
	if p.Rounds != nil {
		if err := CheckRounds(n, *p.Rounds); err != nil {
			return err
		}
	}
	for _, v := range slices.Concat(slices.Concat(p.Observers...), p.Victims) {
		if v < 0 || v >= n {
			return fmt.Errorf("%w: node %d does not exist", consensus.ErrNetwork, v)
		}
	}
	observers, victims := len(p.Coalitions()), n
	if p.Victims != nil {
		victims = len(p.Victims)
	}
	if err := limits.Fits(fmt.Sprintf("saying what %d observers learn of %d nodes", observers, victims),
		float64(observers)*float64(victims)*bytesOfPair); err != nil {
		return &PairsError{err}
	}
	return nil
}

// PairsError is about more observers and victims than there is memory for: fewer can be named. It wraps
// limits.ErrMemory.
type PairsError struct{ err error }

func (e *PairsError) Error() string { return e.err.Error() }

// Unwrap returns an error that wraps limits.ErrMemory.
func (e *PairsError) Unwrap() error { return e.err }

// CheckDeviation refuses standard deviations, and the like, that are not positive or above Largest.
func CheckDeviation(field string, value float64) error {
	if err := fault.Positive(field, value); err != nil {
		return err
	}
	if value > Largest {
		return fault.New(field, value, "must be at most %g", Largest)
	}
	return nil
}

// CheckRounds refuses numbers of rounds that are negative, or more than there should be memory for.
func CheckRounds(nodes, rounds int) error {
	switch numbers := float64(rounds) * float64(nodes); {
	case rounds < 0:
		return fault.New("Rounds", rounds, "must not be negative")
	case numbers > 10*mostNumbers:
		return fault.New("Rounds", rounds, "%d nodes would keep %.3g GB of values", nodes, numbers*8e-9)
	}
	return nil
}

// MostRounds is how many rounds there are at most where nodes average until they agree.
func MostRounds(nodes int) int { return max(int(mostNumbers)/nodes, 1) }

// Limit returns how many rounds are run at most, and how close the nodes come before that ends them; 0: no matter.
func (p *Problem) Limit() (rounds int, tolerance float64) {
	if p.Rounds != nil {
		return *p.Rounds, 0
	}
	return MostRounds(p.Network.Graph.Nodes()), closeEnough
}

// UpTo returns the last round that observers see, which may be for ever.
func (p *Problem) UpTo() int {
	if p.Rounds != nil {
		return *p.Rounds
	}
	return span.Forever
}

// Coalitions returns the observers.
func (p *Problem) Coalitions() [][]int {
	if p.Observers != nil {
		return p.Observers
	}
	return lists.Make(p.Network.Graph.Nodes(), func(v int) []int { return []int{v} })
}

// Asked reports whether observers are after the value of a node.
func (p *Problem) Asked(v int) bool { return p.Victims == nil || slices.Contains(p.Victims, v) }

// Label names a coalition by the labels of its nodes, with commas between them.
func (p *Problem) Label(coalition []int) string {
	return strings.Join(lists.Map(coalition, p.Network.Graph.Label), ",")
}

// Floor is I(average; value) in nats, which nothing that averages Gaussian values of one variance can avoid.
func Floor(nodes int) float64 { return math.Log1p(1/float64(nodes-1)) / 2 }

// Mend takes Metropolis weights where I - (D-A)/d_max, which the network has, would swap two halves of the graph for
// ever, and notes that.
func Mend(n *graph.Network) (err error) {
	if n.Origin.Gossip != graph.Laplacian.String() || n.Graph.Directed() || !n.Graph.RegularBipartite() {
		return nil
	}
	n.Note("note: I - (D-A)/d_max swaps two halves of this graph for ever: taking metropolis weights")
	n.Origin.Gossip = graph.Metropolis.String()
	n.Gossip, err = graph.NewGossip(n.Graph, graph.Metropolis)
	return err
}
