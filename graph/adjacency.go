package graph

import "slices"

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
	indptr, columns, data := make([]int, 1, nodes+1), make([]int32, 0, len(entries)), make([]float64, 0, len(entries))
	for u := range nodes {
		row, kept := entries[starts[u]:starts[u+1]], uint64(0)
		slices.Sort(row)
		for i, e := range row {
			if i > 0 && columnOf(kept) == columnOf(e) {
				if first, edge := placeOf(kept), placeOf(e); !repeats || weight(first) != weight(edge) {
					return nil, &conflict{int32(u), columnOf(e), first, edge}
				}
				continue
			}
			kept = e
			columns, data = append(columns, columnOf(e)), append(data, weight(placeOf(e)))
		}
		indptr = append(indptr, len(columns))
	}
	return newCSR(nodes, nodes, indptr, columns, data), nil
}

// rowsOf returns the entries of all rows, duplicates included; starts[u] is where row u starts. An edge (u, v) is an entry
// of row u and, for both, of row v.
func rowsOf(pairs []pair, nodes int, both bool) (starts []int, entries []uint64) {
	starts = make([]int, nodes+1)
	for _, p := range pairs {
		starts[p.u+1]++
		if both {
			starts[p.v+1]++
		}
	}
	for u := range nodes {
		starts[u+1] += starts[u]
	}
	next := slices.Clone(starts)
	entries = make([]uint64, starts[nodes])
	add := func(u, v int32, i int) {
		entries[next[u]] = uint64(v)<<32 | uint64(i)
		next[u]++
	}
	for i, p := range pairs {
		add(p.u, p.v, i)
		if both {
			add(p.v, p.u, i)
		}
	}
	return starts, entries
}
