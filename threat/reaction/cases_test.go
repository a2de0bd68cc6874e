package reaction

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mafalda/internal/fault"

	"gonum.org/v1/gonum/mat"
)

// uniform returns the gossip matrix in which every node averages over itself and its neighbours.
func uniform(n int, edges ...[2]int) *mat.Dense {
	w := mat.NewDense(n, n, nil)
	for v := range n {
		w.Set(v, v, 1)
	}
	for _, e := range edges {
		w.Set(e[0], e[1], 1)
		w.Set(e[1], e[0], 1)
	}
	for v := range n {
		row := w.RawRowView(v)
		scaled(row, 1/sumOf(row))
	}
	return w
}

func sumOf(x []float64) (sum float64) {
	for _, v := range x {
		sum += v
	}
	return sum
}

// pathTo returns the system of the last node of a path as the attacker.
func pathTo(t *testing.T, nodes, steps int, view View) *System {
	t.Helper()
	var edges [][2]int
	for v := range nodes - 1 {
		edges = append(edges, [2]int{v, v + 1})
	}
	return systemOf(t, uniform(nodes, edges...), []int{nodes - 1}, steps, view)
}

// View says what attackers see of messages.
type View struct {
	Sums   bool // secure summation
	Rounds int  // rounds of gossip in a step; 0 means 1
}

func systemOf(t *testing.T, w *mat.Dense, attackers []int, steps int, view View) *System {
	t.Helper()
	n, _ := w.Dims()
	step, hidden := Look(n, slices.Repeat([]*mat.Dense{w}, max(1, view.Rounds)), attackers, view.Sums)
	s := &System{Nodes: len(hidden)}
	for range steps {
		s.Steps = append(s.Steps, step)
	}
	return s
}

// randomNetwork returns a directed row-stochastic matrix with every node on its own diagonal; symmetric ones are as
// likely.
func randomNetwork(r *rand.Rand, n int) *mat.Dense {
	w := mat.NewDense(n, n, nil)
	directed := r.IntN(2) == 0
	for v := range n {
		w.Set(v, v, 0.2+r.Float64())
		for u := range v {
			if r.Float64() < 0.5 {
				w.Set(v, u, r.Float64())
			}
			if r.Float64() < 0.5 && directed || !directed && w.At(v, u) > 0 {
				w.Set(u, v, 0.1+r.Float64())
			}
		}
	}
	for v := range n {
		row := w.RawRowView(v)
		scaled(row, 1/sumOf(row))
	}
	return w
}

// randomClass returns a class of any row of the table.
func randomClass(r *rand.Rand) Class {
	x := 2 * r.Float64()
	switch r.IntN(6) {
	case 0:
		return Class{1 - x/2, x / 2}
	case 1:
		return Class{1, x / 2}
	case 2:
		return Class{1 - 0.375*x, 0.375 * math.Sqrt(3) * x}
	case 3:
		return Class{1 - x/2 - 0.05, x/2 - min(x/2, 0.05)}
	case 4:
		return Class{0, 0.5 + x/2}
	}
	return Class{1, 0}
}

// randomCase returns a system of up to 5 hidden nodes and 4 steps with any of: networks that change, sums, coalitions,
// rounds of gossip, rates, decay, momentum; and a pattern of up to 3 steps.
func randomCase(t *testing.T, r *rand.Rand) (s *System, pattern []int) {
	n, steps := 3+r.IntN(3), 1+r.IntN(4)
	attackers := []int{r.IntN(n)}
	if n > 3 && r.IntN(3) == 0 {
		attackers = append(attackers, (attackers[0]+1)%n)
	}
	view := View{Sums: r.IntN(2) == 0, Rounds: 1}
	if r.IntN(4) == 0 {
		view.Rounds = 2
	}
	s = systemOf(t, randomNetwork(r, n), attackers, steps, view)
	changing, rates, momentum := r.IntN(3) == 0, r.IntN(3) == 0, r.IntN(4) == 0
	for i := range s.Steps {
		if changing {
			s.Steps[i] = systemOf(t, randomNetwork(r, n), attackers, 1, view).Steps[0]
		}
		rate, keep := 1.0, 1.0
		if rates {
			rate, keep = 0.3+r.Float64(), 1-0.1*r.Float64()
		}
		switch {
		case momentum:
			s.Steps[i].Rule = momentumRule(0.5, rate, keep)
		case rates:
			s.Steps[i].Rule = Descent(rate, keep)
		}
	}
	for at := range steps {
		if r.IntN(2) == 0 && len(pattern) < 3 || at == steps-1 && pattern == nil {
			pattern = append(pattern, at)
		}
	}
	return s, pattern
}

// explicitM is the definition for models of dimension one: M of nodes that answer linearly, answers[t][v] times their
// model, for a record's inputs in the steps of a pattern.
func explicitM(t *testing.T, s *System, answers [][]float64, node int, pattern []int) *mat.SymDense {
	t.Helper()
	return explicitView(t, s, 1, func(at, v int, x [][]float64) [][]float64 {
		out := make([]float64, len(x[0]))
		add(out, answers[at][v], x[0])
		return [][]float64{out}
	}, node, pattern)
}

// explicitView is the definition: everything that is seen as a linear function of the record's inputs and of all noise,
// and M = Aᵀ(BBᵀ)⁺A, for models of d numbers and nodes whose answers are linear.
func explicitView(t *testing.T, s *System, d int, answer func(at, v int, x [][]float64) [][]float64, node int,
	pattern []int) *mat.SymDense {
	t.Helper()
	m, steps, size := s.Nodes, len(s.Steps), s.rule(0).size()
	inputs := len(pattern) * d
	width := inputs + m*steps*d // inputs, then noise
	zeros := func() [][]float64 {
		out := make([][]float64, d)
		for c := range out {
			out[c] = make([]float64, width)
		}
		return out
	}
	addTo := func(y [][]float64, by float64, x [][]float64) {
		for c := range y {
			add(y[c], by, x[c])
		}
	}
	state := make([][][][]float64, size) // [number][node][coordinate]
	for p := range state {
		state[p] = make([][][]float64, m)
		for v := range m {
			state[p][v] = zeros()
		}
	}
	var seen [][]float64
	for at, step := range s.Steps {
		rule := s.rule(at)
		next := make([][][][]float64, size)
		for p := range next {
			next[p] = make([][][]float64, m)
		}
		for v := range m {
			gradient := answer(at, v, state[0][v])
			addTo(gradient, -1, state[0][v])
			for i, in := range pattern {
				if in == at && v == node {
					for c := range d {
						gradient[c][i*d+c]++
					}
				}
			}
			for p := range size {
				kept, g, noise := rule.row(p)
				next[p][v] = zeros()
				for l, x := range kept {
					addTo(next[p][v], x, state[l][v])
				}
				addTo(next[p][v], g, gradient)
				for c := range d {
					next[p][v][c][inputs+(at*m+v)*d+c] += noise
				}
			}
		}
		combine := func(w *mat.Dense) [][][]float64 {
			rows, _ := w.Dims()
			out := make([][][]float64, rows)
			for i := range out {
				out[i] = zeros()
				for v := range m {
					addTo(out[i], w.At(i, v), next[0][v])
				}
			}
			return out
		}
		if step.Seen != nil {
			for _, row := range combine(step.Seen) {
				seen = append(seen, row...)
			}
		}
		state = next
		if step.Mix != nil {
			state = append([][][][]float64{combine(step.Mix)}, next[1:]...)
		}
	}
	out := mat.NewSymDense(inputs, nil)
	if len(seen) == 0 {
		return out
	}
	a, b := mat.NewDense(len(seen), inputs, nil), mat.NewDense(len(seen), width-inputs, nil)
	for i, row := range seen {
		a.SetRow(i, row[:inputs])
		b.SetRow(i, row[inputs:])
	}
	var svd mat.SVD
	if !svd.Factorize(b, mat.SVDThinU) {
		t.Fatal("no singular values")
	}
	values := svd.Values(nil)
	var vectors, rotated mat.Dense
	svd.UTo(&vectors)
	rotated.Mul(vectors.T(), a)
	for i, value := range values {
		if value > 1e-12*values[0] {
			out.SymRankOne(out, 1/(value*value), rotated.RowView(i))
		}
	}
	return out
}

// NoReaction returns the class of nodes whose gradients do not depend on their models, as in averaging and for fixed
// streams of gradients: ρ = 1, κ = 0. For a victim that takes part more than once the record's own gradient may still
// depend on its node's model.
func NoReaction() Class { return Class{Rho: 1} }

// Linear returns the class of one linear answer, φ(x) = answer·x and what does not depend on x: ρ = answer, κ = 0.
// The error is a fault.Argument for what is not finite.
func Linear(answer float64) (Class, error) {
	if !finite(answer) {
		return Class{}, fault.New("answer", answer, "is not a number")
	}
	return Class{Rho: answer}, nil
}
