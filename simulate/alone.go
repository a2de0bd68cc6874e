package simulate

import "mafalda/workload"

// aloneColumns is how many parameters' noise is followed: all have the same law, and few cost next to nothing.
const aloneColumns = 16

// alone is the noise of a run without gradients: the recursion of the run with the same rows of noise, sent in the same
// steps over the same networks, from models of 0. What it makes of the models is what a Gram matrix predicts. The
// gradients of a run depend on the models and answer to the noise in their own way, which no Gram matrix knows.
type alone struct {
	*trainer
	state   *workload.State[float64]
	columns int
	scales  []float64 // 1 over the standard deviation of every node's Z; times its part, where nodes have levels of their own
	rows    []float64 // n×columns
	weights []float64 // weights of the steps in the error
	at      int
	sum     float64
}

func newAlone(t *trainer, stds []float64) (*alone, error) {
	steps := t.Schema.Steps()
	a := &alone{trainer: t, columns: min(aloneColumns, t.size)}
	var err error
	if a.weights, err = t.Workload.Weights.Vector(steps); err != nil {
		return nil, err
	}
	a.state, err = workload.NewState[float64](t.Workload, steps, t.nodes, a.columns, t.LearningRate)
	for u, std := range stds {
		scale := 1 / std
		if c := t.noise.Correlation; c.shared == nil {
			scale *= c.level(u).part
		}
		a.scales = append(a.scales, scale)
	}
	a.rows = make([]float64, t.nodes*a.columns)
	return a, err
}

// step goes on by a step, after the step of the run.
func (a *alone) step(networks *workload.Networks) {
	if a == nil {
		return
	}
	for u := range a.nodes {
		to := a.rows[u*a.columns : (u+1)*a.columns]
		for i, v := range a.row(u, a.at)[:a.columns] {
			to[i] = a.scales[u] * float64(v)
		}
	}
	a.state.Step(a.rows, networks, func(models []float64) {
		weight, sum := a.weights[a.at], 0.0
		if weight == 0 {
			return
		}
		for _, v := range models {
			sum += v * v
		}
		a.sum += weight * sum
	})
	a.at++
}

// result returns the squared error of a parameter, summed over steps and nodes, for Z of standard deviation one and
// a learning rate of one; nil if it is not finite, or the run ended early.
func (a *alone) result() *float64 {
	if a.at < a.Schema.Steps() {
		return nil
	}
	return finite(a.sum / float64(a.columns) / (a.LearningRate * a.LearningRate))
}
