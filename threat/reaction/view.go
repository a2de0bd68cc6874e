package reaction

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
	"mafalda/internal/lists"
)

// Look returns the matrices of a step of n nodes for a coalition of attackers, and the hidden nodes in the order of the
// rows of Mix. Each of the rounds of gossip in the step has a matrix (row v: whose messages v averages); without any
// models stay. With sums attackers see only the weighted sums Σ_w W[a,w] msg_w, as under secure summation, and not single
// messages of neighbours. Attackers must be nodes, and not all of them.
func Look[M mat.Matrix](n int, rounds []M, attackers []int, sums bool) (step Step, hidden []int) {
	hidden = slices.DeleteFunc(lists.UpTo(n), func(v int) bool { return slices.Contains(attackers, v) })
	m := len(hidden)
	var seen []float64 // rows of all rounds
	for _, w := range rounds {
		mix, now := mat.NewDense(m, m, nil), []float64(nil)
		for i, u := range hidden {
			for j, v := range hidden {
				mix.Set(i, j, w.At(u, v))
			}
		}
		for j, v := range hidden {
			if !sums && slices.ContainsFunc(attackers, func(a int) bool { return w.At(a, v) != 0 }) {
				now = append(now, unitVector(m, j)...)
			}
		}
		for _, a := range attackers {
			for _, v := range hidden {
				if sums {
					now = append(now, w.At(a, v))
				}
			}
		}
		if step.Mix == nil {
			step.Mix, seen = mix, now
			continue
		}
		if now != nil {
			var messages mat.Dense
			dense.Mul(&messages, mat.NewDense(len(now)/m, m, now), step.Mix)
			seen = append(seen, messages.RawMatrix().Data...)
		}
		before := step.Mix
		step.Mix = new(mat.Dense)
		dense.Mul(step.Mix, mix, before)
	}
	if step.Mix == nil {
		step.Mix = mat.NewDense(m, m, nil)
		for i := range m {
			step.Mix.Set(i, i, 1)
		}
	}
	if seen != nil {
		step.Seen = mat.NewDense(len(seen)/m, m, seen)
	}
	return step, hidden
}
