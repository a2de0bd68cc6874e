package figures

import (
	"slices"
	"testing"

	"mafalda/simulate"
)

// The last steps have a loss each, the others only some: curves have the same distance between points all along.
func TestLossCurvesAreEven(t *testing.T) {
	run := func(add float64) *simulate.Result {
		return &simulate.Result{Steps: []int{20, 40, 58, 59, 60, 61, 62, 63}, Losses: []float64{1 + add, 2, 3, 4, 5, 6, 7, 8}}
	}
	one := lossCurve("mafalda", []*simulate.Result{run(0)})
	if !slices.Equal(one.X, []float64{20, 40, 60, 63}) || !slices.Equal(one.Y, []float64{1, 2, 5, 8}) || one.Low != nil {
		t.Errorf("%+v", one)
	}
	two := lossCurve("mafalda", []*simulate.Result{run(0), run(2)})
	if len(two.Low) != 4 || two.Y[0] != 2 || two.Low[0] != 1 || two.High[0] != 3 || spread([]Curve{two}) == "" ||
		spread([]Curve{one}) != "" {
		t.Errorf("%+v", two)
	}
}

// A cost of nothing was missing from a logarithmic axis without a word.
func TestCostsOfNothingAreNamed(t *testing.T) {
	var rows []simulate.Row
	for _, epsilon := range []float64{1, 2, 4} {
		cost := &simulate.Paired{Difference: 2 - epsilon}
		rows = append(rows, simulate.Row{Method: "d-mf", Epsilon: &epsilon, Excess: cost})
	}
	rows[2].Excess.Difference = 1
	above, free := excessCurves([]Curve{{Name: "d-mf"}}, rows)
	if len(above[0].X) != 2 || !slices.Equal(free, []string{"d-mf at ε = 2"}) {
		t.Errorf("%+v, %q", above, free)
	}
}
