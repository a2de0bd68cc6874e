package factorize

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/participation"
	"mafalda/strategy"
)

// A person with records in m batches costs at least what a record costs, less than m² times that (m times the noise),
// and no bound is above what is reached; with all batches every step is in one pattern.
func TestPeopleCostLessThanGroups(t *testing.T) {
	const steps, k, b = 16, 4, 4
	h := mat.NewSymDense(steps, nil)
	for s := range steps {
		for r := s; r < steps; r++ {
			h.SetSym(s, r, float64(steps-r)*(1/float64(1+r-s)))
		}
	}
	cycle, err := participation.NewCyclic(steps, k, b)
	if err != nil {
		t.Fatal(err)
	}
	optimum := func(s participation.Schema) (*Result, float64) {
		r, err := Dense{}.Optimize(t.Context(), Mean(h), s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if participation.IsPartition(s) {
			return r, r.LowerBound
		}
		bound, err := OverlapBound(t.Context(), h, strategy.GramOf(r.Strategy), s)
		if err != nil {
			t.Fatal(err)
		}
		return r, max(bound, r.LowerBound)
	}
	alone, _ := optimum(cycle)
	before := alone.Loss * (1 - 1e-6)
	for m := 1; m <= b; m++ {
		people, err := participation.NewPeople(cycle, m)
		if err != nil {
			t.Fatal(err)
		}
		r, bound := optimum(people)
		most := float64(m*m) * alone.Loss * (1 + 1e-6)
		if !(r.Loss >= before && r.Loss <= most) || bound > r.Loss || bound < 0.8*r.Loss {
			t.Errorf("m = %d: loss %v, bound %v; %v for one batch less, %v for m times the noise", m, r.Loss, bound, before, most)
		}
		if m > 1 && r.Loss > 0.95*most {
			t.Errorf("m = %d: loss %v gains little against m times the noise, %v", m, r.Loss, most)
		}
		before = r.Loss * (1 - 1e-6)
	}
}
