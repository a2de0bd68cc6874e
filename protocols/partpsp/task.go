package partpsp

import "math/rand/v2"

// A Task is a model of layers, and the records that it is trained and tested on, known by their numbers.
// Implementations are immutable.
type Task interface {
	Layers() int                        // of the model
	Prefix(layers int) int              // number of parameters of the first layers
	Init(theta []float32, r *rand.Rand) // the parameters to start from: Prefix(Layers()) of them
	Records() int                       // to train on
	Tests() int                         // records to test with
	NewLearner() Learner                // scratch of one goroutine
}

// A Learner computes with parameters theta. It is for one goroutine.
type Learner interface {
	Take(records []int)              // the batch that gradients are of
	GradientTo(dst, theta []float32) // sum of the loss's gradients over the batch
	Correct(theta []float32) int     // how many of the tests are answered rightly
}
