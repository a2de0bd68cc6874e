package workload

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mafalda/internal/fault"
	"mafalda/internal/lists"
)

// Weights says how much the squared errors of the steps count. The zero value is 1 for every step. Weights are made by
// ParseWeights, LastSteps and ListedWeights, and do not change.
type Weights struct {
	last int       // number of last steps that count; 0: all
	list []float64 // one weight a step
}

// LastSteps lets the last m steps count, 1 each; 0 means all.
func LastSteps(m int) Weights { return Weights{last: m} }

// ListedWeights are given weights, one a step.
func ListedWeights(weights []float64) Weights { return Weights{list: slices.Clone(weights)} }

// ParseWeights makes weights of their name: all, last, or last:m.
func ParseWeights(text string) (Weights, error) {
	switch m, found := strings.CutPrefix(text, "last:"); {
	case text == "all":
		return Weights{}, nil
	case text == "last":
		return LastSteps(1), nil
	case found:
		if v, err := strconv.Atoi(m); err == nil && v > 0 {
			return LastSteps(v), nil
		}
	}
	return Weights{}, fault.New("Weights", text, "is none of all, last, last:m")
}

// String is the inverse of ParseWeights, except for listed weights, of which it says the number.
func (w Weights) String() string {
	switch {
	case w.list != nil:
		return fmt.Sprintf("%d listed weights", len(w.list))
	case w.last == 1:
		return "last"
	case w.last != 0:
		return fmt.Sprintf("last:%d", w.last)
	}
	return "all"
}

// allOne reports whether every step has the weight 1.
func (w Weights) allOne() bool {
	if w.list == nil {
		return w.last == 0
	}
	return len(w.list) > 0 && !slices.ContainsFunc(w.list, func(v float64) bool { return v != 1 })
}

// Vector returns the weights of T = steps. The errors are fault.Arguments of AverageLast and Weights: fewer steps than
// are to count, weights that are negative, not finite or not T, and a last weight of 0: noise that is added when
// nothing counts any more would cost nothing.
func (w Weights) Vector(steps int) ([]float64, error) {
	if w.list == nil && (w.last < 0 || w.last > steps) {
		return nil, fault.New("AverageLast", w.last, "must be at least 1 and at most the %d steps", steps)
	}
	if w.list == nil {
		return lists.Make(steps, func(t int) float64 { return w.weightAt(t, steps) }), nil
	}
	if err := checkListed("Weights", "weights", w.list, steps); err != nil {
		return nil, err
	}
	if w.list[steps-1] == 0 {
		return nil, fault.New("Weights", nil, "that of the last step is 0: its noise would cost nothing")
	}
	return w.list, nil
}

// weightAt returns the weight of a step. Listed weights are for one number of steps; for other numbers, which searches look
// at, the list weighs the last steps, and steps before it have weight 0.
func (w Weights) weightAt(t, steps int) float64 {
	switch at := len(w.list) - (steps - t); {
	case w.list != nil && at >= 0:
		return w.list[at]
	case w.list == nil && (w.last == 0 || t >= steps-w.last):
		return 1
	}
	return 0
}

// counts returns, for every step, the sum of the weights from it on.
func (w Weights) counts(steps int) []float64 {
	counts := make([]float64, steps)
	var sum float64
	for t := steps - 1; t >= 0; t-- {
		sum += w.weightAt(t, steps)
		counts[t] = sum
	}
	return counts
}
