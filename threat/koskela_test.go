package threat

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/graph"
)

// stateSpaceModel is one of the state-space models (A, B, C) of Koskela & Kulkarni's earlier version (Section 3.1):
// gossip averaging θ' = A θ + B (x + u) with independent noise u at every node, of which y = C θ is observed. All noise
// counts as protection.
type stateSpaceModel int

const (
	// nonAdaptiveSum is (W, W, S): the observers see the sums that they compute, one of them (e_i) or several that
	// collude.
	nonAdaptiveSum stateSpaceModel = iota
	// plain is (W, I, e_j): the victim's own messages are seen, which bounds what any node learns, also adaptively.
	plain
	// adaptiveSum is (W, W, S(N̄_j)): the sums of the victim's closed neighbourhood are seen, of which every other
	// node's view is post-processing, also adaptively.
	adaptiveSum
)

var modelNames = [...]string{nonAdaptiveSum: "non-adaptive sum", plain: "plain", adaptiveSum: "adaptive sum"}

// String returns the name of the case.
func (c stateSpaceModel) String() string {
	if c < 0 || int(c) >= len(modelNames) {
		return fmt.Sprintf("stateSpaceModel(%d)", int(c))
	}
	return modelNames[c]
}

// exposure returns what is learned of the victim in T = steps, by the filter that Account uses. Observers are needed
// for nonAdaptiveSum, and follow from the victim in the other cases.
func (c stateSpaceModel) exposure(w *graph.CSR, observers []int, victim, steps int) (Exposure, error) {
	ctx := context.Background()
	n, _ := w.Dims()
	switch c {
	case nonAdaptiveSum:
		if len(observers) == 0 {
			return Exposure{}, fmt.Errorf("%w: nobody observes", ErrAttacker)
		}
	case plain:
		observers = []int{victim}
	case adaptiveSum:
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
	mix, h := w.ToDense(), independentRows(part(w, observers, all))
	if c == plain {
		h = picking([]int{victim}, all)
	}
	st := &stage{f: mix, e: mix, c: h, d: h, q: symmetric(mulT(mix, mix)), r: symmetric(mulT(h, h)), x: mulT(mix, h)}
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

// TestModelsAreTheirMatrices compares with M = x̃ᵀ(HHᵀ)⁺x̃, H of blocks C W^k B written out as in the paper.
func TestModelsAreTheirMatrices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawGossip(t)
		n, _ := w.Dims()
		steps := rapid.IntRange(1, 5).Draw(t, "T")
		victim := rapid.IntRange(0, n-1).Draw(t, "victim")
		observers := rapid.Permutation(upTo(n)).Draw(t, "observers")[:rapid.IntRange(1, n).Draw(t, "count")]
		c := rapid.SampledFrom([]stateSpaceModel{nonAdaptiveSum, plain, adaptiveSum}).Draw(t, "case")
		got, err := c.exposure(w, observers, victim, steps)
		if err != nil {
			t.Fatal(err)
		}
		first := 1 // the power of W in the first block
		switch c {
		case plain:
			observers, first = []int{victim}, 0
		case adaptiveSum:
			observers = nil
			for v := range n {
				if v == victim || w.At(v, victim) != 0 {
					observers = append(observers, v)
				}
			}
		}
		powers := []*mat.Dense{identityOf(n)}
		for range steps {
			powers = append(powers, mul(w.ToDense(), powers[len(powers)-1]))
		}
		h := mat.NewDense(steps*len(observers), steps*n, nil)
		for s := range steps {
			for u := range s + 1 {
				for i, o := range observers {
					for v := range n {
						h.Set(s*len(observers)+i, u*n+v, powers[s-u+first].At(o, v))
					}
				}
			}
		}
		var svd mat.SVD
		if !svd.Factorize(h, mat.SVDThin) {
			t.Fatal("singular values")
		}
		var right mat.Dense
		svd.VTo(&right)
		rank := slices.IndexFunc(svd.Values(nil), func(s float64) bool { return s <= 1e-10*svd.Values(nil)[0] })
		if rank < 0 {
			rank = len(svd.Values(nil))
		}
		for s := range steps {
			for u := range steps {
				want := 0.0
				for r := range rank {
					want += right.At(s*n+victim, r) * right.At(u*n+victim, r)
				}
				if math.Abs(got.M.At(s, u)-want) > 1e-8 {
					t.Fatalf("%v: M[%d,%d] = %v, by the matrices %v", c, s, u, got.M.At(s, u), want)
				}
			}
		}
	})
}

func TestModelErrors(t *testing.T) {
	_, w := gossip(t, "cycle:4", 0)
	if _, err := nonAdaptiveSum.exposure(w, nil, 1, 3); !errors.Is(err, ErrAttacker) {
		t.Errorf("nobody: %v", err)
	}
	if _, err := plain.exposure(w, nil, 4, 3); !errors.Is(err, ErrAttacker) {
		t.Errorf("no such victim: %v", err)
	}
}
