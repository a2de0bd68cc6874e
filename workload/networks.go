package workload

import (
	"encoding/binary"
	"math/rand/v2"

	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/workload/randomgossip"
)

// Networks are the gossip matrices that a run of training meets, drawn by a seed where the spec says that they are
// random. All of it is a function of the seed, the step and the round.
type Networks struct {
	changes Changes
	w       *graph.CSR
	seed    uint64
}

// Networks returns those of a run over the row-stochastic w (n×n). The errors are a w that is not square, a sequence of
// other sizes (GraphSequence) or without matrices (ErrDetached), and more random neighbours than there are other nodes.
func (s Spec) Networks(w *graph.CSR, seed uint64) (*Networks, error) {
	if err := checkSquare(w); err != nil {
		return nil, err
	}
	n, _ := w.Dims()
	if err := s.Changes.checkNodes(n); err != nil {
		return nil, err
	}
	return &Networks{s.Changes, w, seed}, nil
}

func (c Changes) checkNodes(n int) error {
	q := c.GraphSequence
	switch {
	case q != nil && !q.Attached():
		return fault.Because("GraphSequence", ErrDetached)
	case q != nil && q.nodes() != n:
		return fault.New("GraphSequence", nil, "its networks have %d nodes, not %d", q.nodes(), n)
	case c.RandomNeighbours >= n && c.RandomNeighbours > 0:
		return fault.New("RandomNeighbours", c.RandomNeighbours, "there are only %d others", n-1)
	}
	return nil
}

// Nodes returns n.
func (n *Networks) Nodes() int {
	nodes, _ := n.w.Dims()
	return nodes
}

// At returns the matrix of a round of gossip in step t; rounds count from 0.
func (n *Networks) At(t, round int) *graph.CSR {
	w := n.base(t)
	if !n.changes.random() {
		return w
	}
	var key [32]byte
	for i, v := range []uint64{n.seed, uint64(t), uint64(round), 0x6e6574776f726b73} {
		binary.LittleEndian.PutUint64(key[8*i:], v)
	}
	r := rand.New(rand.NewChaCha8(key))
	if s := n.changes.RandomNeighbours; s > 0 {
		return randomgossip.DrawNeighbours(r, n.Nodes(), s)
	}
	return randomgossip.Surviving(w, randomgossip.Up(r, n.Nodes(), n.changes.NodeFailures, n.changes.LinkFailures))
}

// base returns the matrix of step t when nothing fails.
func (n *Networks) base(t int) *graph.CSR {
	if q := n.changes.GraphSequence; q != nil {
		return q.At(t)
	}
	return n.w
}
