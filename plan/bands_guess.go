package plan

import (
	"math"
)

// guess is the logarithm of the error at the privacy that so many bands may have. It only decides what is looked at
// first.
func (s *bandSearch) guess(i int) float64 {
	return math.Log(s.squaredError(i)) + 2*s.interpolate(i, func(b *band) float64 { return b.NoiseMultiplier })
}

// squaredError is what so many bands may have: as of guess.
func (s *bandSearch) squaredError(i int) float64 {
	e := s.interpolate(i, func(b *band) float64 {
		if b.SquaredError == 0 && b.Bandwidth == len(s.all) {
			return b.bound
		}
		return b.SquaredError
	})
	return math.Max(math.Exp(e), s.all[i].bound)
}

// interpolate interpolates value over the number of bands, on logarithmic scales. value returns 0 where it is not
// known.
func (s *bandSearch) interpolate(i int, value func(b *band) float64) float64 {
	left, right := -1, -1
	for j := range s.all {
		switch known := value(&s.all[j]) > 0; {
		case known && j <= i:
			left = j
		case known && right < 0:
			right = j
		}
	}
	if left == i || right < 0 {
		return math.Log(value(&s.all[left]))
	}
	x := func(j int) float64 { return math.Log(float64(j + 1)) }
	low, high := math.Log(value(&s.all[left])), math.Log(value(&s.all[right]))
	return low + (high-low)*(x(i)-x(left))/(x(right)-x(left))
}
