package threat

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/enum"
	"mafalda/internal/lists"
	"mafalda/participation"
	"mafalda/strategy"
)

// Measure is what is said of how much is learned, made of M: a proven bound of the squared sensitivity, or, Certain,
// the part of it that is certainly lost.
type Measure int

const (
	// Best is the smallest proven bound: Exact within 1e-4, and never more than what all messages together say.
	Best Measure = iota
	// Absolute is the largest sum of |M| over a pattern (Bellet et al., Theorem 7, for sens²). It can exceed local DP.
	Absolute
	// Spectral is k·λ_max of M on a pattern (Koskela & Kulkarni, Section 3.4).
	Spectral
	// Exact is the value for vector gradients, proven from above within a gap (participation.VectorSensitivity). For
	// schemas whose patterns cannot be listed it is the smaller of Absolute and Spectral.
	Exact
	// Certain is what equal gradients in all steps of a pattern reach: a record can lose more.
	Certain
)

var measures = enum.Of[Measure]("bound", "best", "abs", "spectral", "exact", "lower")

// Measures lists the names ParseMeasure accepts.
func Measures() []string { return measures.All() }

// String returns the name used in flags and files.
func (m Measure) String() string { return measures.Name(m) }

// ParseMeasure is the inverse of String.
func ParseMeasure(name string) (Measure, error) { return measures.Parse(name) }

// Squared returns the squared sensitivity of an exposure under the schema. local is the one of local DP, +Inf if there
// is none; it limits Best only. The error cases are participation's.
func (m Measure) Squared(e Exposure, schema participation.Schema, local float64) (float64, error) {
	if e.Infinite {
		return math.Inf(1), nil
	}
	patterns, listed := patternsOf(schema)
	switch m {
	case Absolute:
		return squared(schema.Sensitivity(e.M))
	case Spectral:
		return spectral(e.M, schema, patterns, listed)
	case Certain:
		return participation.LowerBound(e.M, patterns)
	}
	if m == Exact {
		return exact(e.M, schema, patterns, listed, 1e-6)
	}
	value, err := exact(e.M, schema, patterns, listed, bestGap)
	return math.Min(value, local), err
}

// bestGap is how far Best may be above the exact value: less takes several times as long.
const bestGap = 1e-4

func exact(m *mat.SymDense, schema participation.Schema, patterns [][]int, listed bool, gap float64) (float64, error) {
	if listed {
		return squared(participation.VectorSensitivity(m, patterns, participation.VectorOptions{Gap: gap}))
	}
	sum, err := squared(schema.Sensitivity(m))
	if err != nil {
		return 0, err
	}
	top, err := spectral(m, schema, patterns, listed)
	return math.Min(sum, top), err
}

// spectral returns k·λ_max over the patterns, or, if they are not listed, of the whole of M.
func spectral(m *mat.SymDense, schema participation.Schema, patterns [][]int, listed bool) (float64, error) {
	if listed {
		return participation.SpectralBound(m, patterns)
	}
	all := lists.UpTo(schema.Steps())
	top, err := participation.SpectralBound(m, [][]int{all})
	return top / float64(schema.Steps()) * float64(schema.Participations()) * (1 + 1e-15), err
}

func squared(s participation.Sensitivity, err error) (float64, error) { return s.Squared, err }

// patternsOf returns the patterns of a schema, or, if they cannot be listed, some of them.
func patternsOf(schema participation.Schema) ([][]int, bool) {
	if s, ok := schema.(interface{ Patterns() [][]int }); ok {
		return s.Patterns(), true
	}
	return schema.Disjoint(), false
}

// Local returns the squared sensitivity of local DP, which no attacker under PNDP exceeds: for the worst node, and
// +Inf where no noise of its own protects a node.
func (a Algorithm) Local(schema participation.Schema) (float64, error) {
	nodes := lists.UpTo(max(1, len(a.dense)))
	if a.space != nil {
		nodes = []int{a.exposed()}
	}
	worst, seen := math.Inf(-1), map[strategy.Strategy]bool{}
	for _, node := range nodes {
		if len(nodes) > 1 {
			if seen[a.dense[node]] {
				continue
			}
			seen[a.dense[node]] = true
		}
		m, err := a.LocalMatrix(node, schema.Steps())
		if err != nil {
			return 0, err
		}
		squared, err := Exact.Squared(Exposure{M: m, Infinite: m == nil}, schema, math.Inf(1))
		if err != nil {
			return 0, err
		}
		worst = math.Max(worst, squared)
	}
	return worst, nil
}
