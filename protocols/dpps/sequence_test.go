package dpps

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/graph"
)

// drawSequence draws weight matrices that are averages of the identity and a few permutations.
func drawSequence(t *rapid.T, most int) *Sequence {
	n := rapid.IntRange(2, most).Draw(t, "n")
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "permutations"), 4))
	for {
		var weights []*graph.CSR
		for range 1 + r.IntN(3) {
			w := mat.NewDense(n, n, nil)
			parts := 2 + r.IntN(2)
			for part := range parts {
				order := r.Perm(n)
				for i := range n {
					j := order[i]
					if part == 0 {
						j = i
					}
					w.Set(i, j, w.At(i, j)+1/float64(parts))
				}
			}
			weights = append(weights, graph.NewCSRFromDense(w))
		}
		if s, err := NewSequence(numbers(n), weights); err == nil {
			return s
		}
	}
}

func TestSequences(t *testing.T) {
	for n := 2; n <= 20; n++ {
		s, err := Exponential(n)
		if err != nil {
			t.Fatal(err)
		}
		if want := int(math.Log2(float64(n-1))) + 1; s.Period() != want {
			t.Errorf("exp:%d repeats after %d rounds, must be %d", n, s.Period(), want)
		}
		for t0 := range s.Period() {
			for i := range n {
				if got := s.Weights(t0).At((i+1<<t0)%n, i); got < 0.5 {
					t.Errorf("exp:%d round %d: node %d gives %g to the one 2^%d further", n, t0, i, got, t0)
				}
			}
		}
	}
	s, err := DOut(10, 4)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		for j := range 10 {
			want := 0.0
			if (j-i+10)%10 < 4 {
				want = 0.25
			}
			if got := s.Weights(0).At(j, i); got != want {
				t.Errorf("4-out: weight %g from %d to %d, must be %g", got, i, j, want)
			}
		}
	}
}

func TestByName(t *testing.T) {
	for spec, nodes := range map[string]int{"exp:10": 10, "exp:1e1": 10, "d-out: 6, 2": 6} {
		if s, known, err := ByName(spec); err != nil || !known || s.Nodes() != nodes {
			t.Errorf("%s: %v, %v", spec, known, err)
		}
	}
	for _, spec := range []string{"exp:1", "exp:0x10", "exp:1_0", "exp:1e99", "exp:2.5", "exp:", "exp", "exp:4,2", "d-out:10"} {
		if s, known, err := ByName(spec); err == nil || !known || s != nil {
			t.Errorf("%s: %v, %v, %v", spec, s, known, err)
		}
	}
	if _, known, err := ByName("cycle:5"); known || err != nil {
		t.Errorf("cycle:5: %v, %v", known, err)
	}
}
