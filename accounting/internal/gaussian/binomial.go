package gaussian

import "math"

// LogBinomial returns the logarithm of P(Bin(n, p) = k), 0 < p < 1, and a bound of its error: it is a sum of logarithms
// that are each off by some units of their last place.
func LogBinomial(n, k, p float64) (log, off float64) {
	all, _ := math.Lgamma(n + 1)
	chosen, _ := math.Lgamma(k + 1)
	others, _ := math.Lgamma(n - k + 1)
	drawn, not := k*math.Log(p), (n-k)*math.Log1p(-p)
	return all - chosen - others + drawn + not, 32 * 0x1p-53 * (all + chosen + others - drawn - not + 1)
}
