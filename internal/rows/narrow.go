package rows

import "math"

// NarrowTo rounds the numbers of a row to single precision. It reports whether all of them are finite there, and
// whether all are the same as before.
func NarrowTo(dst []float32, row []float64) (finite, exact bool) {
	dst = dst[:len(row)]
	n := whole(len(row))
	finite, exact = true, true
	if n > 0 {
		finite, exact = best.narrow(&dst[0], &row[0], n)
	}
	for i := n; i < len(row); i++ {
		dst[i] = float32(row[i])
		back := float64(dst[i])
		finite = finite && math.Abs(back) <= math.MaxFloat64
		exact = exact && back == row[i]
	}
	return finite, exact
}
