// Package series is arithmetic of power series c_0 + c_1 x + c_2 x² + ..., cut to as many coefficients as are asked
// for: the Toeplitz matrices of series multiply as the series do.
package series

// Invert returns the first count coefficients of the power series 1/c, O(count·len(c)).
func Invert(c []float64, count int) []float64 {
	r := make([]float64, count)
	r[0] = 1 / c[0]
	for i := 1; i < count; i++ {
		var sum float64
		for j := 1; j <= i && j < len(c); j++ {
			sum += c[j] * r[i-j]
		}
		r[i] = -sum / c[0]
	}
	return r
}

// Divide divides the series c by 1 - a x + b x².
func Divide(c []float64, a, b float64) {
	for j := 1; j < len(c); j++ {
		c[j] += a * c[j-1]
		if j >= 2 {
			c[j] -= b * c[j-2]
		}
	}
}

// Multiply multiplies the series c by 1 - p x + q x².
func Multiply(c []float64, p, q float64) {
	for j := len(c) - 1; j >= 1; j-- {
		c[j] -= p * c[j-1]
		if j >= 2 {
			c[j] += q * c[j-2]
		}
	}
}

// PrefixRoot returns the first count Taylor coefficients of (1-x)^(-1/2), whose Toeplitz matrix squares to
// the prefix sum.
func PrefixRoot(count int) []float64 {
	c := make([]float64, count)
	c[0] = 1
	for j := 1; j < count; j++ {
		c[j] = c[j-1] * float64(2*j-1) / float64(2*j)
	}
	return c
}
