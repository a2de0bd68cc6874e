package pld

import (
	"math"

	"gonum.org/v1/gonum/dsp/fourier"
)

// A transform's error is everywhere relative to the largest masses. Where a record hardly ever takes part, these are at
// a loss of 0, far above all others, and a small δ drowns in it. A sharpener convolves measures in blocks of masses of
// about the same size instead, each product of two blocks only where it can be: then errors are small against what is
// there. As it needs many transforms, it is for few rounds.
type sharpener struct {
	transform *fourier.FFT
	length    int
	sign      float64 // 1: results are nowhere below the exact ones; -1: nowhere above
}

// sharpened returns the convolution of so many times each of the circles, beginning at a point: bounds from above for
// sign 1, from below for -1; nil if it takes too long.
func sharpened(circles []circle, rounds []int, first int, sign float64) []float64 {
	n := len(circles[0].dense)
	s := sharpener{fourier.NewFFT(n), n, sign}
	work := 0.0
	for _, r := range rounds {
		work += 2 * math.Log2(float64(r)+1) * float64(n)
	}
	if work > sharpWork {
		return nil
	}
	var all []float64
	for i, c := range circles {
		power := c.dense
		for r := rounds[i]; ; power = s.product(power, power) {
			if r&1 == 1 {
				all = s.product(all, power)
			}
			if r /= 2; r == 0 {
				break
			}
		}
	}
	turned := make([]float64, 0, n)
	from := mod(int64(first), n)
	return append(append(turned, all[from:]...), all[:from]...)
}

// sharpWork bounds products of circles, times points.
const sharpWork = 2.8e6

// A block is a part of a measure: masses at offsets from … to-1 from the point 0, which may be negative.
type block struct {
	from, to    int
	sum, norm   float64 // ‖·‖₁ and ‖·‖₂, rounded up
	coefficient []complex128
}

// Masses fall by fallOfBlock within a block, outwards from the largest one; there are at most so many in a direction.
const (
	fallOfBlock = 1e-6
	mostBlocks  = 4
)

// split cuts a measure on the circle into blocks.
func (s *sharpener) split(a []float64) []block {
	peak := 0
	for i, v := range a {
		if v > a[peak] {
			peak = i
		}
	}
	half := s.length / 2
	value := func(d int) float64 { return a[mod(int64(peak+d), s.length)] }
	right := s.cuts(half+1, value)
	left := s.cuts(s.length-half, func(d int) float64 { return value(-d) })
	blocks := []block{s.block(a, peak-left[0]+1, peak+right[0])}
	for i := 1; i < len(right); i++ {
		blocks = append(blocks, s.block(a, peak+right[i-1], peak+right[i]))
	}
	for i := 1; i < len(left); i++ {
		blocks = append(blocks, s.block(a, peak-left[i]+1, peak-left[i-1]+1))
	}
	return blocks
}

// cuts returns the ends of blocks in one direction: where nothing from there on is more than a fraction of what was
// there at the beginning of the block; and the end of the last mass.
func (s *sharpener) cuts(end int, value func(d int) float64) []int {
	most := make([]float64, end+1) // from d on
	for d := end - 1; d >= 0; d-- {
		most[d] = math.Max(most[d+1], value(d))
	}
	var cuts []int
	for d, start := 1, most[0]; ; d++ {
		if most[d] == 0 {
			return append(cuts, d)
		}
		if most[d] < fallOfBlock*start && len(cuts) < mostBlocks-1 {
			cuts, start = append(cuts, d), most[d]
		}
	}
}

func (s *sharpener) block(a []float64, from, to int) block {
	b := block{from: from, to: to}
	dense := make([]float64, s.length)
	var squares float64
	for k := from; k < to; k++ {
		i := mod(int64(k), s.length)
		dense[i] = a[i]
		b.sum += a[i]
		squares += a[i] * a[i]
	}
	b.sum, b.norm = b.sum*(1+1e-9), math.Sqrt(squares)*(1+1e-9)
	b.coefficient = s.transform.Coefficients(nil, dense)
	return b
}

// product returns the convolution of two measures; nil stands for all mass at 0.
func (s *sharpener) product(a, b []float64) []float64 {
	if a == nil {
		return b
	}
	square := &a[0] == &b[0]
	left := s.split(a)
	right := left
	if !square {
		right = s.split(b)
	}
	c := make([]float64, s.length)
	coefficients, sequence := make([]complex128, s.length/2+1), make([]float64, s.length)
	for i, x := range left {
		for j, y := range right {
			times := 1.0
			switch {
			case square && j < i:
				continue
			case square && j > i:
				times = 2
			}
			for k := range coefficients {
				coefficients[k] = x.coefficient[k] * y.coefficient[k]
			}
			s.transform.Sequence(sequence, coefficients)
			off := s.sign * s.off(x, y)
			from, to := x.from+y.from, x.to+y.to-1
			for k := from; k < min(to, from+s.length); k++ {
				at := mod(int64(k), s.length)
				if v := sequence[at]/float64(s.length) + off; v > 0 {
					c[at] += times * v
				}
			}
		}
	}
	for k := range c { // rounding of the sums
		c[k] *= 1 + s.sign*float64(8+4*len(left)*len(right))*unit
	}
	return c
}

// off bounds the error of every point of the computed product of two blocks: of both transforms, of the products of
// their coefficients (by the inequality of Cauchy and Schwarz), and of the transform back, in the mean square.
func (s *sharpener) off(x, y block) float64 {
	each := transformError(s.length)
	return 1.01*((2*each+8*unit)*x.norm*y.norm+(each+4*unit)*math.Min(x.sum*y.norm, y.sum*x.norm)) + underflow
}

// underflow is more than what a sum of products of masses loses by underflow.
const underflow = 1e-290

// blurred reports whether the transform's error counts: at the δ and at the ε that the window is for it changes ε by a
// tenth of the accuracy. Below leastDelta nobody counts on it.
func (d *composedLoss) blurred(w window) bool {
	if w.logDelta < math.Log(leastDelta) {
		return false
	}
	without, with := d.curve(0, d.scale), d.curve(d.err, d.scale)
	delta, last := math.Exp(w.logDelta), len(d.tilted)-1
	counts := func(k int) bool {
		k = min(max(k, d.zone), last)
		return with.delta[k]-without.delta[k] > accuracy/10*without.fall[k]*math.Abs(without.loss(k))
	}
	at := last
	for at > d.zone && without.delta[at] <= delta {
		at--
	}
	return counts(at) || counts(int((w.epsilon-d.bottom)/d.step))
}
