package threat

import (
	"context"
	"math"
	"testing"

	"mafalda/graph"
)

// Views of more than 128 rows go through gonum's blocked reflections, which can be wrong for sparse matrices
// (gemm.Triangularize): the definition must still agree with the filter.
func TestLargeViewsAgree(t *testing.T) {
	g, _, err := graph.ByName("florentine", graph.BuiltinOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := graph.NewGossip(g, graph.Uniform)
	if err != nil {
		t.Fatal(err)
	}
	steps := 24
	if testing.Short() {
		steps = 19
	}
	attacker := Attacker{Trust: PNDP, Nodes: []int{8}}
	s := Scenario{w.Matrix(), DPDSGD(), attacker, every(t, steps)}
	view, err := Explicit(s)
	if err != nil {
		t.Fatal(err)
	}
	if rows, _ := view.B.Dims(); rows <= 128 {
		t.Fatalf("a view of %d rows is no test", rows)
	}
	err = Account(context.Background(), s, func(e Exposure) error {
		want, err := view.Exposure(e.Victim)
		if err != nil {
			return err
		}
		for i := range steps {
			for j := range steps {
				if math.Abs(want.M.At(i, j)-e.M.At(i, j)) > 1e-8 {
					t.Fatalf("victim %d: M[%d,%d] = %g, by definition %g", e.Victim, i, j, e.M.At(i, j), want.M.At(i, j))
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
