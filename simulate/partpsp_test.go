package simulate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"mafalda/internal/fault"
	"mafalda/protocols/dpps"
	"mafalda/protocols/partpsp"
)

// classes is a task of three classes that can be told apart.
func classes(t *testing.T, nodes int) partpsp.Training {
	t.Helper()
	train, test := LogisticTask(1500, 6, 3).Split(1)
	s, err := dpps.Exponential(nodes)
	if err != nil {
		t.Fatal(err)
	}
	task := PartPSPTask{Perceptron: NewPerceptron(6, 8, 6, 3), Train: train, Test: test}
	return partpsp.Training{Task: task, Sequence: s, Shared: 1, Epochs: 12, Batch: 20, LocalRate: 0.3, SharedRate: 0.3,
		Clip:    100,
		PushSum: dpps.Options{Plan: dpps.Plan{Source: dpps.Omniscient}, NoNoise: true}}
}

func TestPartPSPLearns(t *testing.T) {
	p := classes(t, 4)
	chance := 0.0
	test := p.Task.(PartPSPTask).Test
	for _, y := range test.Targets {
		if y == 0 {
			chance += 1 / float64(test.Len())
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
			t.Errorf("%d shared layers: accuracy %g, again %g, in %d rounds, RAS %g", shared, r.Accuracy,
				again.Accuracy, len(r.Rounds), r.MeanReal())
		}
		t.Logf("%d shared layers: accuracy %.3f (always class 0: %.3f), RAS %.3g", shared, r.Accuracy, chance,
			r.MeanReal())
	}
}

// With calibrated constants training goes through; sharing everything, a round is W(x - γg) on all parameters.
func TestPartPSPWithNoise(t *testing.T) {
	p := classes(t, 4)
	c, err := p.Sequence.Calibrate(context.Background(), 5, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.PushSum = dpps.Options{Plan: dpps.Plan{B: 5, NoiseRate: 1e-3, Sync: 5}, Calibration: c}
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

// table is a small one.
func table(t *testing.T) *PartPSP {
	t.Helper()
	p := &PartPSP{Task: LogisticTask(1500, 6, 3), Model: NewPerceptron(6, 8, 6, 3),
		Options: PartPSPOptions{Shared: []int{1, 3}, Bs: []float64{2}, Seeds: 2, Epochs: 2, Batch: 20, LearningRate: 0.3,
			Clip: 100, Plan: dpps.Plan{NoiseRate: 1e-3, Sync: 5, Source: dpps.Omniscient}}}
	for _, n := range []int{4, 5} {
		s, err := dpps.Exponential(n)
		if err != nil {
			t.Fatal(err)
		}
		p.Networks = append(p.Networks, PartPSPNetwork{Name: fmt.Sprint(n), Sequence: s})
	}
	return p
}

// The table has its cells in order, and each says what its runs say.
func TestPartPSPTable(t *testing.T) {
	p := table(t)
	var done []float64
	p.Progress = func(fraction float64) { done = append(done, fraction) }
	cells, err := p.Train(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(cells) != 2*2*2 || len(done) != 16 || done[0] != 1./16 || done[15] != 1 {
		t.Fatalf("%d cells, progress %v", len(cells), done)
	}
	for i, c := range cells {
		if c.Shared != 1+2*(i/4) || (c.B == nil) != (i/2%2 == 1) || c.Network != p.Networks[i%2].Name || c.Std == nil ||
			c.Ratio != nil {
			t.Errorf("cell %d: %+v", i, c)
		}
		if c.B != nil && *c.Epsilon != 2000 {
			t.Errorf("epsilon %g of b = 2 at a noise rate of 1e-3", *c.Epsilon)
		}
	}
	var accuracy float64
	for seed := range uint64(2) {
		training, err := p.training(p.Networks[1], 3, 2, seed)
		if err != nil {
			t.Fatal(err)
		}
		r, err := training.Run(context.Background(), seed)
		if err != nil {
			t.Fatal(err)
		}
		accuracy += r.Accuracy / 2
	}
	if c := cells[5]; c.Accuracy != accuracy {
		t.Errorf("accuracy %g, of its runs %g", c.Accuracy, accuracy)
	}
	reports, err := p.Sensitivities(context.Background(), p.Networks[0], 1, 2, 7)
	if err != nil || len(reports) != 7 {
		t.Errorf("%d rounds, %v", len(reports), err)
	}
}

func TestPartPSPRefuses(t *testing.T) {
	for name, change := range map[string]func(p *PartPSP){
		"batch": func(p *PartPSP) { p.Options.Batch = 1000 }, "model": func(p *PartPSP) { p.Model = NewPerceptron(5, 3) },
		"classes": func(p *PartPSP) { p.Model = NewPerceptron(6, 2) },
	} {
		p := table(t)
		change(p)
		if _, err := p.Train(context.Background()); !errors.Is(err, ErrData) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, change := range map[string]func(p *PartPSP){
		"no layer":        func(p *PartPSP) { p.Options.Shared = []int{0} },
		"too many layers": func(p *PartPSP) { p.Options.Shared = []int{4} },
		"rate":            func(p *PartPSP) { p.Options.LearningRate = math.NaN() },
		"clip":            func(p *PartPSP) { p.Options.Clip = 0 },
		"b":               func(p *PartPSP) { p.Options.Bs = []float64{-1} },
	} {
		p := table(t)
		change(p)
		if _, err := p.Train(context.Background()); !errors.As(err, new(*fault.Argument)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := table(t).Train(cancelled); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
