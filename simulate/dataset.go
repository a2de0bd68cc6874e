package simulate

// Dataset holds examples, row by row.
type Dataset struct {
	Features int
	Inputs   []float32 // Len()×Features
	Targets  []float32 // Len(): a value, or the number of a class
}

// Len returns the number of examples.
func (d Dataset) Len() int { return len(d.Targets) }

// Slice returns the examples from ≤ i < to. It shares storage with d.
func (d Dataset) Slice(from, to int) Dataset {
	return Dataset{d.Features, d.Inputs[from*d.Features : to*d.Features], d.Targets[from:to]}
}

// Pick returns a copy of the examples order[0], order[1], ….
func (d Dataset) Pick(order []int) Dataset {
	picked := Dataset{d.Features, make([]float32, 0, len(order)*d.Features), make([]float32, len(order))}
	for i, at := range order {
		picked.Inputs = append(picked.Inputs, d.Slice(at, at+1).Inputs...)
		picked.Targets[i] = d.Targets[at]
	}
	return picked
}

// A Task is data and a model to be trained on them.
type Task struct {
	Name         string
	Model        *Perceptron
	LearningRate float64                                 // a good one
	Data         string                                  // stands for the data in a Study; empty: their hash does
	Split        func(seed uint64) (train, test Dataset) // may return the same storage twice; it is not written to
}
