package dpps

import (
	"context"
	"math/big"
	"slices"

	"mafalda/internal/lists"
)

// MostFlooded is the largest number of nodes for which BroadcastRounds follows who has heard from whom.
const MostFlooded = 4096

// BroadcastRounds returns how many rounds max-consensus takes, from the worst round on; with more than MostFlooded
// nodes how many are enough: in every period another node hears a number that not all have heard.
func (s *Sequence) BroadcastRounds(ctx context.Context) (int, error) {
	if s.Nodes() > MostFlooded {
		return (s.Nodes() - 1) * s.Period(), nil
	}
	most := 0
	for t := range s.Period() {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		most = max(most, s.floodRounds(t))
	}
	return most, nil
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
