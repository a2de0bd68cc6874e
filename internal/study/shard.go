package study

import (
	"cmp"
	"fmt"
	"slices"
)

// Shard is one of the parts that a grid is cut into, for machines that do not talk to each other. The zero value is no
// part, but all of it.
type Shard struct {
	Index, Of int // counted from 1
}

func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Of) }

// Deal returns which cells are those of the shard, by their costs, which must not be negative: the dearest cell first,
// each goes to the shard that has least. All shards deal alike, whatever has been computed already.
func (s Shard) Deal(costs []float64) []int {
	order := make([]int, len(costs))
	for i := range order {
		order[i] = i
	}
	if s.Of <= 1 {
		return order
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(costs[b], costs[a]) })
	loads := make([]float64, s.Of)
	counts := make([]int, s.Of) // of cells that cost nothing, too
	var mine []int
	for _, cell := range order {
		least := 0
		for i := range loads {
			if loads[i] < loads[least] || loads[i] == loads[least] && counts[i] < counts[least] {
				least = i
			}
		}
		loads[least] += costs[cell]
		counts[least]++
		if least == s.Index-1 {
			mine = append(mine, cell)
		}
	}
	slices.Sort(mine)
	return mine
}
