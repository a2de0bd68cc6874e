package noise

import "mafalda/strategy"

// mixer turns rows of Z into rows of C⁻¹Z, one after the other, by the filter of a strategy and the rows that it keeps.
type mixer struct {
	filter strategy.Filter
	kept   [][]float64

	recombine strategy.Recombiner // not nil: earlier rows of Z are made again
	again     func(s int) []float64
}

// newMixer returns the mixer of a strategy in the least memory. rows gives back earlier rows of Z: a dense strategy
// that is not to keep them asks for them again.
func newMixer(c strategy.Strategy, dim int, rows func(dst []float64, t int), regenerate bool) (*mixer, error) {
	f, err := c.Filter()
	if err != nil {
		return nil, err
	}
	if r, ok := f.(strategy.Recombiner); ok { // rows of C⁻¹ as it was computed
		if err := checkInverse(c); err != nil {
			return nil, err
		}
		if regenerate {
			work := make([]float64, dim)
			return &mixer{recombine: r, again: func(s int) []float64 { rows(work, s); return work }}, nil
		}
	}
	return &mixer{filter: f, kept: make([][]float64, f.Memory())}, nil
}

// next writes row t of C⁻¹Z to dst, of row t of Z. It keeps neither.
func (m *mixer) next(dst, z []float64, t int) {
	if m.recombine != nil {
		m.recombine.RecombineTo(dst, z, t, m.again)
		return
	}
	m.filter.StepTo(dst, z, m.kept, t)
}

// floats returns how many numbers are kept for each coordinate.
func (m *mixer) floats() int {
	if m.recombine != nil {
		return 1
	}
	return len(m.kept)
}
