package contest

import "testing"

// What happened always, or never, has limits that are probabilities.
func TestLimitsAreProbabilities(t *testing.T) {
	for n := 1; n <= 400; n++ {
		for _, z := range []float64{1.64, 2.326, 2.807, 3.48, 3.89} {
			for _, k := range []int{0, n} {
				if low, high := wilson(k, n, z); !(low >= 0 && high <= 1) {
					t.Fatalf("wilson(%d, %d, %v) = %v, %v", k, n, z, low, high)
				}
			}
		}
	}
}
