package graph

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"mafalda/internal/limits"
	"mafalda/internal/lists"
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
	sampled  map[pair]struct{}
	multiple uint64 // of the hash, random: nobody can make a file whose edges are all in the sample, or all outside
	step     int    // edges after which to look again
	full     int    // edges at which to do so
	sort     int    // edges from which dropping duplicates is worth while
}

// sampledShare is the reciprocal of the share of the edges in the sample, as a power of two.
const sampledShare = 8

func newCrowd() crowd {
	return crowd{sampled: map[pair]struct{}{}, multiple: rand.Uint64() | 1, step: edgeStep, full: edgeStep,
		sort: edgeStep}
}

// meet counts an edge.
func (c *crowd) meet(p pair) {
	hash := (uint64(uint32(p.u))<<32 | uint64(uint32(p.v))) * c.multiple
	if (hash^hash>>29)*0x9e3779b97f4a7c15>>(64-sampledShare) == 0 {
		c.sampled[p] = struct{}{}
	}
}

// makeRoom drops duplicates if most edges seem to be some, and refuses edges that cannot be held in memory.
func (b *builder) makeRoom() error {
	c := &b.crowd
	if len(b.pairs) >= c.sort {
		if different := len(c.sampled) << sampledShare; different < len(b.pairs)/2 {
			b.dropDuplicates()
		}
		c.sort = max(2*len(b.pairs), c.step)
	}
	c.full = len(b.pairs) + c.step
	return b.checkRoom()
}

// checkRoom refuses what cannot be held in memory.
func (b *builder) checkRoom() error {
	if uint64(len(b.pairs))+uint64(b.crowd.step) > math.MaxUint32 {
		return errManyEdges
	}
	what := fmt.Sprintf("a graph of more than %d edges and %d nodes", len(b.pairs), b.labels.count())
	return limits.Fits(what, float64(len(b.pairs))*edgeBytes+float64(b.labels.text))
}

// dropDuplicates keeps, for each pair of nodes, the edge of the first line, and one edge of another weight if there is
// one: graph says what is wrong with it.
func (b *builder) dropDuplicates() {
	n := b.labels.numbering()
	oriented := lists.Map(b.pairs, func(p pair) pair { return b.oriented(n.of(p.u), n.of(p.v)) })
	starts, entries := rowsOf[uint64](oriented, b.labels.count(), false, placeBits)
	keep := make([]bool, len(b.pairs))
	for u := range b.labels.count() {
		first, conflict := -1, false // of the pair at hand
		var node int32
		for _, e := range entries[starts[u]:starts[u+1]] {
			i := placeOf(e)
			switch {
			case first < 0 || columnOf(e) != node:
				first, node, conflict = i, columnOf(e), false
				keep[i] = true
			case b.plain || b.marks[i].weight == b.marks[first].weight:
				b.duplicates++
			case !conflict:
				conflict, keep[i] = true, true
			}
		}
	}
	pairs, marks := make([]pair, 0, len(b.pairs)/2), b.marks[:0]
	for i, p := range b.pairs {
		if keep[i] {
			pairs = append(pairs, p)
			if !b.plain {
				marks = append(marks, b.marks[i])
			}
		}
	}
	b.pairs, b.marks = pairs, slices.Clone(marks)
}
