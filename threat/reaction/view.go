package reaction

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/fault"
)

// View says what attackers see of messages.
type View struct {
	Sums   bool // secure summation: only the weighted sums Σ_w W[a,w] msg_w, not single messages of neighbours
	Rounds int  // rounds of gossip in a step; 0 means 1
}

// Look returns the matrices of a step on the gossip matrix w (row v: whose messages v averages) for a coalition of
// attackers, and the hidden nodes in the order of the rows of Mix. The error is a fault.Argument for attackers that are
// not nodes, or if nobody else is left.
func Look(w mat.Matrix, attackers []int, view View) (step Step, hidden []int, err error) {
	n, cols := w.Dims()
	if n != cols {
		return Step{}, nil, fault.New("w", nil, "is %d×%d, not square", n, cols)
	}
	for _, a := range attackers {
		if a < 0 || a >= n {
			return Step{}, nil, fault.New("attackers", a, "is not one of %d nodes", n)
		}
	}
	for v := range n {
		if !slices.Contains(attackers, v) {
			hidden = append(hidden, v)
		}
	}
	m := len(hidden)
	if m == 0 {
		return Step{}, nil, fault.New("attackers", nil, "are all nodes")
	}
	mix := mat.NewDense(m, m, nil)
	for i, u := range hidden {
		for j, v := range hidden {
			mix.Set(i, j, w.At(u, v))
		}
	}
	var first [][]float64 // what is seen of one round's messages
	if view.Sums {
		for _, a := range attackers {
			row := make([]float64, m)
			for j, v := range hidden {
				row[j] = w.At(a, v)
			}
			first = append(first, row)
		}
	} else {
		for j, v := range hidden {
			if slices.ContainsFunc(attackers, func(a int) bool { return w.At(a, v) != 0 }) {
				row := make([]float64, m)
				row[j] = 1
				first = append(first, row)
			}
		}
	}
	step.Mix = mat.DenseCopyOf(mix)
	if len(first) == 0 {
		return step, hidden, nil
	}
	rounds := max(1, view.Rounds)
	now := mat.NewDense(len(first), m, slices.Concat(first...))
	seen := mat.DenseCopyOf(now)
	for range rounds - 1 {
		var next, stacked, power mat.Dense
		next.Mul(now, mix)
		stacked.Stack(seen, &next)
		power.Mul(mix, step.Mix)
		now, seen, step.Mix = &next, &stacked, &power
	}
	step.Seen = seen
	return step, hidden, nil
}
