package dpps

import (
	"context"
	"slices"

	"mafalda/graph"
	"mafalda/internal/lists"
	"mafalda/protocols/internal/consensus"
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
		to, _ := consensus.Levels(s.weights[0])
		from, _ := consensus.Levels(s.weights[0].Transpose())
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
	n := s.Nodes()
	words := (n + 63) / 64
	heard := make([][]uint64, n)
	for i := range heard {
		heard[i] = make([]uint64, words)
		heard[i][i/64] = 1 << (i % 64)
	}
	for r := 0; ; r++ {
		if allHeard(heard, n) {
			return r
		}
		next := lists.Map(heard, slices.Clone[[]uint64])
		hear(next, heard, s.Weights(t+r))
		heard = next
	}
}

func hear(next, heard [][]uint64, w *graph.CSR) {
	w.DoNonZero(func(i, j int, v float64) {
		if v > 0 {
			for k, x := range heard[j] {
				next[i][k] |= x
			}
		}
	})
}

func allHeard(heard [][]uint64, n int) bool {
	for _, h := range heard {
		for j := range n {
			if h[j/64]>>(j%64)&1 == 0 {
				return false
			}
		}
	}
	return true
}
