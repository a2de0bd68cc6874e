package plan_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"mafalda/accounting"
	"mafalda/accounting/bins"
	"mafalda/factorize"
	"mafalda/internal/fault"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/strategy"
	"mafalda/workload"
)

// The search for an (ε, δ) finds less error than the strategies that it starts from and than independent noise, all at
// the privacy that the accountant confirms.
func TestBinsSearchIsBetterThanItsStarts(t *testing.T) {
	ctx, h, schema := t.Context(), workload.PrefixGram(12), must(participation.NewCyclic(12, 3, 4))
	o := plan.BinsOptions{Epsilon: 2, Delta: 1e-5, Rounds: 1, MonteCarlo: bins.MonteCarlo{Samples: 1 << 13}}
	r, err := plan.OptimizeForBins(ctx, h, schema, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Privacy.Confirmed.Upper > o.Delta {
		t.Errorf("%+v", r.Privacy)
	}
	reached := must(factorize.Evaluate(r.Strategy, factorize.Mean(h), schema))
	least := r.Privacy.NoiseMultiplier * r.Privacy.NoiseMultiplier * reached.SquaredError
	known, _, err := factorize.Bins{Number: 4}.Minimize(ctx, h, nil, nil, factorize.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]strategy.Strategy{"C ≥ 0": known, "independent": strategy.Identity(12)} {
		p := must(plan.CalibrateBins(ctx, c, 4, o.Epsilon, o.Delta, o.MonteCarlo))
		q := must(factorize.Evaluate(c, factorize.Mean(h), schema))
		if e := p.NoiseMultiplier * p.NoiseMultiplier * q.SquaredError; least > e {
			t.Errorf("error %v, of %s noise %v", least, name, e)
		}
	}
	if _, ok := r.Strategy.(*strategy.Dense); !ok {
		t.Errorf("a strategy %T", r.Strategy)
	}
	if math.Abs(reached.Sensitivity.Squared-1) > 1e-12 {
		t.Errorf("%+v", reached)
	}
}

func TestBinsSearchRefuses(t *testing.T) {
	h, schema := workload.PrefixGram(4), must(participation.NewCyclic(4, 2, 2))
	good := plan.BinsOptions{Epsilon: 1, Delta: 1e-5}
	for field, o := range map[string]plan.BinsOptions{"Bandwidth": {Bandwidth: 5, Epsilon: 1, Delta: 1e-5},
		"Epsilon": {Delta: 1e-5}} {
		var argument *fault.Argument
		if _, err := plan.OptimizeForBins(t.Context(), h, schema, o); !errors.As(err, &argument) || argument.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := plan.OptimizeForBins(ctx, h, schema, good); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	good.Delta = 0
	if _, err := plan.OptimizeForBins(t.Context(), h, schema, good); !errors.Is(err, accounting.ErrParameter) {
		t.Errorf("no delta: %v", err)
	}
}
