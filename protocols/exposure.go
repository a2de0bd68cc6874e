package protocols

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"mafalda/internal/gemm"
	"mafalda/internal/rounding"
)

// Exposure is the share of the variance of a node's noisy value that messages explain, Seen = e_jᵀPe_j for the
// projection P on their span, and what is left, Hidden = 1 - Seen, to its own precision. Seen is never below the truth,
// Hidden never above it, and both are exact if they are 0 and 1: out of reach, or determined by the messages.
type Exposure struct{ Seen, Hidden float64 }

// above returns what is not below the exact value of a number that a dozen roundings led to, below what is not above
// it.
func above(x float64) float64 {
	if x == 0 {
		return 0
	}
	return math.Nextafter(x+x*0x1p-49, math.Inf(1))
}

func below(x float64) float64 {
	if x == 0 {
		return 0
	}
	return math.Nextafter(x-x*0x1p-49, 0)
}

// GossipLeakage is the mutual information between what an observer sees and the value of a node with this exposure, if
// values are Gaussian, in nats, rounded up:
//
//	½ log(1 + Seen·σ_u²/(σ² + Hidden·σ_u²)),
//
// which is finite with any noise and infinite only without: for σ = 0 and nothing hidden.
func GossipLeakage(e Exposure, valueStd, noiseStd float64) float64 {
	switch {
	case e.Seen == 0:
		return 0
	case valueStd <= noiseStd:
		q := valueStd / noiseStd
		x := e.Seen * q * q / (1 + e.Hidden*q*q)
		return above(math.Max(math.Log1p(x)/2, math.SmallestNonzeroFloat64))
	}
	p := noiseStd / valueStd
	if x := e.Seen / (p*p + e.Hidden); p > 1e-100 || e.Hidden > 0 && x < math.MaxFloat64 {
		return above(math.Log1p(x) / 2) // without p², where that is nothing, for x to be larger
	}
	value, noise := rounding.Log(valueStd), rounding.Log(noiseStd) // of numbers whose quotient, squared, is not one
	return above(value - noise + (math.Abs(value)+math.Abs(noise))*0x1p-50)
}

// exposures returns those of the hidden nodes.
func (s *span) exposures() []Exposure {
	width, rank := len(s.hidden), s.rank()
	all := make([]Exposure, width)
	if rank == width {
		for at := range all {
			all[at] = Exposure{1, 0}
		}
		return all
	}
	seen := make([]float64, width) // √Seen
	for r := range rank {
		for at, x := range s.basis[r*width : (r+1)*width] {
			seen[at] = math.Hypot(seen[at], x)
		}
	}
	blur, hidden := s.blur, map[int]float64{} // √Hidden
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
func (s *span) exposure(at int, seen, hidden float64) Exposure {
	if !s.touches(at) {
		return Exposure{0, 1}
	}
	if seen > 0.999 && s.determines([]int{s.hidden[at]}) {
		return Exposure{1, 0}
	}
	e := Exposure{Seen: math.Min(above(seen*seen), 1)}
	if hidden > 0 {
		e.Hidden = below(hidden * hidden)
	}
	if e.Seen < plain {
		e.Hidden = math.Max(e.Hidden, below(1-e.Seen))
	}
	e.Seen = math.Min(e.Seen, above(1-e.Hidden))
	return e
}

// split returns √Seen and √Hidden in 106 bits.
func (s *span) split(at int) (seen, hidden float64) {
	rest := make([]twofold, len(s.hidden))
	rest[at].hi = 1
	var squared twofold
	for pass := range 2 {
		for _, row := range s.fine {
			var along twofold
			for i, x := range row {
				along = along.plus(x.times(rest[i]))
			}
			if pass == 0 {
				squared = squared.plus(along.times(along))
			}
			along = along.minus()
			for i, x := range row {
				rest[i] = rest[i].plus(x.times(along))
			}
		}
	}
	var left twofold
	for _, x := range rest {
		left = left.plus(x.times(x))
	}
	return math.Sqrt(squared.hi), math.Sqrt(left.hi)
}

// leaveAll returns √Hidden in double precision, where a good deal is seen.
func (s *span) leaveAll(seen []float64, hidden map[int]float64) {
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
func (s *span) leave(nodes []int, hidden map[int]float64) {
	width, rank := len(s.hidden), s.rank()
	basis := blas64.General{Rows: rank, Cols: width, Stride: width, Data: s.basis}
	along, rest := newGeneral(rank, len(nodes)), newGeneral(width, len(nodes))
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

func newGeneral(rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float64, rows*cols)}
}
