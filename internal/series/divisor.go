package series

import (
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/floats"
)

// Divisor divides long power series by one of few coefficients c, again and again: O(log w) for a coefficient where c
// has many (w), and O(w) where that is faster. It is for one goroutine.
type Divisor struct {
	c     []float64 // c_1, c_2, …
	first float64   // c_0
	block int       // 0: term by term

	// A block of the quotient, y, is the block of what is divided, less what the block before y leaves over, times the
	// first coefficients of 1/c.
	transform        *fourier.FFT // transform of two blocks
	series, inverse  []complex128 // transforms of c and 1/c
	spectrum         []complex128
	padded, leftover []float64
}

// fewCoefficients is how many coefficients a divisor has whose products are faster term by term.
const fewCoefficients = 384

// NewDivisor returns the division by c, whose first coefficient is not 0.
func NewDivisor(c []float64) *Divisor {
	d := &Divisor{c: slices.Clone(c[1:]), first: c[0]}
	if len(c) > fewCoefficients {
		d.useBlocks(c)
	}
	return d
}

// useBlocks makes the divisor one by blocks, which have room for all coefficients but the first.
func (d *Divisor) useBlocks(c []float64) {
	for d.block = 1; d.block < len(d.c); {
		d.block *= 2
	}
	d.transform = fourier.NewFFT(2 * d.block)
	d.padded, d.leftover = make([]float64, 2*d.block), make([]float64, 2*d.block)
	of := func(x []float64) []complex128 {
		clear(d.padded[copy(d.padded, x):])
		return d.transform.Coefficients(nil, d.padded)
	}
	inverse := make([]float64, d.block)
	inverse[0] = 1
	(&Divisor{c: d.c, first: d.first}).Divide(inverse)
	d.series, d.inverse, d.spectrum = of(c), of(inverse), make([]complex128, d.block+1)
}

// Divide divides x by c, to as many coefficients as x has.
func (d *Divisor) Divide(x []float64) {
	slices.Reverse(x)
	d.DivideBack(x)
	slices.Reverse(x)
}

// DivideBack is the transpose of Divide.
func (d *Divisor) DivideBack(x []float64) {
	if d.block > 0 {
		slices.Reverse(x)
		d.divideBlocks(x)
		slices.Reverse(x)
		return
	}
	for j := len(x) - 1; j >= 0; j-- {
		later := x[j+1:]
		later = later[:min(len(later), len(d.c))]
		x[j] = (x[j] - floats.Dot(d.c[:len(later)], later)) / d.first
	}
}

func (d *Divisor) divideBlocks(x []float64) {
	b := d.block
	for from := 0; from < len(x); from += b {
		y := x[from:min(from+b, len(x))]
		if from > 0 {
			d.multiplyTo(d.leftover, x[from-b:from], d.series)
			floats.Sub(y, d.leftover[b:b+len(y)])
		}
		d.multiplyTo(d.leftover, y, d.inverse)
		copy(y, d.leftover)
	}
}

// multiplyTo writes the two blocks of the product of a block and the series of this spectrum.
func (d *Divisor) multiplyTo(dst, x []float64, by []complex128) {
	clear(d.padded[copy(d.padded, x):])
	d.transform.Coefficients(d.spectrum, d.padded)
	scale := complex(1/float64(len(dst)), 0)
	for i, v := range by {
		d.spectrum[i] *= v * scale
	}
	d.transform.Sequence(dst, d.spectrum)
}
