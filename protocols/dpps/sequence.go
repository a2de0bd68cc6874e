package dpps

import (
	"cmp"
	"fmt"
	"math"

	"mafalda/graph"
	"mafalda/internal/rounding"
)

// Sequence is a sequence of weight matrices on directed graphs that repeats: W(t) in round t has w_ij > 0 where node
// j sends to node i.
type Sequence struct {
	labels  []string
	weights []*graph.CSR
	slack   float64 // what rounding of messages, and of the weights' sums, does to a message of norm one
}

// NewSequence checks what push-sum with a sensitivity estimate needs (Zhou et al., Assumption 1 and Definition 1):
// every matrix doubly stochastic with a positive diagonal, the union of all graphs strongly connected. Errors wrap
// ErrNetwork and name the round, counted from 0.
func NewSequence(labels []string, weights []*graph.CSR) (*Sequence, error) {
	n := len(labels)
	if n < 2 || len(weights) == 0 {
		return nil, fmt.Errorf("%w: %d nodes and %d rounds: push-sum needs two nodes and a round", ErrNetwork, n,
			len(weights))
	}
	var union []graph.Edge
	seen := map[[2]int]bool{}
	for t, w := range weights {
		if err := doublyStochastic(labels, w); err != nil {
			return nil, fmt.Errorf("%w: round %d: %w", ErrNetwork, t, err)
		}
		w.DoNonZero(func(i, j int, v float64) {
			if v > 0 && i != j && !seen[[2]int{i, j}] {
				seen[[2]int{i, j}] = true
				union = append(union, graph.Edge{U: i, V: j, Weight: 1})
			}
		})
	}
	g, err := graph.New(labels, union, true)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNetwork, err)
	}
	if !g.StronglyConnected() {
		return nil, fmt.Errorf("%w: not every node reaches every other, even over all %d rounds together", ErrNetwork,
			len(weights))
	}
	return &Sequence{labels, weights, slackOf(weights)}, nil
}

// slackOf bounds the rounding of sums of messages, and by how much the rows of the weights do not sum to 1.
func slackOf(weights []*graph.CSR) float64 {
	terms, defect := 0, 0.0
	for _, w := range weights {
		n, _ := w.Dims()
		for i := range n {
			var sum rounding.Sum
			w.DoRowNonZero(i, func(_, _ int, v float64) { sum.Add(v) })
			terms, defect = max(terms, w.RowNNZ(i)), math.Max(defect, math.Abs(sum.Value()-1))
		}
	}
	return math.Max(0x1p-44, 8*float64(terms+2)*0x1p-53) + 2*defect
}

// doublyStochastic says what is wrong with a weight matrix.
func doublyStochastic(labels []string, w *graph.CSR) error {
	if n, _ := w.Dims(); n != len(labels) {
		return fmt.Errorf("a matrix of %d rows for %d nodes", n, len(labels))
	}
	if err := cmp.Or(graph.CheckGossip(w), graph.CheckGossip(w.Transpose())); err != nil {
		return fmt.Errorf("the weights are not doubly stochastic, row by row and column by column: %w", err)
	}
	for i, label := range labels {
		if !(w.At(i, i) > 0) {
			return fmt.Errorf("node %s keeps nothing of its own value: every node needs a self-loop", label)
		}
	}
	return nil
}

// Nodes returns the number of nodes, n.
func (s *Sequence) Nodes() int { return len(s.labels) }

// Labels returns the nodes' names.
func (s *Sequence) Labels() []string { return s.labels }

// Period returns after how many rounds the matrices repeat.
func (s *Sequence) Period() int { return len(s.weights) }

// Weights returns W(t).
func (s *Sequence) Weights(t int) *graph.CSR { return s.weights[t%len(s.weights)] }

// Static repeats one gossip matrix.
func Static(labels []string, w *graph.Gossip) (*Sequence, error) {
	return NewSequence(labels, []*graph.CSR{w.Matrix()})
}
