package baselines

import (
	"context"
	"math"
	"testing"

	"mafalda/factorize"
	"mafalda/participation"
	"mafalda/workload"
)

// On the prefix workload D-MF is the optimum itself, and the others have closed forms.
func TestBaselinesOnPrefix(t *testing.T) {
	const steps = 40
	s, err := participation.NewCyclic(steps, 4, 10)
	if err != nil {
		t.Fatal(err)
	}
	h := workload.PrefixGram(steps)
	dmf, err := NewFor(context.Background(), DMF, workload.Spec{}, s)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := All(dmf, MeasureOf(factorize.Mean(h), s))
	if err != nil || len(rows) != 3 {
		t.Fatalf("%v, %v", rows, err)
	}
	// AntiPGD: Σ_{s,t} 40 - max(s,t) over {0,10,20,30}, and one unit of noise in each step.
	const antiSens = 40 + 30 + 20 + 10 + 2*(30+20+10+20+10+10)
	for i, want := range []Measured{
		{"dp-d-sgd", factorize.Quality{Loss: 4 * steps * (steps + 1) / 2}},
		{"antipgd", factorize.Quality{Loss: antiSens * steps}},
	} {
		if rows[i].Name != want.Name || math.Abs(rows[i].Loss-want.Loss) > 1e-9*want.Loss {
			t.Errorf("%+v, want %s with the loss %v", rows[i], want.Name, want.Loss)
		}
	}
	best, err := factorize.Dense{}.Optimize(context.Background(), factorize.Mean(h), s, factorize.Options{})
	if err != nil || rows[2].Name != "d-mf" || rows[2].Loss < best.LowerBound || rows[2].Loss > best.Loss*(1+1e-9) {
		t.Errorf("%+v, want the optimum %v (%v)", rows[2], best.Loss, err)
	}
}
