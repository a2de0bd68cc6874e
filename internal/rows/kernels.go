package rows

// kernels are what depends on the machine. Numbers are rounded after every operation, in the order of the portable forms,
// so that all kernels have the same results, bit by bit.
type kernels struct {
	name string

	// fill writes the outputs of some refills to s.bits, from the seed at its end, and leaves there the next one if
	// there were as many as a block has.
	fill func(s *Sampler, refills int)
	// central writes the numbers of the first n of s.bits, a multiple of lanes, to s.row, as if all were central. Those
	// that are not it counts, and copies to s.tails, with their place in s.row.
	central func(s *Sampler, n int) int
	// tail writes the numbers of n of s.tails, rounded up to a multiple of lanes, to s.values, as if none were central
	// or far, and reports whether any is far.
	tail func(s *Sampler, n int) (far bool)

	// The functions of similar names say what these do, here for n numbers, a multiple of 16.
	scale     func(dst, src *float64, c float64, n int)
	addScaled func(dst, src *float64, c float64, n int)
	addFour   func(dst, weights *float64, rows **float64, n int) // adds the first four of eight rows, and fetches the others
	cascade   func(dst, src *float64, c *Cascade, kept *[]float64, n int)
	level     func(dst, src *float64, std float64, n int) (finite bool)
	levelPast func(dst, src *float64, std float64, n int) (finite bool) // dst is a multiple of 64
	settle    func()
	grid      func(row *float64, c *gridded, n int) (fits bool)
	narrow    func(dst *float32, src *float64, n int) (finite, exact bool)
}

var portable = &kernels{name: "portable"}

// best is what this machine runs fastest.
var best = fastest()
