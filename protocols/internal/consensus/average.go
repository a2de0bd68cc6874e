package consensus

import "math"

// Mean returns Σu/n.
func Mean(u []float64) float64 {
	var sum float64
	for _, x := range u {
		sum += x
	}
	return sum / float64(len(u))
}

// Distance returns ‖v - m·1‖₂.
func Distance(v []float64, m float64) float64 {
	var norm float64
	for _, x := range v {
		norm = math.Hypot(norm, x-m)
	}
	return norm
}
