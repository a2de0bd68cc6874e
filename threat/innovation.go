package threat

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
	"mafalda/internal/lists"
)

// innovation is the inverse of an innovation covariance S, or its pseudo-inverse where S is singular.
type innovation struct {
	inverse  *mat.SymDense // p×p
	free     *mat.Dense    // p×(rank defect): directions that carry no noise; nil if there are none
	scale    float64       // the scale of the numbers that S is made of
	diagonal []float64     // the variances in S
}

// A direction whose variance, beside the largest possible, is below freeBelow carries no noise; between freeBelow and
// clearAbove it is unclear, and the view is not used.
const (
	freeBelow  = 1e-13
	clearAbove = 1e-9
)

// ErrUnclear is returned where rounding does not allow to tell whether the attacker sees something without noise: it
// may learn anything that all messages together say.
var ErrUnclear = errors.New("the rank of the attacker's view cannot be decided in floating point")

// invert decomposes S, whose entries come from numbers of up to scale.
func invert(s *mat.SymDense, degenerate bool, scale float64) (*innovation, error) {
	n := s.SymmetricDim()
	out := &innovation{scale: scale, diagonal: lists.Make(n, func(i int) float64 { return s.At(i, i) })}
	if !degenerate {
		var chol dense.Cholesky
		if !chol.Factorize(s) {
			return nil, ErrUnclear
		}
		inverse := mat.NewSymDense(n, nil)
		chol.InverseTo(inverse) // S is at least the noise of the messages, so its condition is harmless
		out.inverse = inverse
		return out, nil
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(s, true) {
		return nil, ErrUnclear
	}
	if scale == 0 {
		scale = 1 // nothing is seen
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	inverse := mat.NewSymDense(n, nil)
	var free []int
	for i, v := range eigen.Values(nil) {
		switch relative := math.Abs(v) / scale; {
		case relative < freeBelow:
			free = append(free, i)
		case !(v >= 0 && relative >= clearAbove):
			return nil, ErrUnclear
		default:
			inverse.SymRankOne(inverse, 1/v, vectors.ColView(i))
		}
	}
	out.inverse = inverse
	if len(free) > 0 {
		out.free = pick(&vectors, free)
	}
	return out, nil
}
