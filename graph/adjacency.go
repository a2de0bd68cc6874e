package graph

import (
	"runtime"
	"slices"
	"sort"

	"mafalda/internal/parallel"
)

// conflict is an edge that is there before, as places in the file.
type conflict struct {
	u, v        int32
	first, edge int
}

// An entry of a row is a column, and below it the place of its edge in the file: entries are ordered by column, and those
// of one column as they came.
func columnOf(entry uint64) int32 { return int32(entry >> 32) }
func placeOf(entry uint64) int    { return int(uint32(entry)) }

// adjacencyOf returns the adjacency matrix of edges, duplicates dropped. If two edges between the same nodes differ in
// weight, or there are two at all without repeats, it returns the first such pair instead.
func adjacencyOf(pairs []pair, nodes int, directed, repeats bool, weight func(i int) float64) (*CSR, *conflict) {
	starts, entries := rowsOf(pairs, nodes, !directed)
	indptr := make([]int, nodes+1)
	conflicts := make([]*conflict, (nodes+parallel.Part-1)/parallel.Part)
	parallel.Chunks(nodes, func(chunk, from, to int) {
		for u := from; u < to; u++ {
			row := entries[starts[u]:starts[u+1]]
			slices.Sort(row)
			kept := 0
			for _, e := range row {
				if kept == 0 || columnOf(row[kept-1]) != columnOf(e) {
					row[kept] = e
					kept++
				} else if first, edge := placeOf(row[kept-1]), placeOf(e); !repeats || weight(first) != weight(edge) {
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
				columns[indptr[u]+i], data[indptr[u]+i] = columnOf(e), weight(placeOf(e))
			}
		}
	})
	return newCSR(nodes, nodes, indptr, columns, data), nil
}

// rowsOf returns the entries of all rows, duplicates included; starts[u] is where row u starts. An edge (u, v) is an entry
// of row u and, for both, of row v. Every processor counts and writes rows of its own.
func rowsOf(pairs []pair, nodes int, both bool) (starts []int, entries []uint64) {
	parts := min(runtime.GOMAXPROCS(0), 8)
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
	entries = make([]uint64, starts[nodes])
	parallel.For(parts, func(part int) {
		from := sort.SearchInts(starts, part*len(entries)/parts)
		to := sort.SearchInts(starts, (part+1)*len(entries)/parts)
		first, count := uint32(from), uint32(to-from)
		for i, p := range pairs {
			if uint32(p.u)-first < count {
				entries[next[p.u]] = uint64(p.v)<<32 | uint64(i)
				next[p.u]++
			}
			if uint32(p.v)-first < count && both {
				entries[next[p.v]] = uint64(p.u)<<32 | uint64(i)
				next[p.v]++
			}
		}
	})
	return starts, entries
}
