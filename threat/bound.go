package threat

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"

	"mafalda/participation"
	"mafalda/strategy"
)

// Bound says how a squared sensitivity is made of M.
type Bound int

const (
	// Best is the smallest proven bound: Exact within 1e-4, and never more than what all messages together say.
	Best Bound = iota
	// Absolute is the largest sum of |M| over a pattern (Bellet et al., Theorem 7, for sens²). It can exceed local DP.
	Absolute
	// Spectral is k·λ_max of M on a pattern (Koskela & Kulkarni, Section 3.4).
	Spectral
	// Exact is the value for vector gradients, proven from above within a gap (participation.VectorSensitivity). For schemas whose
	// patterns cannot be listed it is the smaller of Absolute and Spectral.
	Exact
	// Lower is what equal gradients in all steps of a pattern reach: no bound from above.
	Lower
)

var boundNames = [...]string{Best: "best", Absolute: "abs", Spectral: "spectral", Exact: "exact", Lower: "lower"}

// Bounds lists the names ParseBound accepts.
func Bounds() []string { return boundNames[:] }

// String returns the name used in flags and files.
func (b Bound) String() string {
	if b < 0 || int(b) >= len(boundNames) {
		return fmt.Sprintf("Bound(%d)", int(b))
	}
	return boundNames[b]
}

// ParseBound is the inverse of String.
func ParseBound(name string) (Bound, error) {
	for b, n := range boundNames {
		if n == name {
			return Bound(b), nil
		}
	}
	return 0, fmt.Errorf("unknown bound %q: choose %s", name, strings.Join(Bounds(), ", "))
}

// Squared returns the squared sensitivity of an exposure under the schema. local is that of local DP, +Inf if there is none; it
// limits Best only. The error cases are those of participation.
func (b Bound) Squared(e Exposure, schema participation.Schema, local float64) (float64, error) {
	if e.Infinite {
		return math.Inf(1), nil
	}
	patterns, listed := patternsOf(schema)
	switch b {
	case Absolute:
		return squared(schema.Sensitivity(e.M))
	case Spectral:
		return spectral(e.M, schema, patterns, listed)
	case Lower:
		return participation.LowerBound(e.M, patterns)
	}
	if b == Exact {
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
	all := make([]int, schema.Steps())
	for s := range all {
		all[s] = s
	}
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

// Local returns the squared sensitivity of local DP, which no attacker under PNDP exceeds: that of the worst node, and +Inf where
// no noise of its own protects a node.
func (a Algorithm) Local(schema participation.Schema) (float64, error) {
	worst := math.Inf(-1)
	seen := map[strategy.Strategy]bool{}
	for node := range max(len(a.each), 1) {
		if a.each != nil {
			if seen[a.each[node]] {
				continue
			}
			seen[a.each[node]] = true
		}
		m, err := a.LDPSquared(node, schema.Steps())
		if err != nil {
			return 0, err
		}
		if m == nil {
			return math.Inf(1), nil
		}
		squared, err := Exact.Squared(Exposure{M: m}, schema, math.Inf(1))
		if err != nil {
			return 0, err
		}
		worst = math.Max(worst, squared)
	}
	return worst, nil
}
