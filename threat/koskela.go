package threat

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
)

// Case is one of the state-space models (A, B, C) of Koskela & Kulkarni's earlier version (Section 3.1): gossip averaging
// θ' = A θ + B (x + u) with independent noise u at every node, of which y = C θ is observed. All noise counts as protection.
type Case int

const (
	// NonAdaptiveSum is (W, W, S): the observers see the sums that they compute, one of them (e_i) or several that collude.
	NonAdaptiveSum Case = iota
	// Plain is (W, I, e_j): the victim's own messages are seen, which bounds what any node learns, also adaptively.
	Plain
	// AdaptiveSum is (W, W, S(N̄_j)): the sums of the victim's closed neighbourhood are seen, of which every other node's view
	// is post-processing, also adaptively.
	AdaptiveSum
)

var caseNames = [...]string{NonAdaptiveSum: "non-adaptive sum", Plain: "plain", AdaptiveSum: "adaptive sum"}

// String returns the name of the case.
func (c Case) String() string {
	if c < 0 || int(c) >= len(caseNames) {
		return fmt.Sprintf("Case(%d)", int(c))
	}
	return caseNames[c]
}

// AccountCase returns what is learned of the victim in T = steps. Observers are needed for NonAdaptiveSum, and follow from the
// victim in the other cases. The error cases are those of Account.
func AccountCase(ctx context.Context, w *graph.CSR, c Case, observers []int, victim, steps int) (Exposure, error) {
	n, _ := w.Dims()
	switch c {
	case NonAdaptiveSum:
		if len(observers) == 0 {
			return Exposure{}, fmt.Errorf("%w: nobody observes", ErrAttacker)
		}
	case Plain:
		observers = []int{victim}
	case AdaptiveSum:
		observers = []int{victim}
		w.DoNonZero(func(i, j int, v float64) {
			if v != 0 && j == victim && !slices.Contains(observers, i) {
				observers = append(observers, i)
			}
		})
	}
	for _, v := range append([]int{victim}, observers...) {
		if v < 0 || v >= n {
			return Exposure{}, fmt.Errorf("%w: node %d is not one of %d", ErrAttacker, v, n)
		}
	}
	all := make([]int, n)
	for v := range all {
		all[v] = v
	}
	p := &pieces{nodes: all, victims: all, j: identityOf(n), g: part(w, all, all), covariance: symmetric(identityOf(n))}
	p.h = independentRows(part(w, observers, all))
	if c == Plain {
		p.h = zeros(1, n)
		p.h.Set(0, victim, 1)
	}
	st := p.stage(nil, 0)
	sys := &system{steps: steps, rounds: steps, victims: all, stage: func(int) *stage { return st }}
	gains, err := sys.forward(ctx)
	if err != nil {
		return Exposure{}, err
	}
	out := Exposure{Victim: victim}
	err = sys.respond(ctx, gains, sys.backward(gains), func(i int, m *mat.SymDense) error {
		if i == victim {
			out.M = m
		}
		return nil
	})
	return out, err
}

func identityOf(n int) *mat.Dense {
	m := mat.NewDense(n, n, nil)
	for i := range n {
		m.Set(i, i, 1)
	}
	return m
}
