package factorize

// scratch lends T×T matrices to the parts of a search that need them in turn, so that no part keeps its own. It is not
// for several goroutines.
type scratch struct {
	size int // T²
	free [][]float64
}

func newScratch(steps int) *scratch { return &scratch{size: steps * steps} }

// take returns a matrix with whatever numbers were left in it.
func (s *scratch) take() []float64 {
	if last := len(s.free) - 1; last >= 0 {
		m := s.free[last]
		s.free[last], s.free = nil, s.free[:last]
		return m
	}
	return make([]float64, s.size)
}

// giveBack takes back what take has returned.
func (s *scratch) giveBack(all ...[]float64) { s.free = append(s.free, all...) }
