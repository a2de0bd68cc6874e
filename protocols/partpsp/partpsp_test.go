package partpsp

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"mafalda/internal/fault"
	"mafalda/protocols/dpps"
)

// means is a task of two layers of one parameter: both are to be the mean of the records, whose loss is half the
// squared distance to each. A test is right if both parameters are within 0.1 of its number.
type means struct {
	train, test []float64
}

func (m means) Layers() int                        { return 2 }
func (m means) Prefix(layers int) int              { return layers }
func (m means) Init(theta []float32, _ *rand.Rand) { clear(theta) }
func (m means) Records() int                       { return len(m.train) }
func (m means) Tests() int                         { return len(m.test) }
func (m means) NewLearner() Learner                { return &meansLearner{means: m} }

type meansLearner struct {
	means
	batch []int
}

func (l *meansLearner) Take(records []int) { l.batch = records }

func (l *meansLearner) GradientTo(dst, theta []float32) {
	clear(dst)
	for _, i := range l.batch {
		for c := range dst {
			dst[c] += theta[c] - float32(l.train[i])
		}
	}
}

func (l *meansLearner) Correct(theta []float32) int {
	correct := 0
	for _, y := range l.test {
		if math.Abs(float64(theta[0])-y) < 0.1 && math.Abs(float64(theta[1])-y) < 0.1 {
			correct++
		}
	}
	return correct
}

// mean trains on records of 1, 2 and 3 at four nodes.
func mean(t *testing.T) Training {
	t.Helper()
	s, err := dpps.Exponential(4)
	if err != nil {
		t.Fatal(err)
	}
	task := means{test: []float64{2, 9}}
	for i := range 240 {
		task.train = append(task.train, float64(1+i%3))
	}
	return Training{Task: task, Sequence: s, Shared: 1, Epochs: 20, Batch: 20, LocalRate: 0.2, SharedRate: 0.2,
		Clip:    100,
		PushSum: dpps.Options{Plan: dpps.Plan{Source: dpps.Omniscient}, NoNoise: true}}
}

// Shared or not, parameters get near the mean of the records, by the same rounds for the same seed.
func TestRunLearns(t *testing.T) {
	for shared := 1; shared <= 2; shared++ {
		p := mean(t)
		p.Shared, p.LocalRate = shared, 0.02
		p.SharedRate = 0.02
		p.Epochs = 60
		r, err := p.Run(context.Background(), 7)
		if err != nil {
			t.Fatal(err)
		}
		again, err := p.Run(context.Background(), 7)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Rounds) != 60*3 || r.Diverged || r.Clipped != 0 || r.MeanReal() <= 0 ||
			r.MeanReal() != again.MeanReal() {
			t.Errorf("%d shared layers: %d rounds, %+v", shared, len(r.Rounds), r)
		}
		if shared == 2 && r.Accuracy != 0.5 || r.Accuracy != again.Accuracy {
			t.Errorf("%d shared layers: accuracy %g, again %g", shared, r.Accuracy, again.Accuracy)
		}
	}
}

// One round of one batch of all records, shared by all and averaged exactly, is a step of gradient descent that is
// clipped at every node: from (0, 0) by the rate times the clipping norm.
func TestOneRoundIsAStep(t *testing.T) {
	p := mean(t)
	p.Shared, p.Epochs, p.Batch, p.SharedRate, p.Clip, p.PushSum.Sync = 2, 1, 60, 1, 4, 1
	p.Task = means{train: p.Task.(means).train, test: []float64{2}}
	r, err := p.Run(context.Background(), 3)
	if err != nil {
		t.Fatal(err)
	}
	// 60 records of mean m have the gradient (-m, -m), of norm 2m: clipped to 4 if m > 2. All nodes' means average 2.
	if len(r.Rounds) != 1 || r.Clipped <= 0 || r.Clipped >= 1 || r.Accuracy != 1 || r.Rounds[0].Real > 2*4+1e-9 {
		t.Errorf("%+v", r)
	}
}

func TestRunRefuses(t *testing.T) {
	for field, change := range map[string]func(p *Training){
		"Shared": func(p *Training) { p.Shared = 0 }, "SharedRate": func(p *Training) { p.SharedRate = math.NaN() },
		"LocalRate": func(p *Training) { p.LocalRate = math.Inf(1) }, "Clip": func(p *Training) { p.Clip = 0 },
		"Epochs": func(p *Training) { p.Epochs = 0 }, "Batch": func(p *Training) { p.Batch = 1000 },
		"Task.Tests": func(p *Training) { p.Task = means{train: p.Task.(means).train} },
		"B":          func(p *Training) { p.PushSum = dpps.Options{Plan: dpps.Plan{Source: dpps.Omniscient, NoiseRate: 1}} },
	} {
		p := mean(t)
		change(&p)
		var a *fault.Argument
		if _, err := p.Run(context.Background(), 1); !errors.As(err, &a) || a.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	p := mean(t)
	p.Shared = 3
	if _, err := p.Run(context.Background(), 1); err == nil {
		t.Error("three shared layers of two")
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := mean(t).Run(cancelled, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
