package canaries

import (
	"math"
	"testing"

	"mafalda/graph"

	"gonum.org/v1/gonum/mat"
)

// The matched filter of a view is the account's: on a path of three nodes, where the last one attacks the first, a
// record of step 0 has sens² = 0.1 after two steps (docs/network-privacy.md), and a record of step 1 has not arrived.
func TestViewsAreWeighedAsAccountsAre(t *testing.T) {
	third := 1.0 / 3
	around := graph.NewCSRFromDense(mat.NewDense(3, 3, []float64{0.5, 0.5, 0, third, third, third, 0, 0.5, 0.5}))
	const rate, size = 0.3, 7.0
	r := &Run{Steps: 2, Rates: []float64{rate, rate}}
	seen := []int{1}
	covariance := mat.NewSymDense(2, nil)
	var moved *mat.Dense
	for v := range 2 {
		response := r.response(around, 2, seen, v, size)
		var own mat.SymDense
		own.SymOuterK(1, response)
		covariance.AddSym(covariance, &own)
		if v == 0 {
			moved = response
		}
	}
	whitening, err := inverseRoot(covariance)
	if err != nil {
		t.Fatal(err)
	}
	var f mat.Dense
	f.Mul(whitening, moved)
	for step, want := range []float64{math.Sqrt(0.1), 0} {
		if got := mat.Norm(f.ColView(step), 2); math.Abs(got-want) > 1e-12 {
			t.Errorf("a record of step %d: %v, want %v", step, got, want)
		}
	}
}

// Momentum and rates are a node's own: what a sum of step 0 moves in its own messages.
func TestResponsesHaveMomentumAndRates(t *testing.T) {
	alone := graph.NewCSRFromDense(mat.NewDense(2, 2, []float64{0.5, 0.5, 0.5, 0.5}))
	r := &Run{Steps: 3, Rates: []float64{1, 2, 4}, Momentum: 0.5}
	response := r.response(alone, 1, []int{0}, 0, 2)
	// messages m_t = m_(t-1)/2 - rate_t u_t/2, u = 1, 1/2, 1/4
	for t0, want := range []float64{-0.5, -0.25 - 0.5, -0.375 - 0.5} {
		if got := response.At(t0, 0); math.Abs(got-want) > 1e-15 {
			t.Errorf("message %d: %v, want %v", t0, got, want)
		}
	}
}
