package reaction

import (
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/fault"
)

// System is what an attacker sees of a run: T steps of m hidden nodes, those that do not attack. Coalitions, secure
// sums, several rounds of gossip, and networks that change are different matrices (Look makes them).
type System struct {
	Nodes int    // m
	Steps []Step // T
}

// Step is one step of all hidden nodes,
//
//	msg = φ(x) + noise,     seen: Seen·msg,     x' = Mix·msg + what the attacker knows.
//
// Steps that are the same should hold the same pointers: work is shared then.
type Step struct {
	Mix  *mat.Dense // W, m×m; nil stands for zeros, models that forget every message
	Seen *mat.Dense // H, p×m; nil: nothing is seen. Rows that depend on others are recognized.
	Rule Rule       // what a node makes of its numbers, its gradient and its noise; nil is Descent with rate 1
}

// Rule says what every node makes, before it sends anything, of the numbers it keeps (its model first), of its gradient
// g and of fresh white noise z: a row of coefficients (kept numbers, g, z) for each kept number. All signs are such
// that gradients are added. The first number is sent and mixed with others', the rest stay.
//
// A class (ρ, κ) is one of the gradient: |Δg − (ρ−1)Δx| ≤ κ|Δx|. With the rule (1, 1, 1) of Descent it is the class of
// the step x + g.
type Rule [][]float64

// Descent returns the rule of a model that becomes keep·x + rate·(g + z): keep is 1 − rate·decay.
func Descent(rate, keep float64) Rule { return Rule{{keep, rate, rate}} }

// plain is the rule of models that are divided by their rate.
var plain = Descent(1, 1)

// size returns how many numbers a node keeps.
func (r Rule) size() int { return len(r) }

// row returns the coefficients of kept numbers, gradient and noise in number p after the step.
func (r Rule) row(p int) (kept []float64, gradient, noise float64) {
	z := len(r)
	return r[p][:z], r[p][z], r[p][z+1]
}

func (r Rule) check() error {
	for p, row := range r {
		if len(row) != len(r)+2 {
			return fault.New("Rule", nil, "has %d coefficients for number %d, not %d", len(row), p, len(r)+2)
		}
		for _, v := range row {
			if !finite(v) {
				return fault.New("Rule", nil, "has a coefficient that is not finite")
			}
		}
	}
	if _, _, noise := r.row(0); noise == 0 {
		return fault.New("Rule", nil, "adds no fresh noise to what is sent")
	}
	return nil
}

// check returns an error unless all matrices fit.
func (s *System) check() error {
	if s.Nodes < 1 || len(s.Steps) == 0 {
		return fault.New("System", nil, "has %d hidden nodes and %d steps", s.Nodes, len(s.Steps))
	}
	size := s.rule(0).size()
	if size == 0 {
		return fault.New("Rule", nil, "keeps no model")
	}
	seen := map[*mat.Dense]bool{}
	for t, step := range s.Steps {
		if s.rule(t).size() != size {
			return fault.New("Rule", nil, "keeps %d numbers in step %d, %d in step 0", s.rule(t).size(), t, size)
		}
		if err := s.rule(t).check(); err != nil {
			return err
		}
		for _, m := range []*mat.Dense{step.Mix, step.Seen} {
			if m == nil || seen[m] {
				continue
			}
			seen[m] = true
			rows, cols := m.Dims()
			if cols != s.Nodes || m == step.Mix && rows != s.Nodes {
				return fault.New("System", nil, "has a %d×%d matrix for %d hidden nodes in step %d", rows, cols,
					s.Nodes, t)
			}
			for i := range rows {
				for _, v := range m.RawRowView(i) {
					if !finite(v) {
						return fault.New("System", nil, "has a matrix that is not finite in step %d", t)
					}
				}
			}
		}
	}
	return nil
}

// rule returns the rule of a step.
func (s *System) rule(t int) Rule {
	if r := s.Steps[t].Rule; r != nil {
		return r
	}
	return plain
}
