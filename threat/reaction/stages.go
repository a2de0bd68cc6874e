package reaction

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/lists"
)

// stages are the gates and answers of all steps; steps that are alike share theirs.
type stages struct {
	m, n    int
	gates   []*gate
	answers []*answer // the answers of the class
	linear  []*answer // the linear answers nearest to none
	rules   []Rule
	classes [][]Class // [step][node]
	unclear bool      // the rank of what is seen cannot be told
}

// constant reports whether all steps are the same. What begins later is then no worse than what begins now: it is the
// same with less time left.
func (all *stages) constant() bool {
	for t := range all.gates {
		if all.gates[t] != all.gates[0] || all.answers[t] != all.answers[0] {
			return false
		}
	}
	return true
}

// stagesOf returns an error for what is no class.
func stagesOf(s *System, reaction Reaction) (*stages, error) {
	all := &stages{m: s.Nodes, n: s.Nodes * s.rule(0).size()}
	type gateKey struct {
		mix, seen *mat.Dense
		rule      *[]float64
	}
	gates := map[gateKey]*gate{}
	for t, step := range s.Steps {
		rule := s.rule(t)
		all.rules = append(all.rules, rule)
		key := gateKey{step.Mix, step.Seen, &rule[0]}
		g := gates[key]
		if g == nil {
			var ok bool
			if g, ok = gateOf(s.Nodes, step, rule); !ok {
				all.unclear = true
				return all, nil
			}
			gates[key] = g
		}
		all.gates = append(all.gates, g)

		classes := make([]Class, s.Nodes)
		for v := range classes {
			classes[v] = reaction(t, v)
			if err := classes[v].check(); err != nil {
				return nil, err
			}
		}
		all.classes = append(all.classes, classes)
		if t > 0 && &rule[0] == &all.rules[t-1][0] && slices.Equal(classes, all.classes[t-1]) {
			all.answers = append(all.answers, all.answers[t-1])
			continue
		}
		centre := lists.Map(classes, func(c Class) float64 { return c.Rho })
		kappa := lists.Map(classes, func(c Class) float64 { return c.Kappa })
		all.answers = append(all.answers, answerOf(s.Nodes, rule, centre, kappa))
	}
	all.linear = all.answering(all.answersOf(func(_ int, c Class) float64 { return c.Nearest() }))
	return all, nil
}

// answersOf returns linear answers that are one of its class each.
func (all *stages) answersOf(one func(node int, c Class) float64) [][]float64 {
	return lists.Map(all.classes, func(classes []Class) []float64 {
		return lists.Make(all.m, func(v int) float64 { return one(v, classes[v]) })
	})
}

// answering returns the answers of nodes that answer linearly, node v by answers[t][v]·x in step t.
func (all *stages) answering(answers [][]float64) []*answer {
	none := make([]float64, all.m)
	out := make([]*answer, len(answers))
	for t, a := range answers {
		if t > 0 && &all.rules[t][0] == &all.rules[t-1][0] && slices.Equal(a, answers[t-1]) {
			out[t] = out[t-1]
			continue
		}
		out[t] = answerOf(all.m, all.rules[t], a, none)
	}
	return out
}
