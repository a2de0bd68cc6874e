package graph

import "slices"

// Components returns the connected components, of a directed graph the weakly connected ones: largest first, equal ones
// by their smallest node; nodes ascending.
func (g *Graph) Components() [][]int {
	reverse := g.adjacency
	if g.directed {
		reverse = g.adjacency.Transpose()
	}
	number := make([]int32, g.Nodes()) // of a node's component, from 1
	var sizes []int
	var queue []int32
	for s := range number {
		if number[s] != 0 {
			continue
		}
		id := int32(len(sizes) + 1)
		number[s] = id
		queue = append(queue[:0], int32(s))
		for i := 0; i < len(queue); i++ {
			visit := func(a *CSR) {
				for _, v := range a.indices[a.indptr[queue[i]]:a.indptr[queue[i]+1]] {
					if number[v] == 0 {
						number[v] = id
						queue = append(queue, v)
					}
				}
			}
			if visit(g.adjacency); g.directed {
				visit(reverse)
			}
		}
		sizes = append(sizes, len(queue))
	}
	components := make([][]int, len(sizes))
	for c, size := range sizes {
		components[c] = make([]int, 0, size)
	}
	for u, c := range number {
		components[c-1] = append(components[c-1], u)
	}
	slices.SortStableFunc(components, func(a, b []int) int { return len(b) - len(a) })
	return components
}

// LargestComponent returns the graph on the largest component and the nodes of g that are in it. It is g itself if g is
// connected.
func (g *Graph) LargestComponent() (*Graph, []int) { return g.on(g.Components()[0]) }

// on returns the graph on a component, and its nodes.
func (g *Graph) on(component []int) (*Graph, []int) {
	if len(component) == len(g.labels) {
		return g, component
	}
	return g.Subgraph(component), component
}

// StronglyConnected reports whether every node is reached from every other along directed edges. An undirected graph is
// if it is connected.
func (g *Graph) StronglyConnected() bool {
	reaches := func(a *CSR) bool {
		for _, d := range distances(a, 0) {
			if d < 0 {
				return false
			}
		}
		return true
	}
	return reaches(g.adjacency) && (!g.directed || reaches(g.adjacency.Transpose()))
}

// RegularBipartite reports whether all nodes have the same degree, and every edge leads from one half to the other: I -
// L/max s then swaps the halves for ever. The graph must be connected.
func (g *Graph) RegularBipartite() bool {
	side := make([]int, g.Nodes())
	side[0] = 1
	queue := []int{0}
	bipartite := true
	for i := 0; i < len(queue); i++ {
		u := queue[i]
		bipartite = bipartite && g.Degree(u) == g.Degree(0)
		g.adjacency.DoRowNonZero(u, func(_, v int, _ float64) {
			if side[v] == 0 {
				side[v] = -side[u]
				queue = append(queue, v)
			}
			bipartite = bipartite && side[v] == -side[u]
		})
	}
	return bipartite && g.Nodes() > 1
}

// distances returns the number of edges from source to every node, -1 where there is no way.
func distances(a *CSR, source int) []int {
	d := make([]int, a.rows)
	for i := range d {
		d[i] = -1
	}
	d[source] = 0
	queue := make([]int, 1, a.rows)
	queue[0] = source
	for i := 0; i < len(queue); i++ {
		u := queue[i]
		for p := a.indptr[u]; p < a.indptr[u+1]; p++ {
			if v := int(a.indices[p]); d[v] < 0 {
				d[v] = d[u] + 1
				queue = append(queue, v)
			}
		}
	}
	return d
}
