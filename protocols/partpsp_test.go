package protocols

import (
	"context"
	"errors"
	"math"
	"testing"

	"mafalda/simulate"
)

// classes is a task of three classes that can be told apart.
func classes(t *testing.T, nodes int) PartPSP {
	t.Helper()
	train, test := simulate.LogisticTask(1500, 6, 3).Split(1)
	s, err := EXP(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return PartPSP{Model: simulate.NewPerceptron(6, 8, 6, 3), Train: train, Test: test, Sequence: s, Shared: 1, Epochs: 12, Batch: 20, LocalRate: 0.3,
		SharedRate: 0.3, Clip: 100, PushSum: PushSumOptions{NoNoise: true, Estimate: Real}}
}

func TestPartPSPLearns(t *testing.T) {
	p := classes(t, 4)
	chance := 0.0
	for _, y := range p.Test.Targets {
		if y == 0 {
			chance += 1 / float64(p.Test.Len())
		}
	}
	for shared := 1; shared <= 3; shared++ {
		p.Shared = shared
		r, err := p.Run(context.Background(), 7)
		if err != nil {
			t.Fatal(err)
		}
		again, err := p.Run(context.Background(), 7)
		if err != nil {
			t.Fatal(err)
		}
		if r.Accuracy < 0.75 || r.Accuracy != again.Accuracy || len(r.Rounds) != 12*(1200/4/20) || r.MeanReal() <= 0 {
			t.Errorf("%d shared layers: accuracy %g, again %g, in %d rounds, RAS %g", shared, r.Accuracy, again.Accuracy, len(r.Rounds), r.MeanReal())
		}
		t.Logf("%d shared layers: accuracy %.3f (always class 0: %.3f), RAS %.3g", shared, r.Accuracy, chance, r.MeanReal())
	}
}

// With calibrated constants training goes through; sharing everything, a round is W(x - γg) on all parameters.
func TestPartPSPWithNoise(t *testing.T) {
	p := classes(t, 4)
	c, err := p.Sequence.Calibrate(context.Background(), CalibrateOptions{Horizon: 5})
	if err != nil {
		t.Fatal(err)
	}
	p.PushSum = PushSumOptions{Calibration: c, B: 5, NoiseRate: 1e-3, Sync: 5}
	r, err := p.Run(context.Background(), 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, round := range r.Rounds {
		if round.Estimated < round.Real {
			t.Errorf("round %d: estimated %g, real %g", round.Round, round.Estimated, round.Real)
		}
	}
	p.PushSum.NoiseRate = 1e6 // more noise than any model survives
	if loud, err := p.Run(context.Background(), 1); err != nil || loud.Accuracy > 0.6 || !loud.Diverged {
		t.Errorf("accuracy %v under enormous noise, %v", loud, err)
	}
	// one round of one batch, shared by all, is gradient descent with clipping in the norm of sums of magnitudes
	p = classes(t, 4)
	p.Shared, p.Epochs, p.Batch, p.Clip = 3, 1, 300, 0.5
	p.PushSum.Sync = 1
	p.SharedRate = 1
	clipped, err := p.Run(context.Background(), 3)
	if err != nil {
		t.Fatal(err)
	}
	if clipped.Clipped != 1 || clipped.Rounds[0].Real > 2*0.5+1e-9 {
		t.Errorf("%+v: two clipped steps are at most 1 apart", clipped)
	}
}

func TestPartPSPRefuses(t *testing.T) {
	for name, change := range map[string]func(p *PartPSP){
		"no layer": func(p *PartPSP) { p.Shared = 0 }, "too many layers": func(p *PartPSP) { p.Shared = 4 }, "rate": func(p *PartPSP) { p.SharedRate = math.NaN() },
		"clip": func(p *PartPSP) { p.Clip = 0 }, "batch": func(p *PartPSP) { p.Batch = 1000 }, "model": func(p *PartPSP) { p.Model = simulate.NewPerceptron(5, 3) },
		"classes": func(p *PartPSP) { p.Model = simulate.NewPerceptron(6, 2) }, "b": func(p *PartPSP) { p.PushSum = PushSumOptions{Estimate: Real, NoiseRate: 1} },
	} {
		p := classes(t, 4)
		change(&p)
		if _, err := p.Run(context.Background(), 1); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := classes(t, 4).Run(cancelled, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
