package reaction

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
	"mafalda/internal/gemm"
	"mafalda/internal/lists"
	"mafalda/participation"
)

// localDP is what every training leaks at most, however nodes react: in each step the part of a node's message that
// reaches an attacker at all is hidden by its noise alone.
//
// With G the rows of W of nodes that matter later and the rows of H, differences in the null space of G may go on, as
// they will never be seen, and the part [G⁺G]_uu of a record is paid for. A node matters in a step if a column of G
// holds it. What nodes keep beside their models would remember such differences until networks change: all is paid for
// then.
type localDP struct {
	share [][]float64   // [step][node]: [G⁺G]_uu, 0 for nodes that do not matter any more
	gram  *mat.SymDense // CᵀC of what a node does by itself; nil for the unit matrix
}

func localOf(s *System) localDP { return localDP{share: sharesOf(s), gram: gramOf(s)} }

// sharesOf returns [G⁺G]_uu of all steps, exact where nodes keep a model alone.
func sharesOf(s *System) [][]float64 {
	steps := len(s.Steps)
	out := make([][]float64, steps)
	type key struct {
		mix, seen *mat.Dense
		later     string
	}
	known := map[key][]float64{}
	later := make([]byte, s.Nodes) // 1 for nodes that matter in the next step
	for t := steps - 1; t >= 0; t-- {
		step := s.Steps[t]
		k := key{step.Mix, step.Seen, string(later)}
		if known[k] == nil {
			known[k] = shares(step, later, s.Nodes, s.rule(t).size() == 1)
		}
		out[t] = known[k]
		for v, x := range known[k] {
			if later[v] = 0; x > 0 {
				later[v] = 1
			}
		}
	}
	return out
}

// shares returns [G⁺G]_uu of a step, or, not exact, 1 in the place of what is not 0.
func shares(step Step, later []byte, m int, exact bool) []float64 {
	var g [][]float64
	for v, matters := range later {
		if matters == 1 && step.Mix != nil {
			g = append(g, step.Mix.RawRowView(v))
		}
	}
	if step.Seen != nil {
		rows, _ := step.Seen.Dims()
		for i := range rows {
			g = append(g, step.Seen.RawRowView(i))
		}
	}
	out := make([]float64, m)
	for _, row := range g {
		for v, x := range row {
			if x != 0 {
				out[v] = 1
			}
		}
	}
	if !exact {
		for v, matters := range later {
			if matters == 1 {
				out[v] = 1 // what a node keeps beside its model shows later, even if no node uses its message
			}
		}
		return out
	}
	if len(g) == 0 {
		return out
	}
	tall := max(len(g), m)
	a := make([]float64, tall*m)
	for i, row := range g {
		copy(a[i*m:], row)
	}
	gemm.Triangularize(tall, m, a, m)
	r := make([]float64, m*m)
	for i := range m {
		copy(r[i*m+i:(i+1)*m], a[i*m+i:(i+1)*m])
	}
	vectors := make([]float64, m*m)
	values, ok := dense.Singular(vectors, r, m)
	if !ok {
		return out
	}
	for i, value := range values {
		if value > freeBelow*float64(m)*values[0] {
			continue
		}
		for v, x := range vectors[i*m : (i+1)*m] {
			if out[v] > 0 {
				out[v] = math.Max(1e-300, out[v]-x*x)
			}
		}
	}
	for v, x := range out {
		if x > 0 {
			out[v] = math.Min(1, x+1e-9)
		}
	}
	return out
}

// gramOf returns CᵀC of the white noise that hides a node's gradients if nothing of them may show in any message: with
// C, c_t = Σ_s C[t,s] a_s cancels gradients a. It is nil if that is c = a.
func gramOf(s *System) *mat.SymDense {
	steps, size := len(s.Steps), s.rule(0).size()
	c := mat.NewDense(steps, steps, nil)
	same := true
	for from := range steps {
		kept := make([]float64, size)
		for t := from; t < steps; t++ {
			rule := s.rule(t)
			gradient := 0.0
			if t == from {
				gradient = 1
			}
			now := make([]float64, size)
			for p := range now {
				coefficients, g, _ := rule.row(p)
				now[p] = dot(coefficients, kept) + g*gradient
			}
			_, _, noise := rule.row(0)
			shift := now[0] / noise
			for p := range now {
				_, _, z := rule.row(p)
				now[p] -= z * shift
			}
			now[0] = 0
			kept = now
			c.Set(t, from, shift)
			same = same && shift == gradient
		}
	}
	if same {
		return nil
	}
	var x mat.Dense
	x.Mul(c.T(), c)
	return dense.NewSym(steps, func(i, j int) float64 { return x.At(j, i) })
}

// pattern returns the squared sensitivity of one pattern.
func (l localDP) pattern(node int, pattern []int) float64 {
	sum := 0.0
	for _, s := range pattern {
		for _, t := range pattern {
			sum += l.entry(node, s, t)
		}
	}
	return sum
}

// entry returns what the participations s and t cost together, at most.
func (l localDP) entry(node, s, t int) float64 {
	if l.gram == nil {
		if s != t {
			return 0
		}
		return l.share[t][node]
	}
	if l.share[s][node] == 0 || l.share[t][node] == 0 {
		return 0
	}
	return math.Abs(l.gram.At(s, t)) * (1 + 1e-12)
}

// squared returns the squared sensitivity of all patterns of a victim.
func (l localDP) squared(v Victim) float64 {
	patterns, listed := v.patterns()
	if listed {
		worst := 0.0
		for _, p := range patterns {
			worst = math.Max(worst, l.pattern(v.Node, p))
		}
		return worst
	}
	x := dense.NewSym(v.Schema.Steps(), func(t, s int) float64 { return l.entry(v.Node, s, t) })
	sens, err := v.Schema.Sensitivity(x)
	if err != nil {
		return math.Inf(1)
	}
	return sens.Squared
}

// all returns squared of all nodes. Nodes that are as near are looked at once.
func (l localDP) all(schema participation.Schema, nodes int) []float64 {
	known := map[string]float64{}
	return lists.Make(nodes, func(v int) float64 {
		key := fmt.Sprint(lists.Map(l.share, func(share []float64) float64 { return share[v] }))
		if _, there := known[key]; !there {
			known[key] = l.squared(Victim{Node: v, Schema: schema})
		}
		return known[key]
	})
}
