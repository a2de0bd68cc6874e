package benchmarks

import (
	"gonum.org/v1/gonum/mat"

	"mafalda/workload"
)

// lastSteps are the errors of single steps, with those of several counted in the last one's place: factorize.Last of
// them is certified for these steps together, whose Gram matrix is singular where the noise of others costs next to nothing.
type lastSteps struct {
	kernel *workload.Kernel // with all steps counted alike
	counts []float64        // how much the error of every step counts in the last one's place
}

// Steps returns T.
func (l *lastSteps) Steps() int { return l.kernel.Steps() }

// StepErrors returns the errors of the kernel, but in the place of the last one what counts.
func (l *lastSteps) StepErrors(y mat.Symmetric) []float64 {
	errors := l.kernel.StepErrors(y)
	var sum float64
	for t, e := range errors {
		sum += l.counts[t] * e
	}
	errors[len(errors)-1] = sum
	return errors
}

// WeightedGram returns the Gram matrix of weighted errors.
func (l *lastSteps) WeightedGram(weights []float64) *mat.SymDense {
	spread := make([]float64, len(weights))
	last := len(weights) - 1
	copy(spread, weights[:last])
	for t, c := range l.counts {
		spread[t] += weights[last] * c
	}
	return l.kernel.WeightedGram(spread)
}
