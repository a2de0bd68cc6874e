package threat

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// TestCasesAreTheirMatrices compares with M = x̃ᵀ(HHᵀ)⁺x̃, H of blocks C W^k B written out as in the paper.
func TestCasesAreTheirMatrices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawGossip(t)
		n, _ := w.Dims()
		steps := rapid.IntRange(1, 5).Draw(t, "T")
		victim := rapid.IntRange(0, n-1).Draw(t, "victim")
		observers := rapid.Permutation(upTo(n)).Draw(t, "observers")[:rapid.IntRange(1, n).Draw(t, "count")]
		c := rapid.SampledFrom([]Case{NonAdaptiveSum, Plain, AdaptiveSum}).Draw(t, "case")
		got, err := AccountCase(context.Background(), w, c, observers, victim, steps)
		if err != nil {
			t.Fatal(err)
		}
		first := 1 // the power of W in the first block
		switch c {
		case Plain:
			observers, first = []int{victim}, 0
		case AdaptiveSum:
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

func TestCaseErrors(t *testing.T) {
	_, w := gossip(t, "cycle:4", 0)
	if _, err := AccountCase(context.Background(), w, NonAdaptiveSum, nil, 1, 3); !errors.Is(err, ErrAttacker) {
		t.Errorf("nobody: %v", err)
	}
	if _, err := AccountCase(context.Background(), w, Plain, nil, 4, 3); !errors.Is(err, ErrAttacker) {
		t.Errorf("no such victim: %v", err)
	}
}
