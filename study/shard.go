package study

import (
	"cmp"
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
	// what the shards have, the least first; later shards would get nothing
	hands := lists.Make(min(shards, len(costs)), func(i int) hand { return hand{shard: i + 1} })
	to := make([]int, len(costs))
	for _, cell := range order {
		h := hands[0]
		to[cell] = h.shard
		h.cost += costs[cell]
		h.cells++ // of cells that cost nothing, too
		place, _ := slices.BinarySearchFunc(hands[1:], h, hand.compare)
		copy(hands, hands[1:place+1])
		hands[place] = h
	}
	return to
}

// hand is what a shard has.
type hand struct {
	shard, cells int
	cost         float64
}

func (h hand) compare(other hand) int {
	return cmp.Or(cmp.Compare(h.cost, other.cost), cmp.Compare(h.cells, other.cells), cmp.Compare(h.shard, other.shard))
}
