package plan

import (
	"math"

	"mafalda/internal/fault"
)

// Budget is how much memory a node has for the noise that it keeps from step to step, and for a model of which size.
type Budget struct {
	Memory  float64 // bytes, above 0: a nil Budget is without a limit, and a node that keeps nothing has independent noise
	Dim     int     // parameters of the model
	Float32 bool    // a node keeps numbers of four bytes, not of eight
}

// NumberBytes returns how many bytes a number takes.
func (b Budget) NumberBytes() int {
	if b.Float32 {
		return 4
	}
	return 8
}

// Bytes returns the bytes that a node needs to keep this many numbers for each parameter of the model.
func (b Budget) Bytes(numbers int) float64 {
	return float64(numbers) * float64(b.Dim) * float64(b.NumberBytes())
}

// Floats returns how many numbers a node can keep for each parameter of its model: what strategy.NodeCost counts.
func (b Budget) Floats() int {
	numbers := math.Floor(b.Memory / b.Bytes(1))
	for numbers > 0 && b.Bytes(int(math.Min(numbers, 1<<40))) > b.Memory {
		numbers-- // the division was rounded up
	}
	return int(math.Min(numbers, 1<<40))
}

// Check rejects budgets without memory or parameters.
func (b Budget) Check() error {
	switch {
	case !(b.Memory > 0) || math.IsInf(b.Memory, 1):
		return fault.New("Memory", nil,
			"must be positive and finite; noise of which a node keeps nothing is independent: [Class] banded:bandwidth=1")
	case b.Dim < 1:
		return fault.New("Dim", b.Dim, "must be at least 1: how many parameters has the model?")
	}
	return nil
}

// checkDim is Check where no limit, a Memory of +Inf, is a budget as well.
func (b Budget) checkDim() error {
	if math.IsInf(b.Memory, 1) {
		b.Memory = 1
	}
	return b.Check()
}
