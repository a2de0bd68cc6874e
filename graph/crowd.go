package graph

import (
	"fmt"
	"math/rand/v2"

	"mafalda/internal/limits"
)

// What a file takes while its graph is made, in bytes: an edge, a label beside its text, and after how much text or how
// many edges it is asked whether that can be.
const (
	edgeBytes  = 200
	labelBytes = 150
	textStep   = 1 << 26
	edgeStep   = 1 << 20
)

// crowd estimates how many of the edges of a file are different, from those whose hash is one of few. A small
// compressed file can hold the same edge a billion times.
type crowd struct {
	sampled  map[uint64]struct{}
	multiple uint64 // of the hash, random: nobody can make a file whose edges are all in the sample, or all outside
	step     int    // edges after which to look again
	full     int    // edges at which to do so
	sort     int    // edges from which dropping duplicates is worth while
}

// sampledShare is the reciprocal of the share of the edges in the sample, as a power of two.
const sampledShare = 8

func newCrowd() crowd {
	return crowd{sampled: map[uint64]struct{}{}, multiple: rand.Uint64() | 1, step: edgeStep, full: edgeStep,
		sort: edgeStep}
}

// meet counts an edge.
func (c *crowd) meet(i, j int) {
	pair := uint64(i)<<32 | uint64(j)
	hash := pair * c.multiple
	if (hash^hash>>29)*0x9e3779b97f4a7c15>>(64-sampledShare) == 0 {
		c.sampled[pair] = struct{}{}
	}
}

// makeRoom drops duplicates if most edges seem to be some, and refuses edges that cannot be held in memory.
func (b *builder) makeRoom() error {
	c := &b.crowd
	if len(b.edges) >= c.sort {
		if different := len(c.sampled) << sampledShare; different < len(b.edges)/2 {
			b.dropDuplicates()
		}
		c.sort = max(2*len(b.edges), c.step)
	}
	c.full = len(b.edges) + c.step
	return b.checkRoom()
}

// checkRoom refuses what cannot be held in memory.
func (b *builder) checkRoom() error {
	what := fmt.Sprintf("a graph of more than %d edges and %d nodes", len(b.edges), len(b.labels))
	return limits.Fits(what, float64(len(b.edges))*edgeBytes+float64(b.text))
}

// dropDuplicates keeps, for each pair of nodes, the edge of the first line, and one edge of another weight if there is
// one: graph says what is wrong with it.
func (b *builder) dropDuplicates() {
	if !b.directed {
		for i := range b.edges {
			if e := &b.edges[i]; e.U > e.V {
				e.U, e.V = e.V, e.U
			}
		}
	}
	b.edges = sortLines(b.edges, len(b.labels))
	kept := b.edges[:0]
	first, conflict := lineEdge{}, false // of the pair at hand
	for _, e := range b.edges {
		switch {
		case len(kept) == 0 || e.U != first.U || e.V != first.V:
			first, conflict = e, false
		case e.Weight == first.Weight:
			b.duplicates++
			continue
		case conflict:
			continue
		default:
			conflict = true
		}
		kept = append(kept, e)
	}
	b.edges = append(make([]lineEdge, 0, len(kept)+b.crowd.step), kept...)
}
