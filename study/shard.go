package study

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"

	"mafalda/internal/lists"
)

// Shard is one of the parts that a grid is cut into, for machines that do not talk to each other. The zero value is no
// part, but all of it.
type Shard struct {
	Index, Of int // counted from 1
}

func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Of) }

// Deal returns the cells of this shard, dealt by their costs: see the function Deal.
func (s Shard) Deal(costs []float64) []int {
	var mine []int
	for cell, shard := range Deal(costs, max(s.Of, 1)) {
		if shard == s.Index || s.Of <= 1 {
			mine = append(mine, cell)
		}
	}
	return mine
}

// Deal returns the shard, counted from 1, that every cell goes to, by their costs, which must not be negative: the
// dearest cell first, each goes to the shard that has least. All shards deal alike, whatever has been computed already.
func Deal(costs []float64, shards int) []int {
	order := lists.UpTo(len(costs))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(costs[b], costs[a]) })
	loads := make(hands, min(shards, len(costs))) // later ones would get nothing
	for i := range loads {
		loads[i].shard = i + 1
	}
	to := make([]int, len(costs))
	for _, cell := range order {
		least := &loads[0]
		to[cell] = least.shard
		least.cost += costs[cell]
		least.cells++ // of cells that cost nothing, too
		heap.Fix(&loads, 0)
	}
	return to
}

// hands are what the shards have, the least first, as a heap.
type hands []struct {
	shard, cells int
	cost         float64
}

func (h hands) Len() int      { return len(h) }
func (h hands) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h hands) Push(any)      {}
func (h hands) Pop() any      { return nil }

func (h hands) Less(i, j int) bool {
	a, b := h[i], h[j]
	return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.cells, b.cells), cmp.Compare(a.shard, b.shard)) < 0
}
