package partpsp

import (
	"math"
	"math/rand/v2"
)

// node is one that learns.
type node struct {
	records  []int // the node's share of the records
	order    []int // places in records, in the order of this epoch
	random   *rand.Rand
	theta    []float32 // y, then l
	gradient []float32
	clipped  int
	learner  Learner
	batch    []int
}

// take makes the batch of a round the learner's, in another order in every epoch.
func (n *node) take(roundOfEpoch, batch int) {
	if roundOfEpoch == 0 {
		n.order = n.random.Perm(len(n.records))
	}
	n.batch = n.batch[:0]
	for _, at := range n.order[roundOfEpoch*batch : (roundOfEpoch+1)*batch] {
		n.batch = append(n.batch, n.records[at])
	}
	n.learner.Take(n.batch)
}

// descend updates the local layers, and computes ε for the shared ones.
func (n *node) descend(t Training, step []float64) {
	scale := 1 / float64(t.Batch)
	if len(step) < len(n.theta) {
		n.learner.GradientTo(n.gradient, n.theta)
		for c := len(step); c < len(n.theta); c++ {
			n.theta[c] -= float32(t.LocalRate * scale * float64(n.gradient[c]))
		}
	}
	n.learner.GradientTo(n.gradient, n.theta)
	var norm float64
	for _, g := range n.gradient[:len(step)] {
		norm += math.Abs(float64(g)) * scale
	}
	if norm > t.Clip {
		n.clipped++
	}
	factor := -t.SharedRate * scale / math.Max(1, norm/t.Clip)
	for c, g := range n.gradient[:len(step)] {
		step[c] = factor * float64(g)
	}
}
