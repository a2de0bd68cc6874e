package secrets

import (
	"context"
	"fmt"
	"math"

	"mafalda/internal/parallel"
	"mafalda/internal/rounding"
)

// Worst is the attacker who learns most, and of whom.
type Worst struct {
	Attacker []int   // ascending; empty: the eavesdropper
	Victim   int     // outside of Attacker
	Value    float64 // bound of the squared sensitivity of the step for noise of variance one, Attackers.Weight·[M_A⁻¹]_vv
}

// Worst returns a proven bound of max [M_A⁻¹]_vv over all attackers and victims, by their weights, and where it is
// attained. It is +Inf where a covariance is not positive definite, or not so beyond rounding: the attacker then knows
// some message.
//
// It is proven by Cholesky factors of every M_A (factorBounds), 2n³/3 multiplications an attacker, or by updates of one M⁻¹
// (updates), n(|A|+|N|)² and (n+m)(|A|+|N|) for an attacker with |N| neighbours, where that is less. Both give away the
// same to rounding.
//
// It fails as Check does, for another number of nodes, and when the context ends.
func (n *Noise) Worst(ctx context.Context, attackers *Attackers) (Worst, error) {
	return n.WorstWithin(ctx, attackers, math.Inf(1))
}

// WorstWithin returns what Worst does, for noise with a limit that was proven before. Where updates prove more than the
// limit for an attacker, the bound by factors counts if it is less: the two differ by rounding, so that the limit may be
// kept by one only.
func (n *Noise) WorstWithin(ctx context.Context, attackers *Attackers, limit float64) (Worst, error) {
	_, proven, err := provenOf(ctx, n, attackers, func(p *prover, t Threat) Worst { return p.threat(t, limit) })
	var worst Worst
	for _, w := range proven {
		if !(w.Value <= worst.Value) { // what is no number is no bound
			worst = w
		}
	}
	return worst, err
}

// provenOf returns the threats of attackers, and what is proven of each of them, side by side. It fails as Worst does.
func provenOf[V any](ctx context.Context, n *Noise, attackers *Attackers, prove func(p *prover, t Threat) V) ([]Threat,
	[]V, error) {
	if err := n.Check(); err != nil {
		return nil, nil, err
	}
	if attackers.nodes != len(n.Own) {
		return nil, nil, fmt.Errorf("noise of %d nodes against attackers of %d", len(n.Own), attackers.nodes)
	}
	threats := attackers.Threats()
	proven := make([]V, len(threats))
	p := newProver(n, attackers)
	parallel.For(len(threats), func(i int) {
		if ctx.Err() == nil {
			proven[i] = prove(p, threats[i])
		}
	})
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	return threats, proven, nil
}

// prover proves what attackers learn of one noise: the faster way, or the one that comes to something.
type prover struct {
	noise   *Noise
	by      *Attackers
	updates *updates // nil: there is no such way
}

func newProver(n *Noise, by *Attackers) *prover {
	return &prover{noise: n, by: by, updates: newUpdates(n)}
}

// boundsByUpdates bounds what a coalition learns, by updates. It is not ok where they take longer, or come to nothing.
func (p *prover) boundsByUpdates(coalition []int) (others []int, bounds []float64, ok bool) {
	if p.updates == nil || !p.updates.pays(len(p.noise.Pairs), coalition) {
		return nil, nil, false
	}
	return p.updates.bounds(coalition)
}

// threat returns the largest bound for one attacker: by updates if that will do and is not above the limit.
func (p *prover) threat(t Threat, limit float64) Worst {
	others, bounds, ok := p.boundsByUpdates(t.Attacker)
	if ok {
		if worst := p.largest(t, others, bounds); worst.Value <= limit {
			return worst
		}
	}
	others, factored := p.noise.factorBounds(t.Attacker)
	for i, b := range bounds {
		factored[i] = math.Min(b, factored[i])
	}
	return p.largest(t, others, factored)
}

// largest returns the largest bound of a victim by its weight.
func (p *prover) largest(t Threat, others []int, bounds []float64) Worst {
	worst, at := Worst{Attacker: t.Attacker}, 0
	for _, v := range t.Victims {
		for others[at] != v {
			at++
		}
		if bound := p.by.weigh(v, bounds[at]); !(bound <= worst.Value) {
			worst.Victim, worst.Value = v, bound
		}
	}
	return worst
}

// weigh returns a bound times a node's weight, rounded up.
func (a *Attackers) weigh(node int, bound float64) float64 {
	if a.weights == nil || math.IsInf(bound, 1) {
		return bound
	}
	return rounding.MulUp(bound, a.weights[node])
}
