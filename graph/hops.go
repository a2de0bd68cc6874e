package graph

import "slices"

// Hops returns the number of hops that messages take under the gossip matrix w (n×n) from every node to the nearest of
// the given ones, -1 without a path: node u sends to v where w[v,u] is not zero.
func Hops(w *CSR, to []int) []int {
	n, _ := w.Dims()
	hops := slices.Repeat([]int{-1}, n)
	for _, v := range to {
		hops[v] = 0
	}
	for queue := slices.Clone(to); len(queue) > 0; queue = queue[1:] {
		w.DoRowNonZero(queue[0], func(_, u int, x float64) {
			if x != 0 && hops[u] < 0 {
				hops[u] = hops[queue[0]] + 1
				queue = append(queue, u)
			}
		})
	}
	return hops
}
