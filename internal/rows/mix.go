package rows

import (
	"math"
	"unsafe"
)

// What follows works number by number, so dst may be src. Rows that go together are of one length.

// whole returns how many of n numbers the kernels in assembly do: a multiple of 16.
func whole(n int) int {
	if best.scale == nil {
		return 0
	}
	return n &^ 15
}

// ScaleTo writes c·src to dst.
func ScaleTo(dst []float64, c float64, src []float64) {
	dst = dst[:len(src)]
	n := whole(len(src))
	if n > 0 {
		best.scale(&dst[0], &src[0], c, n)
	}
	for i := n; i < len(src); i++ {
		dst[i] = c * src[i]
	}
}

// AddScaled adds c·src to dst: product and sum are rounded one after the other.
func AddScaled(dst []float64, c float64, src []float64) {
	dst = dst[:len(src)]
	n := whole(len(src))
	if n > 0 {
		best.addScaled(&dst[0], &src[0], c, n)
	}
	for i := n; i < len(src); i++ {
		dst[i] += float64(c * src[i])
	}
}

// A Section is (1 - A x + B x²)/(1 - P x + Q x²), a filter of one pole or two, in transposed direct form II. With one
// pole, Q and B are not used.
type Section struct {
	P, Q, A, B float64
	Poles      int
}

// A Cascade is a scale and some sections, one after the other. It is immutable.
type Cascade struct {
	scale    float64
	sections []Section
	poles    int
}

// NewCascade returns a cascade, which keeps the sections.
func NewCascade(scale float64, sections []Section) *Cascade {
	c := &Cascade{scale: scale, sections: sections}
	for _, s := range sections {
		c.poles += s.Poles
	}
	return c
}

// Poles returns how many buffers there are.
func (c *Cascade) Poles() int { return c.poles }

// StepTo writes what comes out of the last section to dst, of scale·z in the first and of each section's output in the
// next, and the next numbers of the buffers that are kept, one for each pole, in their place:
//
//	y = u + first;  first ← ((P y) - (A u)) + second;  second ← (B u) - (Q y)
//
// It goes through all rows together, so that those that are not in a cache come and go once; and half of what lies
// behind as many rows as are kept, one after the other, is brought into the cache meanwhile: see Sampler.Soon.
func (c *Cascade) StepTo(dst, z []float64, kept [][]float64) {
	n := whole(len(z))
	dst = dst[:len(z)]
	if c.poles == 0 {
		ScaleTo(dst, c.scale, z)
		return
	}
	for _, row := range kept[:c.poles] {
		_ = row[:len(z)]
	}
	if n > 0 {
		best.cascade(&dst[0], &z[0], c, &kept[0], n)
	}
	for i := n; i < len(z); i++ {
		dst[i] = c.scale * z[i]
	}
	for j := range c.sections {
		s := &c.sections[j]
		s.step(dst[n:], kept[0][n:], kept[s.Poles-1][n:])
		kept = kept[s.Poles:]
	}
}

// step is a section's part of StepTo, with its outputs in the place of its inputs; second is first if there
// is one pole.
func (c *Section) step(row, first, second []float64) {
	if c.Poles == 1 {
		for i, u := range row {
			y := u + first[i]
			first[i] = float64(c.P*y) - float64(c.A*u)
			row[i] = y
		}
		return
	}
	for i, u := range row {
		y := u + first[i]
		first[i] = float64(float64(c.P*y)-float64(c.A*u)) + second[i]
		second[i] = float64(c.B*u) - float64(c.Q*y)
		row[i] = y
	}
}

// LevelTo writes a row times a standard deviation to dst, past the cache if that is asked for and can be: that is
// faster if dst is not there and not needed there soon. Before other goroutines may read it, this one calls Settle. It reports
// whether all of it is finite.
func LevelTo(dst []float64, std float64, row []float64, past bool) bool {
	dst = dst[:len(row)]
	n, finite := whole(len(row)), true
	switch {
	case n == 0:
	case past && uintptr(unsafe.Pointer(&dst[0]))%64 == 0:
		finite = best.levelPast(&dst[0], &row[0], std, n)
	default:
		finite = best.level(&dst[0], &row[0], std, n)
	}
	for i := n; i < len(row); i++ {
		dst[i] = std * row[i]
		finite = finite && dst[i]-dst[i] == 0
	}
	return finite
}

// Settle has everything that this goroutine has written past the cache be there for others.
func Settle() {
	if best.settle != nil {
		best.settle()
	}
}

// gridded is what a kernel needs to know of a grid.
type gridded struct {
	std, grid float64
	inverse   float64 // 1/grid, exactly
	most      float64 // 2⁵³: neighbours of larger numbers are farther apart than 1
	magnitude float64 // mask of all bits but the sign's
}

// LevelOnGrid multiplies a row by a standard deviation and rounds it to the nearest multiples of the grid, a power of two
// whose inverse is a normal number; the even one of two. It reports whether all of it is finite and below 2⁵³ times the
// grid; if not, the row is not to be used.
func LevelOnGrid(row []float64, std, grid float64) bool {
	n, fits := whole(len(row)), true
	c := &gridded{std, grid, 1 / grid, 1 << 53, math.Float64frombits(1<<63 - 1)}
	if n > 0 {
		fits = best.grid(&row[0], c, n)
	}
	for i := n; i < len(row); i++ {
		v := float64(row[i]*std) * c.inverse
		fits = fits && math.Abs(v) < c.most
		row[i] = math.RoundToEven(v) * grid
	}
	return fits
}
