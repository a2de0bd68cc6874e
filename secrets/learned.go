package secrets

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mafalda/internal/lists"
)

// Learned returns what a coalition learns of every node: a proven bound of [M_A⁻¹]_vv, in the way of Worst, and +Inf of
// its own members, and where it knows too much for any bound. Where the others' noise falls apart into independent
// parts each part is bounded by itself: one without protection does not take it from the rest.
//
// It fails as Check does, and for a node of the coalition that is out of range.
func (n *Noise) Learned(coalition []int) ([]float64, error) {
	if err := n.Check(); err != nil {
		return nil, err
	}
	for _, v := range coalition {
		if v < 0 || v >= len(n.Own) {
			return nil, fmt.Errorf("coalition with node %d of %d", v, len(n.Own))
		}
	}
	learned := slices.Repeat([]float64{math.Inf(1)}, len(n.Own))
	for _, part := range n.parts(coalition) {
		rest := slices.Repeat([]bool{true}, len(n.Own))
		for _, v := range part {
			rest[v] = false
		}
		others, bounds := n.factorBounds(indices(rest))
		for i, v := range others {
			learned[v] = bounds[i]
		}
	}
	return learned, nil
}

// exposure returns Learned by whichever way is faster.
func (p *prover) exposure(coalition []int) []float64 {
	if others, bounds, ok := p.boundsByUpdates(coalition); ok {
		learned := make([]float64, len(p.noise.Own))
		for i, v := range others {
			learned[v] = bounds[i]
		}
		return learned
	}
	learned, err := p.noise.Learned(coalition)
	if err != nil {
		panic(err) // noise and coalitions have been checked
	}
	return learned
}

// parts returns the nodes outside of a coalition, as sets that share no noise with each other.
func (n *Noise) parts(coalition []int) [][]int {
	const nowhere, unseen = -1, -2
	at := slices.Repeat([]int{unseen}, len(n.Own))
	for _, a := range coalition {
		at[a] = nowhere
	}
	neighbours := make([][]int, len(n.Own))
	for _, p := range n.Pairs {
		if p.Deviation > 0 {
			neighbours[p.U], neighbours[p.V] = append(neighbours[p.U], p.V), append(neighbours[p.V], p.U)
		}
	}
	var parts [][]int
	for start := range at {
		if at[start] != unseen {
			continue
		}
		part := []int{start}
		at[start] = len(parts)
		for next := 0; next < len(part); next++ {
			for _, v := range neighbours[part[next]] {
				if at[v] == unseen {
					at[v] = len(parts)
					part = append(part, v)
				}
			}
		}
		parts = append(parts, part)
	}
	return parts
}

// Exposed returns for every node the attacker who learns most of it, and how much, as Learned says, times the node's
// weight. It costs as much as Worst, and has its errors.
func (n *Noise) Exposed(ctx context.Context, attackers *Attackers) ([]Worst, error) {
	threats, learned, err := provenOf(ctx, n, attackers, func(p *prover, t Threat) []float64 { // of the victims
		all := p.exposure(t.Attacker)
		return lists.Map(t.Victims, func(v int) float64 { return attackers.weigh(v, all[v]) })
	})
	if err != nil {
		return nil, err
	}
	most := make([]Worst, len(n.Own))
	for v := range most {
		most[v].Victim = v
	}
	for i, t := range threats {
		for j, v := range t.Victims {
			if !(learned[i][j] <= most[v].Value) {
				most[v].Attacker, most[v].Value = t.Attacker, learned[i][j]
			}
		}
	}
	return most, nil
}
