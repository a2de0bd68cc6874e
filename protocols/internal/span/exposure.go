package span

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"mafalda/internal/dense"
	"mafalda/internal/gemm"
	"mafalda/internal/rounding"
)

// plain is the share of a variance up to which 1 - Seen says what is left, and together for how many nodes vectors
// are held at a time.
const (
	plain    = 0.5
	together = 256
)

// Exposure is the share of the variance of a node's noisy value that messages explain, Seen = e_jᵀPe_j for the
// projection P on their span, and what is left, Hidden = 1 - Seen, to its own precision. Seen is never below the truth,
// Hidden never above it, and both are exact if they are 0 and 1: out of reach, or determined by the messages.
type Exposure struct{ Seen, Hidden float64 }

// Exposures returns the exposures of the hidden nodes.
func (s *Span) Exposures() []Exposure {
	width, rank := len(s.Hidden), s.Rank()
	all := make([]Exposure, width)
	if rank == width {
		for at := range all {
			all[at] = Exposure{1, 0}
		}
		return all
	}
	seen := make([]float64, width) // √Seen
	for r := range rank {
		for at, x := range s.Basis[r*width : (r+1)*width] {
			seen[at] = math.Hypot(seen[at], x)
		}
	}
	blur, hidden := s.Blur, map[int]float64{} // √Hidden
	if s.fine != nil {
		blur = s.fineBlur
		for at := range all {
			seen[at], hidden[at] = s.split(at)
		}
	} else {
		s.leaveAll(seen, hidden)
	}
	far := 4 * blur * math.Sqrt(float64(rank*width)) // twice the Frobenius norm of the error of the basis, twice
	for at := range all {
		all[at] = s.exposure(at, seen[at]+far, hidden[at]-far)
	}
	return all
}

// exposure puts bounds together: √Seen is at most seen; √Hidden, if that is not negative, at least hidden.
func (s *Span) exposure(at int, seen, hidden float64) Exposure {
	if !s.Touches(at) {
		return Exposure{0, 1}
	}
	if seen > 0.999 && s.Determines([]int{s.Hidden[at]}) {
		return Exposure{1, 0}
	}
	e := Exposure{Seen: math.Min(rounding.Above(seen*seen), 1)}
	if hidden > 0 {
		e.Hidden = rounding.Below(hidden * hidden)
	}
	if e.Seen < plain {
		e.Hidden = math.Max(e.Hidden, rounding.Below(1-e.Seen))
	}
	e.Seen = math.Min(e.Seen, rounding.Above(1-e.Hidden))
	return e
}

// split returns √Seen and √Hidden in 106 bits.
func (s *Span) split(at int) (seen, hidden float64) {
	rest := make([]number, len(s.Hidden))
	rest[at].Hi = 1
	var squared number
	for pass := range 2 {
		for _, row := range s.fine {
			if along := takeOut(rest, row); pass == 0 {
				squared = squared.Plus(along.Times(along))
			}
		}
	}
	left := dot(rest, rest)
	return math.Sqrt(squared.Hi), math.Sqrt(left.Hi)
}

// leaveAll returns √Hidden in double precision, where a good deal is seen.
func (s *Span) leaveAll(seen []float64, hidden map[int]float64) {
	var many []int
	for at, x := range seen {
		if x*x >= plain/2 {
			many = append(many, at)
		}
	}
	for part := range slices.Chunk(many, together) {
		s.leave(part, hidden)
	}
}

// leave does so for a few nodes: the basis is taken out of their unit vectors, twice.
func (s *Span) leave(nodes []int, hidden map[int]float64) {
	width, rank := len(s.Hidden), s.Rank()
	basis := blas64.General{Rows: rank, Cols: width, Stride: width, Data: s.Basis}
	along, rest := dense.NewGeneral(rank, len(nodes)), dense.NewGeneral(width, len(nodes))
	for c, at := range nodes {
		rest.Data[at*rest.Stride+c] = 1
	}
	for range 2 {
		gemm.Gemm(blas.NoTrans, blas.NoTrans, 1, basis, rest, 0, along)
		gemm.Gemm(blas.Trans, blas.NoTrans, -1, basis, along, 1, rest)
	}
	for c, at := range nodes {
		hidden[at] = blas64.Nrm2(blas64.Vector{N: width, Inc: rest.Stride, Data: rest.Data[c:]})
	}
}
