package plan_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"mafalda/accounting"
	_ "mafalda/internal/seeded"
	"mafalda/measure"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/workload"
)

// drawTrained draws a case of a loss that curves, on a small network.
func drawTrained(t *rapid.T, on plan.Problem) plan.Case {
	k, b := rapid.IntRange(1, 3).Draw(t, "k"), rapid.IntRange(2, 3).Draw(t, "b")
	var err error
	if on.Schema, err = participation.NewCyclic(k*b, k, b); err != nil {
		t.Fatal(err)
	}
	if rapid.Bool().Draw(t, "has momentum") {
		on.Workload.Momentum = 0.5
	}
	on.Workload.Weights = workload.LastSteps(rapid.IntRange(0, k*b).Draw(t, "last steps"))
	directions := rapid.IntRange(1, 3).Draw(t, "directions")
	some := func(from, to float64, name string) []float64 {
		return rapid.SliceOfN(rapid.Float64Range(from, to), directions, directions).Draw(t, name)
	}
	return plan.Case{Problem: on, Options: plan.Options{Privacy: asked(2)}, Limit: time.Minute, Collude: plan.Yes,
		Records: rapid.IntRange(b, 1000).Draw(t, "records"),
		Training: &measure.Training{Rate: rapid.Float64Range(0.01, 3).Draw(t, "rate"), X: some(0.001, 1, "x"),
			Directions: some(0.5, 3, "directions of x"), Distances: some(0, 4, "distances")}}
}

// What is recommended is never predicted to be worse than independent noise, of which all numbers of steps and rates are
// tried here one by one; nor is a strategy of all than the plain one.
func TestAdviceIsNeverWorseThanIndependentNoise(t *testing.T) {
	on := plan.Problem{Network: florentine(t)}
	checkFew(t, func(t *rapid.T) {
		c := drawTrained(t, on)
		compared, err := plan.Compare(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		of := func(name string) plan.Way {
			i := slices.IndexFunc(compared.Ways, func(w plan.Way) bool { return w.Name() == name })
			if i < 0 {
				t.Fatalf("no %s", name)
			}
			return compared.Ways[i]
		}
		dense := of("own noise, in turn, dense")
		for _, other := range []string{"own noise, in turn, dense, plain", "own noise, in turn, independent"} {
			if dense.Total() > of(other).Total()*(1+1e-4) {
				t.Errorf("dense %v, %s %v", dense.Total(), other, of(other).Total())
			}
		}
		best := compared.Best()
		for k := c.Problem.Schema.Participations(); k > 0; k-- {
			for _, at := range best.Curve[:rapid.IntRange(5, 12).Draw(t, "rates")] {
				if e := independentExcess(t, c, k, at.Rate); best.Total() > e*(1+1e-9) {
					t.Fatalf("%s: %v, independent noise %v in %d passes at the rate %v", best.Name(), best.Total(), e, k, at.Rate)
				}
			}
		}
	})
}

// independentExcess is the predicted excess risk of the same independent noise in every step of k passes, by definition:
// C is the identity, of sensitivity √k.
func independentExcess(t *rapid.T, c plan.Case, k int, rate float64) float64 {
	b := c.Problem.Schema.Separation()
	of := *c.Training
	of.Workload, of.Nodes, of.Steps = c.Problem.Workload, c.Problem.Network.Graph.Nodes(), k*b
	if of.Workload.Check(of.Steps) != nil {
		return math.Inf(1)
	}
	of = of.At(rate)
	h, err := workload.Gram(t.Context(), c.Problem.Network.Gossip.Matrix(), of.Steps,
		workload.Options{Spec: of.Workload, Curvature: of.Curvature()})
	if err != nil {
		t.Fatal(err)
	}
	private, err := accounting.Calibrate(c.Options.Privacy.Target, math.Sqrt(float64(k)), 1, accounting.ZeroOut)
	if err != nil {
		t.Fatal(err)
	}
	e, err := of.Predict(private.NoiseStd*float64(b)/float64(c.Records), h.Trace())
	if err != nil {
		t.Fatal(err)
	}
	return e.Total()
}

// No prospect is for levels of single nodes, missed steps, less than a record a batch, and losses that do not curve.
func TestProspectsAreRefused(t *testing.T) {
	for field, change := range map[string]func(c *plan.Case){
		"MissedSteps":  func(c *plan.Case) { c.Problem.Workload.MissedSteps = 0.1 },
		"Records":      func(c *plan.Case) { c.Records = 3 },
		"Curvature":    func(c *plan.Case) { c.Training.X = []float64{0} },
		"Distance":     func(c *plan.Case) { c.Training.Distances = []float64{-1} },
		"LearningRate": func(c *plan.Case) { c.Training.Rate = 0 },
		"Steps":        func(c *plan.Case) { c.Problem.Schema = must(participation.NewCyclic(5000, 2, 2500)); c.Records = 5000 },
		"Objective":    func(c *plan.Case) { c.Problem.Objective = plan.Worst },
	} {
		c := caseOf(t)
		c.Records, c.Training = 4, &measure.Training{Rate: 1, X: []float64{0.1}, Directions: []float64{1}, Distances: []float64{1}}
		if err := plan.CheckCase(c); err != nil {
			t.Fatal(err)
		}
		change(&c)
		refused(t, field, plan.CheckCase(c))
	}
}
