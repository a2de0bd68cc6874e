package participation

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/lists"
)

// A Schema says which sets of steps (patterns) one record may take part in. Implementations are immutable.
type Schema interface {
	Steps() int          // T
	Participations() int // k, the most steps of one pattern
	Separation() int     // b, the least distance between two steps of one pattern; T if no pattern has two
	Name() string        // the word for it in flags and files
	String() string      // a line for people

	// Together reports whether some pattern holds both of two different steps.
	Together(s, t int) bool

	// Sensitivity is what one record can change, given the T×T strategy Gram matrix x = CᵀC: exact, or a bound. The
	// error cases are NaN or infinite entries and an x of other size. At of x must be safe for several goroutines.
	Sensitivity(x mat.Symmetric) (Sensitivity, error)

	// Budgets describes diagonals of x under which a strategy whose columns are orthogonal on every pattern has a
	// sensitivity of at most one: a linear family to optimize over. Every step is in one group of one budget.
	Budgets() []Budget

	// Disjoint returns patterns of the schema, or parts of them, that hold every step once. Keeping only their
	// constraints is a relaxation: its optimum is a lower bound for the schema's.
	Disjoint() [][]int
}

var (
	_ Schema = Cyclic{}
	_ Schema = MinSep{}
	_ Schema = (*PatternList)(nil)
	_ Schema = (*People)(nil)
)

// Budget is a condition on the diagonal of a strategy's Gram matrix: constant on each group of steps, with values δ_g
// that add up to Σ_g Cost·δ_g = 1.
type Budget struct {
	Groups [][]int
	Cost   float64 // largest number of steps of one group in a pattern
}

// Relaxation returns a schema whose patterns are a partition of the steps and no larger than patterns of s, so that the
// least loss under it is a lower bound for the loss of any strategy under s. It is s itself if s is such a schema.
func Relaxation(s Schema) Schema {
	if IsPartition(s) {
		return s
	}
	list, err := NewPatternList(s.Steps(), s.Disjoint())
	if err != nil {
		panic("participation: disjoint patterns of a schema are none: " + err.Error())
	}
	return list
}

// IsPartition reports whether the maximal patterns of s are a partition of the steps. Then, and as far as is known
// only then, nothing is lost by keeping the columns of a strategy orthogonal on every pattern (docs/mathematics.md,
// section 4).
func IsPartition(s Schema) bool {
	if c, ok := s.(Cyclic); ok { // whose patterns may be many
		return c.participations == 1 || c.steps <= c.participations*c.separation
	}
	enumerated, ok := s.(interface{ Patterns() [][]int })
	if !ok {
		return s.Participations() == 1 || s.Separation() == 1 && s.Participations() == s.Steps()
	}
	return isPartition(enumerated.Patterns(), s.Steps())
}

func isPartition(patterns [][]int, steps int) bool {
	seen := make([]bool, steps)
	count := 0
	for _, pattern := range patterns {
		for _, s := range pattern {
			if seen[s] {
				return false
			}
			seen[s] = true
			count++
		}
	}
	return count == steps
}

// singletons is the budget of a pattern that shares no step with another: its diagonal entries are free but for their
// sum.
func singletons(pattern []int) Budget {
	b := Budget{Cost: 1}
	for _, s := range pattern {
		b.Groups = append(b.Groups, []int{s})
	}
	return b
}

// equalNorms is the budget of columns of one norm.
func equalNorms(steps, participations int) []Budget {
	return []Budget{{Groups: [][]int{lists.UpTo(steps)}, Cost: float64(participations)}}
}

// chop cuts the residue classes of the steps modulo b into runs of at most k.
func chop(steps, k, b int) [][]int {
	var runs [][]int
	for residue := range min(b, steps) {
		var class []int
		for s := residue; s < steps; s += b {
			class = append(class, s)
		}
		for run := range slices.Chunk(class, k) {
			runs = append(runs, run)
		}
	}
	return runs
}
