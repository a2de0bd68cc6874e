package participation

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/combin"

	"mafalda/internal/lists"
	"mafalda/internal/rounding"
)

// People is cyclic participation of persons, each with records in up to m batches of the cycle: the patterns are the
// unions of m residue classes modulo b. What a person's records add to a sum in one step counts as one contribution, of
// norm at most one: it is clipped together.
type People struct {
	*PatternList
	cycle   Cyclic
	batches int
	classes [][]int // steps of every class: the patterns of the cycle
	unions  [][]int // classes of every pattern, as places in classes
}

// MostUnions is how many unions of batches People enumerates at most.
const MostUnions = 20000

// NewPeople returns the schema of persons whose records are in at most the given number of batches of the cycle. The error cases
// are batches below 1 or above b, a cycle whose patterns overlap (T > k·b with k > 1), and more than MostUnions unions.
func NewPeople(cycle Cyclic, batches int) (*People, error) {
	classes := cycle.Patterns()
	switch count := binomial(len(classes), batches); {
	case batches < 1:
		return nil, fmt.Errorf("%w: records of a person in %d batches, which must be at least 1", ErrSchema, batches)
	case !IsPartition(cycle):
		return nil, fmt.Errorf("%w: persons need batches in turn, with T = %d at most k·b = %d", ErrSchema, cycle.Steps(),
			cycle.Participations()*cycle.Separation())
	case batches > len(classes):
		return nil, fmt.Errorf("%w: records of a person in %d batches, of which there are %d", ErrSchema, batches, len(classes))
	case count > MostUnions:
		return nil, fmt.Errorf("%w: there are %.4g ways to choose %d of %d batches, more than %d", ErrSchema, count, batches,
			len(classes), MostUnions)
	}
	p := &People{cycle: cycle, batches: batches, classes: classes, unions: combin.Combinations(len(classes), batches)}
	var patterns [][]int
	for _, union := range p.unions {
		var pattern []int
		for _, c := range union {
			pattern = append(pattern, classes[c]...)
		}
		patterns = append(patterns, pattern)
	}
	var err error
	p.PatternList, err = NewPatternList(cycle.Steps(), patterns)
	return p, err
}

func binomial(n, k int) float64 {
	count := 1.0
	for i := range max(0, min(k, n-k)) {
		count *= float64(n-i) / float64(i+1)
	}
	return math.Round(count)
}

// Cycle returns the schema of each of a person's records.
func (p *People) Cycle() Cyclic { return p.cycle }

// Batches returns m, in how many batches of the cycle a person may have records.
func (p *People) Batches() int { return p.batches }

// firstSteps returns the schema of the first steps, as Leading has it.
func (p *People) firstSteps(steps int) (Schema, error) {
	cycle, err := Leading(p.cycle, steps)
	if err != nil {
		return nil, err
	}
	of := cycle.(Cyclic)
	return NewPeople(of, min(p.batches, len(of.Patterns())))
}

// Name returns "people".
func (p *People) Name() string { return "people" }

// String describes the schema in a line.
func (p *People) String() string {
	in := "a person's records are in one batch"
	if p.batches > 1 {
		in = fmt.Sprintf("a person has records in up to %d batches", p.batches)
	}
	return fmt.Sprintf("people: %s, and each batch takes part at most k = %d times, every b = %d steps", in,
		p.cycle.Participations(), p.cycle.Separation())
}

// Sensitivity is SumBound of the patterns, made of sums over pairs of classes.
func (p *People) Sensitivity(x mat.Symmetric) (Sensitivity, error) {
	if err := checkSize(x, p.Steps()); err != nil {
		return Sensitivity{}, err
	}
	if _, err := restrict(x, lists.UpTo(p.Steps()), p.Steps()); err != nil { // NaN and infinite entries
		return Sensitivity{}, err
	}
	sums := p.sums(func(s, t int) float64 { return math.Abs(x.At(s, t)) })
	most, worst := math.Inf(-1), 0
	for i, union := range p.unions {
		var sum rounding.Sum
		for _, c := range union {
			for _, d := range union {
				sum.Add(sums[c][d])
			}
		}
		if up := sum.Up(); up > most {
			most, worst = up, i
		}
	}
	s, err := SumBound(x, p.Patterns()[worst:worst+1])
	s.Squared = math.Max(most, s.Squared)
	return s.settle(exactWithin), err
}

// sums returns sums of entries over the pairs of steps of two classes, rounded up.
func (p *People) sums(entry func(s, t int) float64) [][]float64 {
	sums := make([][]float64, len(p.classes))
	for c := range sums {
		sums[c] = make([]float64, len(p.classes))
		for d := range c + 1 {
			var sum rounding.Sum
			for _, s := range p.classes[c] {
				for _, t := range p.classes[d] {
					sum.Add(entry(s, t))
				}
			}
			sums[c][d] = sum.Up()
			sums[d][c] = sums[c][d]
		}
	}
	return sums
}

// softMaximum is SoftMaximum of the patterns.
func (p *People) softMaximum(x *mat.SymDense, beta float64, gradient []float64) float64 {
	sums := p.sums(x.At)
	exponents := make([]float64, len(p.unions))
	for i, union := range p.unions {
		for _, c := range union {
			for _, d := range union {
				exponents[i] += beta * sums[c][d]
			}
		}
	}
	total := logSum(exponents)
	shares := make([][]float64, len(p.classes)) // of pairs of classes
	for c := range shares {
		shares[c] = make([]float64, len(p.classes))
	}
	for i, union := range p.unions {
		share := math.Exp(exponents[i] - total)
		for _, c := range union {
			for _, d := range union {
				shares[c][d] += share
			}
		}
	}
	for c, class := range p.classes {
		for d, other := range p.classes {
			for _, s := range class {
				for _, t := range other {
					gradient[s*p.Steps()+t] += shares[c][d]
				}
			}
		}
	}
	return total / beta
}
