package simulate

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"mafalda/participation"
)

// ErrData is wrapped by errors about data that do not fit a task or a run.
var ErrData = errors.New("data do not fit")

// shards are training records dealt to nodes and batches, in the order of nodes and, of each node, of batches.
type shards struct {
	data   Dataset
	bounds [][]int // node u's batch i is rows bounds[u][i] to bounds[u][i+1] of data
}

// deal shuffles the records and gives every node, and every batch of a node, as many as the others, up to one.
func deal(train Dataset, nodes, batches int, r *rand.Rand) (*shards, error) {
	records := train.Len()
	if least := records / nodes / batches; least < 1 {
		return nil, fmt.Errorf("%w: %d training records are not one for each of %d batches of %d nodes", ErrData, records, batches, nodes)
	}
	s := &shards{data: train.Pick(r.Perm(records)), bounds: make([][]int, nodes)}
	for u := range nodes {
		first, end := u*records/nodes, (u+1)*records/nodes
		for i := range batches + 1 {
			s.bounds[u] = append(s.bounds[u], first+i*(end-first)/batches)
		}
	}
	return s, nil
}

// batches are the records of a run as its nodes visit them. Different nodes may be asked by different goroutines.
type batches interface {
	// take admits what a node visits in a step to the ledger, and returns it with what the sum of its gradients is
	// divided by. The error is the ledger's.
	take(l *participation.Ledger, node, step int) (batch Dataset, divisor float64, err error)

	// divisor returns the least of the node's: noise that is made for it suffices for all.
	divisor(node int) float64
}

// newBatches deals the records as the configuration says.
func newBatches(c Config, train Dataset, nodes int, seed uint64) (batches, error) {
	if c.Sampling != nil {
		return newDraws(c, train, nodes, seed)
	}
	return deal(train, nodes, c.Batches, random(seed, forShards, 0))
}

// take visits batches in turn.
func (s *shards) take(l *participation.Ledger, node, step int) (batch Dataset, divisor float64, err error) {
	from, to := s.batch(node, step%(len(s.bounds[node])-1))
	for record := from; record < to; record++ {
		if err := l.Admit(record, step); err != nil {
			return Dataset{}, 0, err
		}
	}
	return s.data.Slice(from, to), float64(to - from), nil
}

// batch returns the rows of a node's batch.
func (s *shards) batch(node, i int) (from, to int) { return s.bounds[node][i], s.bounds[node][i+1] }

// divisor returns the size of the node's smallest batch.
func (s *shards) divisor(node int) float64 {
	least := s.data.Len()
	for i := 1; i < len(s.bounds[node]); i++ {
		least = min(least, s.bounds[node][i]-s.bounds[node][i-1])
	}
	return float64(least)
}
