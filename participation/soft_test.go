package participation

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// TestSoftMaximum compares with the sum over all patterns, and the derivative with the shares of these.
func TestSoftMaximum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchema(t)
		n := s.Steps()
		x := drawGram(t, s)
		patterns := maximal(s)
		if m, ok := s.(MinSep); ok && m.Participations() > 1 {
			patterns = allPatterns(s)
			for i := range n {
				for j := i + 2*m.Separation(); j < n; j++ {
					x.SetSym(i, j, 0)
				}
			}
		}
		beta := rapid.Float64Range(0.5, 50).Draw(t, "β")
		largest := math.Inf(-1)
		for _, pattern := range patterns {
			largest = math.Max(largest, mat.Sum(submatrix(x, pattern)))
		}
		var total float64 // over e^(β·largest), which may not be finite
		want := make([]float64, n*n)
		for _, pattern := range patterns {
			e := math.Exp(beta * (mat.Sum(submatrix(x, pattern)) - largest))
			total += e
			for _, i := range pattern {
				for _, j := range pattern {
					want[i*n+j] += e
				}
			}
		}
		got := make([]float64, n*n)
		value := SoftMaximum(s, x, beta, got)
		if slow := largest + math.Log(total)/beta; math.Abs(value-slow) > 1e-12*(1+math.Abs(value)) {
			t.Fatalf("%v: soft maximum %v, by all patterns %v", s, value, slow)
		}
		for i := range n {
			for j := range n {
				m, chain := s.(MinSep)
				if chain && m.Participations() > 1 && max(i-j, j-i) >= 2*m.Separation() {
					continue
				}
				if math.Abs(got[i*n+j]-want[i*n+j]/total) > 1e-11 {
					t.Fatalf("%v: derivative (%d,%d) %v, by all patterns %v", s, i, j, got[i*n+j], want[i*n+j]/total)
				}
			}
		}
	})
}

// maximal returns the listed patterns, or the patterns of a schema of single steps.
func maximal(s Schema) [][]int {
	if listed, ok := s.(interface{ Patterns() [][]int }); ok {
		return listed.Patterns()
	}
	return s.Disjoint()
}
