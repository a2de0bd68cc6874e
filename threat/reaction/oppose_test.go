package reaction

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// Where gradients enter two numbers with opposite signs, BᵀQB is a small difference of large numbers: the margin of a
// proof covers what rounding makes of it.
func TestMarginCoversWhatCancels(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	beyond := 0
	for range 200 {
		const kappa = 0.7
		off := math.Pow(10, -1-9*r.Float64())
		inject := []float64{1 + r.Float64(), -1}
		q := []float64{1/inject[0]/inject[0] + off*r.Float64(), 1 / inject[0], 1 / inject[0], 1 + off}
		a := &answer{move: newOperator(2, 2, []float64{1, 0, 0, 1}), inject: newOperator(2, 1, inject),
			kappa: []float64{kappa}}
		s, why := stepCostOf(a, []Class{{}}, q, -1)
		if why != "" || s.count == 0 {
			continue
		}
		exact := new(big.Float).SetPrec(400)
		for i, x := range inject {
			for j, y := range inject {
				term := new(big.Float).SetPrec(400).SetFloat64(x)
				for _, v := range []float64{y, q[2*i+j], kappa, kappa} {
					term.Mul(term, new(big.Float).SetFloat64(v))
				}
				exact.Add(exact, term)
			}
		}
		lost, _ := exact.Sub(exact, new(big.Float).SetFloat64(s.bqb[0])).Float64()
		if lost = math.Abs(lost) / s.bqb[0]; lost > s.margin {
			t.Errorf("BᵀQB = %v has lost %v of it, the margin is %v", s.bqb[0], lost, s.margin)
		}
		if lost > proofMargin(1) {
			beyond++
		}
	}
	if beyond == 0 {
		t.Error("nothing cancels in these cases")
	}
}

// A price is refused that is largestP times what it was before nodes answered, not before differences moved.
func TestPriceIsComparedWithTheCostBefore(t *testing.T) {
	for above, refused := range map[float64]bool{1e-8: false, 1e-10: true} { // Q/(D/Q - 1) is added to Q
		a := &answer{move: newOperator(1, 1, []float64{1}), inject: newOperator(1, 1, []float64{1}), kappa: []float64{1}}
		s, why := stepCostOf(a, []Class{{Kappa: 1}}, []float64{1}, -1)
		if why != "" {
			t.Fatal(why)
		}
		_, why = s.price(multipliers{d: []float64{1 + above}, dominance: above, margin: s.margin, fixed: true})
		if (why != "") != refused {
			t.Errorf("D = (1 + %v)BᵀQB: %q", above, why)
		}
	}
}
