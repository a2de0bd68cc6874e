package partpsp_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"mafalda/protocols/dpps"
	"mafalda/protocols/partpsp"
)

// sides is a model of two layers of one parameter each: the first is to be the mean of the records, the second its opposite. It
// passes its only test if both are right within a half.
type sides struct{ records []float32 }

func (sides) Layers() int                        { return 2 }
func (sides) Prefix(layers int) int              { return layers }
func (sides) Init(theta []float32, _ *rand.Rand) { clear(theta) }
func (s sides) Records() int                     { return len(s.records) }
func (sides) Tests() int                         { return 1 }
func (s sides) NewLearner() partpsp.Learner      { return &learner{sides: s} }

type learner struct {
	sides
	batch []int
}

func (l *learner) Take(records []int) { l.batch = records }

func (l *learner) GradientTo(dst, theta []float32) {
	clear(dst)
	for _, i := range l.batch {
		dst[0] += theta[0] - l.records[i]
		dst[1] += theta[1] + l.records[i]
	}
}

func (l *learner) Correct(theta []float32) int {
	if d, e := theta[0]-2, theta[1]+2; d*d < 0.25 && e*e < 0.25 {
		return 1
	}
	return 0
}

// Four nodes train together, and share the first layer only.
func ExampleTraining() {
	sequence, err := dpps.Exponential(4)
	if err != nil {
		log.Fatal(err)
	}
	task := sides{records: make([]float32, 240)}
	for i := range task.records {
		task.records[i] = float32(1 + i%3)
	}
	t := partpsp.Training{Task: task, Sequence: sequence, Shared: 1, Epochs: 60, Batch: 20, LocalRate: 0.02, SharedRate: 0.02,
		Clip: 100, PushSum: dpps.Options{Plan: dpps.Plan{Source: dpps.Omniscient, B: 2, NoiseRate: 0.002}}}
	r, err := t.Run(context.Background(), 7)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d rounds of (%.0f, 0)-DP each: %.0f %% of the nodes' models are right\n", len(r.Rounds), t.PushSum.Epsilon(),
		100*r.Accuracy)
	// Output:
	// 180 rounds of (1000, 0)-DP each: 100 % of the nodes' models are right
}
