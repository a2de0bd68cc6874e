package simulate

import (
	"cmp"
	"fmt"
	"math"
	"runtime"

	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/participation"
	"mafalda/workload"
)

// Window is the number of steps at the end of a run whose losses are averaged, unless fewer count.
const Window = 50

// Config says what is trained where. The zero values of the numbers below Schema ask for the defaults named here.
type Config struct {
	Task   Task
	Gossip *graph.CSR           // n×n, row-stochastic
	Schema participation.Schema // T steps of the run, and how often records may take part

	// Sampling draws the batches of every step, of all records of a node. Then Schema says how many steps there are, no
	// more, and the sampler's schema is what records must keep to. nil: the node's records are cut into Batches.
	Sampling participation.Sampling

	// Workload is what is trained: the optimizer of the nodes, networks that change, steps that nodes miss. Rates are
	// multiples of LearningRate, and decay is times that, too. Its Kind and Weights say which errors count where they
	// are predicted, and in the optimum of the network. The zero value is plain gradient descent.
	Workload workload.Spec

	Batches      int     // number of batches of each node, visited in turn; 0 means the schema's separation b
	LearningRate float64 // η; 0 means the task's
	Clip         float64 // Δ; 0 means 1
	TestRows     int     // number of first rows of the test data that losses are measured on; 0 means 256, negative all
	Every        int     // steps between losses before the last Window steps, where every step has one; 0 means 20
	Workers      int     // goroutines; 0 means GOMAXPROCS. The result does not depend on it

	// Validation keeps the first half of the test records apart, for Result.Validation; losses are of the others.
	Validation bool
}

// withDefaults returns the configuration with its defaults filled in, checked.
func (c Config) withDefaults() (Config, error) {
	c, err := c.filled()
	if err != nil || c.Sampling != nil {
		return c, err
	}
	return c, participation.CheckCycle(c.Schema, c.Batches)
}

// filled is withDefaults without looking at who takes part when, which takes T steps.
func (c Config) filled() (Config, error) {
	if c.Task.Model == nil || c.Task.Split == nil || c.Gossip == nil || c.Schema == nil {
		return c, fmt.Errorf("%w: a run needs a task, a gossip matrix and a schema", ErrData)
	}
	c.Batches, c.Workers = cmp.Or(c.Batches, c.Schema.Separation()), cmp.Or(c.Workers, runtime.GOMAXPROCS(0))
	c.TestRows, c.Every = cmp.Or(c.TestRows, 256), cmp.Or(c.Every, 20)
	c.LearningRate, c.Clip = cmp.Or(c.LearningRate, c.Task.LearningRate), cmp.Or(c.Clip, 1)
	if c.Every < 0 || c.Workers < 0 || c.Batches < 0 {
		return c, fmt.Errorf("%w: %d batches, losses every %d steps and %d workers: none may be negative", ErrData,
			c.Batches, c.Every, c.Workers)
	}
	for i, v := range []float64{c.LearningRate, c.Clip} {
		if !(v > 0) || math.IsInf(v, 1) {
			name := []string{"learning rate", "clipping norm"}[i]
			return c, fmt.Errorf("%w: %s %v must be positive and finite", ErrData, name, v)
		}
	}
	if r, cols := c.Gossip.Dims(); r != cols {
		return c, fmt.Errorf("%w: the gossip matrix is %d×%d", ErrData, r, cols)
	}
	return c, c.checkWorkload()
}

// Window returns over how many steps at the end losses are averaged: the last ones that count, at most Window.
func (c Config) Window() int {
	weights, err := c.Workload.Weights.Vector(c.Schema.Steps())
	n := 0
	for err == nil && n < min(Window, len(weights)) && weights[len(weights)-1-n] > 0 {
		n++
	}
	return n
}

// trained returns the workload with the decay of the learning rate: models err by as much, times LearningRate.
func (c Config) trained() workload.Spec { return c.Workload.At(c.LearningRate) }

// checkWorkload rejects a workload that does not fit the run. It fails as Spec.Check and Spec.Networks do, and with a
// fault.Argument about Workload for the centralized one.
func (c Config) checkWorkload() error {
	if c.Workload.Kind == workload.Prefix {
		return fault.New("Workload", workload.Prefix, "has no network to train on")
	}
	if err := c.trained().Check(c.Schema.Steps()); err != nil {
		return err
	}
	_, err := c.Workload.Networks(c.Gossip, 0)
	return err
}
