package dpps

import (
	"context"
	"math/big"
	"slices"

	"mafalda/graph"
	"mafalda/internal/lists"
)

// MostFlooded is the largest number of nodes for which BroadcastRounds follows who has heard from whom.
const MostFlooded = 4096

// BroadcastRounds returns how many rounds max-consensus takes, from the worst round on; with more than MostFlooded
// nodes how many are enough: until everybody's number has reached the first node, and then everybody from there.
func (s *Sequence) BroadcastRounds(ctx context.Context) (int, error) {
	most := 0
	for t := range s.Period() {
		if s.Nodes() > MostFlooded {
			return s.throughFirst(ctx)
		}
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		most = max(most, s.floodRounds(t))
	}
	return most, nil
}

// throughFirst adds the longest way to node 0, up to any round, and the longest way from there, from any round on.
func (s *Sequence) throughFirst(ctx context.Context) (int, error) {
	if s.Period() == 1 {
		to, from := graph.Hops(s.weights[0], []int{0}), graph.Hops(s.weights[0].Transpose(), []int{0})
		return slices.Max(to) + slices.Max(from), nil
	}
	var there, back int
	for t := range s.Period() {
		to, err := s.spread(ctx, func(step int) int { return t - 1 - step }, true)
		if err != nil {
			return 0, err
		}
		from, err := s.spread(ctx, func(step int) int { return t + step }, false)
		if err != nil {
			return 0, err
		}
		there, back = max(there, to), max(back, from)
	}
	return there + back, nil
}

// spread returns how many steps it takes from node 0 to all over the weights of these rounds, or, with the rounds
// backwards, from all to node 0.
func (s *Sequence) spread(ctx context.Context, round func(step int) int, backwards bool) (int, error) {
	period := s.Period()
	reached := make([]bool, s.Nodes())
	reached[0] = true
	step := 0
	for ; slices.Contains(reached, false); step++ {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		next := slices.Clone(reached)
		s.weights[(round(step)%period+period)%period].DoNonZero(func(i, j int, v float64) {
			if backwards {
				i, j = j, i
			}
			next[i] = next[i] || v > 0 && reached[j]
		})
		reached = next
	}
	return step, nil
}

// floodRounds returns how many rounds from t on it takes until every node has heard, directly or not, from every other.
func (s *Sequence) floodRounds(t int) int {
	bit := func(i int) *big.Int { return new(big.Int).Lsh(big.NewInt(1), uint(i)) }
	everybody := bit(s.Nodes())
	everybody.Sub(everybody, big.NewInt(1))
	heard := lists.Make(s.Nodes(), bit)
	for r := 0; ; r++ {
		if !slices.ContainsFunc(heard, func(h *big.Int) bool { return h.Cmp(everybody) != 0 }) {
			return r
		}
		next := lists.Map(heard, func(h *big.Int) *big.Int { return new(big.Int).Set(h) })
		s.Weights(t + r).DoNonZero(func(i, j int, v float64) {
			if v > 0 {
				next[i].Or(next[i], heard[j])
			}
		})
		heard = next
	}
}
