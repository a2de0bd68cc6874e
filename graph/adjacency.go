package graph

import (
	"runtime"
	"slices"
	"sort"

	"mafalda/internal/parallel"
)

// A row of the adjacency matrix has entries: columns, if edges have no weights. Else the lower half of an entry is the
// place of its edge in the file, so that entries are ordered by column, and those of one column as they came.
const placeBits = 32

func columnOf(entry uint64) int32 { return int32(entry >> placeBits) }
func placeOf(entry uint64) int    { return int(uint32(entry)) }

// rowsOf returns the entries of all rows, duplicates included and every row ascending; starts[u] is where row u starts.
// An edge (u, v) is an entry of row u and, for both, of row v. Every processor counts and writes rows of its own.
func rowsOf[E int32 | uint64](pairs []pair, nodes int, both bool, placeBits uint) (starts []int, entries []E) {
	parts, mask := min(runtime.GOMAXPROCS(0), 8), uint64(1)<<placeBits-1
	next := make([]int, nodes)
	parallel.For(parts, func(part int) {
		from, to := part*nodes/parts, (part+1)*nodes/parts
		first, count := uint32(from), uint32(to-from)
		for _, p := range pairs {
			if uint32(p.u)-first < count {
				next[p.u]++
			}
			if uint32(p.v)-first < count && both {
				next[p.v]++
			}
		}
	})
	starts = make([]int, nodes+1)
	for u, n := range next {
		next[u], starts[u+1] = starts[u], starts[u]+n
	}
	entries = make([]E, starts[nodes])
	parallel.For(parts, func(part int) {
		from := sort.SearchInts(starts, part*len(entries)/parts)
		to := sort.SearchInts(starts, (part+1)*len(entries)/parts)
		first, count := uint32(from), uint32(to-from)
		for i, p := range pairs {
			if uint32(p.u)-first < count {
				entries[next[p.u]] = E(p.v)<<placeBits | E(uint64(i)&mask)
				next[p.u]++
			}
			if uint32(p.v)-first < count && both {
				entries[next[p.v]] = E(p.u)<<placeBits | E(uint64(i)&mask)
				next[p.v]++
			}
		}
	})
	parallel.Chunks(nodes, func(_, from, to int) {
		for u := from; u < to; u++ {
			slices.Sort(entries[starts[u]:starts[u+1]])
		}
	})
	return starts, entries
}

// plainAdjacency returns the adjacency matrix of the edges without weights, duplicates dropped.
func (b *builder) plainAdjacency(nodes int) *CSR {
	starts, columns := rowsOf[int32](b.pairs, nodes, !b.directed, 0)
	b.pairs = nil
	indptr := make([]int, nodes+1)
	parallel.Chunks(nodes, func(_, from, to int) {
		for u := from; u < to; u++ {
			indptr[u+1] = len(slices.Compact(columns[starts[u]:starts[u+1]]))
		}
	})
	each := make([]float64, nodes)
	for u := range nodes {
		distinct := indptr[u+1]
		indptr[u+1] += indptr[u]
		if distinct > 0 {
			each[u] = 1
			copy(columns[indptr[u]:indptr[u+1]], columns[starts[u]:])
		}
	}
	return newEachCSR(nodes, nodes, indptr, columns[:indptr[nodes]], each)
}

// conflict is an edge that is there before with another weight, as places in the file.
type conflict struct {
	u, v        int32
	first, edge int
}

// weightedAdjacency returns the adjacency matrix of the edges with weights, duplicates dropped. If two edges between the
// same nodes differ in weight, it returns the first such pair instead.
func (b *builder) weightedAdjacency(nodes int) (*CSR, *conflict) {
	starts, entries := rowsOf[uint64](b.pairs, nodes, !b.directed, placeBits)
	b.pairs = nil
	indptr := make([]int, nodes+1)
	conflicts := make([]*conflict, (nodes+parallel.Part-1)/parallel.Part)
	parallel.Chunks(nodes, func(chunk, from, to int) {
		for u := from; u < to; u++ {
			row := entries[starts[u]:starts[u+1]]
			kept := 0
			for _, e := range row {
				if kept == 0 || columnOf(row[kept-1]) != columnOf(e) {
					row[kept] = e
					kept++
				} else if first, edge := placeOf(row[kept-1]), placeOf(e); b.marks[first].weight != b.marks[edge].weight {
					conflicts[chunk] = &conflict{int32(u), columnOf(e), first, edge}
					return
				}
			}
			indptr[u+1] = kept
		}
	})
	for _, c := range conflicts {
		if c != nil {
			return nil, c
		}
	}
	for u := range nodes {
		indptr[u+1] += indptr[u]
	}
	columns, data := make([]int32, indptr[nodes]), make([]float64, indptr[nodes])
	parallel.Chunks(nodes, func(_, from, to int) {
		for u := from; u < to; u++ {
			for i, e := range entries[starts[u]:][:indptr[u+1]-indptr[u]] {
				columns[indptr[u]+i], data[indptr[u]+i] = columnOf(e), b.marks[placeOf(e)].weight
			}
		}
	})
	return newCSR(nodes, nodes, indptr, columns, data), nil
}
