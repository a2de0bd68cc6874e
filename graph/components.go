package graph

import "slices"

// Components returns the connected components, of a directed graph the weakly connected ones: largest first, equal ones
// by their smallest node; nodes ascending.
func (g *Graph) Components() [][]int {
	ways := []*CSR{g.adjacency}
	if g.directed {
		ways = append(ways, g.adjacency.Transpose())
	}
	var components [][]int
	seen := make([]bool, g.Nodes())
	for s := range seen {
		if seen[s] {
			continue
		}
		seen[s] = true
		component := []int{s}
		for i := 0; i < len(component); i++ {
			for _, a := range ways {
				for _, v := range a.indices[a.indptr[component[i]]:a.indptr[component[i]+1]] {
					if !seen[v] {
						seen[v] = true
						component = append(component, int(v))
					}
				}
			}
		}
		slices.Sort(component)
		components = append(components, component)
	}
	slices.SortStableFunc(components, func(a, b []int) int { return len(b) - len(a) })
	return components
}

// StronglyConnected reports whether every node is reached from every other along directed edges. An undirected graph is
// if it is connected.
func (g *Graph) StronglyConnected() bool {
	reaches := func(a *CSR) bool { return !slices.Contains(Hops(a, []int{0}), -1) }
	return reaches(g.adjacency) && (!g.directed || reaches(g.adjacency.Transpose()))
}

// RegularBipartite reports whether all nodes have the same degree, and every edge leads from one half to the other: I -
// L/max s then swaps the halves for ever. The graph must be connected.
func (g *Graph) RegularBipartite() bool {
	is, hops := g.Nodes() > 1, Hops(g.adjacency, []int{0})
	g.adjacency.DoNonZero(func(u, v int, _ float64) {
		is = is && g.Degree(u) == g.Degree(v) && hops[u]%2 != hops[v]%2
	})
	return is
}

// Hops returns the number of hops that messages take under the gossip matrix w (n×n) from every node to the nearest of
// the given ones, -1 without a path: node u sends to v where w[v,u] is not zero. Of an adjacency matrix these are the
// numbers of edges from the given nodes.
func Hops(w *CSR, to []int) []int {
	hops := slices.Repeat([]int{-1}, w.rows)
	for _, v := range to {
		hops[v] = 0
	}
	queue := append(make([]int, 0, w.rows), to...)
	for i := 0; i < len(queue); i++ {
		v := queue[i]
		for p := w.indptr[v]; p < w.indptr[v+1]; p++ {
			if u := int(w.indices[p]); hops[u] < 0 && w.data[p] != 0 {
				hops[u] = hops[v] + 1
				queue = append(queue, u)
			}
		}
	}
	return hops
}
