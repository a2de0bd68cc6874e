package rounding

import (
	"math"
	"testing"
)

// math.Log takes subnormal numbers for others, up to 10^16 times as large.
func TestLog(t *testing.T) {
	for x, want := range map[float64]float64{5e-324: -744.4400719213812, 1e-310: -713.8013788281542,
		0x1p-1022: -1022 * math.Ln2, 1e-6: math.Log(1e-6), 3: math.Log(3), math.Inf(1): math.Inf(1), 0: math.Inf(-1)} {
		if got := Log(x); got != want && math.Abs(got-want) > 1e-12*math.Abs(want) {
			t.Errorf("log %v = %v, want %v", x, got, want)
		}
	}
	if !math.IsNaN(Log(-1)) || !math.IsNaN(Log(math.NaN())) {
		t.Error("there are logarithms of what has none")
	}
}
