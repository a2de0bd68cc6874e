package factorize

import "mafalda/internal/series"

// longFamily is a set of pairs of series c and r = 1/c, c_0 = 1.
type longFamily interface {
	seriesTo(c, r, x []float64) bool // all T coefficients; false outside the domain

	// pullTo writes the gradient by x at the last seriesTo, from those by c and r, which it may overwrite.
	pullTo(dst, gc, gr []float64)
}

// longRational is rationalSeries with 1/c, whose poles are the zeros of c.
type longRational struct {
	rational rationalSeries
	r        []float64
}

func (f *longRational) seriesTo(c, r, x []float64) bool {
	if !f.rational.seriesTo(c, x) {
		return false
	}
	f.rational.inverseTo(r)
	f.r = append(f.r[:0], r...)
	return allFinite(r)
}

func (f *longRational) pullTo(dst, gc, gr []float64) {
	f.rational.pullTo(dst, gc)
	inverse := rationalSeries{buffers: f.rational.buffers, x: swapRoots(f.rational.x), c: f.r}
	other := make([]float64, len(dst))
	inverse.pullTo(other, gr)
	for i, v := range swapRoots(other) {
		dst[i] += v
	}
}

// swapRoots exchanges the parameters of poles and zeros.
func swapRoots(x []float64) []float64 {
	y := make([]float64, len(x))
	i := 0
	for ; i+4 <= len(x); i += 4 {
		copy(y[i:], []float64{x[i+2], x[i+3], x[i], x[i+1]})
	}
	if i < len(x) { // a single pole
		y[i], y[i+1] = x[i+1], x[i]
	}
	return y
}

// longFree is the family of series c of so many coefficients, or of r = 1/c.
type longFree struct {
	bands   int
	inverse bool
	divisor *series.Divisor // by the one of few coefficients
}

func (f *longFree) seriesTo(c, r, x []float64) bool {
	if f.inverse {
		c, r = r, c
	}
	for _, s := range [][]float64{c, r} {
		clear(s)
		s[0] = 1
	}
	copy(c[1:], x)
	f.divisor = series.NewDivisor(c[:f.bands])
	f.divisor.Divide(r)
	return allFinite(r)
}

// pullTo uses dr = -r*r*dc: the transposed filters 1/c, twice.
func (f *longFree) pullTo(dst, gc, gr []float64) {
	if f.inverse {
		gc, gr = gr, gc
	}
	for range 2 {
		f.divisor.DivideBack(gr)
	}
	for j := range dst {
		dst[j] = gc[j+1] - gr[j+1]
	}
}
