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
	nodes int
	at    func(t, round int) *graph.CSR
}

// Networks returns the networks of a run over the row-stochastic w (n×n). The errors are a w that is not square, a
// sequence of other sizes (GraphSequence) or without matrices (ErrDetached), and more random neighbours than other nodes.
func (s Spec) Networks(w *graph.CSR, seed uint64) (*Networks, error) {
	if err := checkSquare(w); err != nil {
		return nil, err
	}
	n, _ := w.Dims()
	c := s.Changes
	if err := c.checkNodes(n); err != nil {
		return nil, err
	}
	return &Networks{n, func(t, round int) *graph.CSR {
		base := w
		if c.GraphSequence != nil {
			base = c.GraphSequence.At(t)
		}
		if !c.random() {
			return base
		}
		return c.draw(base, source(seed, t, round))
	}}, nil
}

// source returns random numbers of a round's own.
func source(seed uint64, t, round int) *rand.Rand {
	var key [32]byte
	for i, v := range []uint64{seed, uint64(t), uint64(round), 0x6e6574776f726b73} {
		binary.LittleEndian.PutUint64(key[8*i:], v)
	}
	return rand.New(rand.NewChaCha8(key))
}

// draw returns what is left of w, or random neighbours.
func (c Changes) draw(w *graph.CSR, r *rand.Rand) *graph.CSR {
	n, _ := w.Dims()
	if c.RandomNeighbours > 0 {
		return randomgossip.DrawNeighbours(r, n, c.RandomNeighbours)
	}
	return randomgossip.Surviving(w, randomgossip.Up(r, n, c.NodeFailures, c.LinkFailures))
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

// Nodes returns the number of nodes, n.
func (n *Networks) Nodes() int { return n.nodes }

// At returns the matrix of a round of gossip in step t; rounds count from 0.
func (n *Networks) At(t, round int) *graph.CSR { return n.at(t, round) }
