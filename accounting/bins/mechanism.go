package bins

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/accounting"
	"mafalda/accounting/internal/parameter"
	"mafalda/internal/dense"
	"mafalda/internal/fault"
)

// Mechanism is a matrix mechanism under random bins: every record is put once, independently of the others and
// uniformly, into one of b batches of random size; the batches are visited in turn, so that a record of batch j takes
// part in the steps j, j+b, j+2b, ... The draw, sizes included, is secret. A permutation of the records that is cut
// into equal batches is another mechanism, and not covered; so is a new draw in every epoch.
//
// For a strategy C without negative entries, the mixture P = (1/b) Σ_j N(m_j, ν²I) and Q = N(0, ν²I) dominate all
// pairs of outputs on neighbouring datasets, also under adaptive gradients, where m_j is the sum of the columns of C of
// batch j and ν the noise multiplier (Choquette-Choo, Ganesh, Haque, Steinke & Thakurta 2024, "Near exact privacy
// amplification for matrix mechanisms"; for C = I Chua et al. 2024, "Balls-and-bins sampling for DP-SGD"). Neighbours
// differ in a record that one of them does not have (accounting.ZeroOut): the order P, Q is its removal, the order Q,
// P its addition. Replacing a record is another pair.
//
// All that P and Q depend on is the b×b Gram matrix of the m_j. Values are immutable.
type Mechanism struct {
	gram     *mat.SymDense // Gram matrix of the m_j
	lower    []float64     // L, b×b row by row: LLᵀ ⪰ gram, by a little more than what rounding can do
	covered  []float64     // LLᵀ, b×b row by row
	diagonal []float64     // diagonal of LLᵀ
	tuples   []*tuples     // tuples of every size that a proposal has, ascending; the first size is 1
}

// ErrDomination is wrapped by errors about strategies for which no dominating pair is proved.
var ErrDomination = errors.New("domination is not proved")

// New returns the mechanism of a T×T lower-triangular strategy c with a number of bins, 1 to T. The errors are a
// fault.Argument of the field Bins, ErrDomination for a c with a negative entry, however small (where it is set to zero
// the strategy is another one, with other noise), and accounting.ErrParameter for entries that are not finite, and
// for no entries at all.
func New(c mat.Matrix, bins int) (*Mechanism, error) {
	steps, columns := c.Dims()
	if bins < 1 || bins > steps {
		return nil, fault.New("Bins", bins, "must be from 1 to T = %d", steps)
	}
	sums := mat.NewDense(bins, steps, nil) // row j is m_j
	for s := range columns {
		row := sums.RawRowView(s % bins)
		for t := range steps {
			v := c.At(t, s)
			switch {
			case v-v != 0:
				return nil, fmt.Errorf("%w: the strategy has the entry %v", accounting.ErrParameter, v)
			case v < 0:
				return nil, fmt.Errorf("%w for random bins: the strategy has a negative entry, %.3g in row %d, column %d",
					ErrDomination, v, t, s)
			}
			row[t] += v
		}
	}
	gram := mat.NewSymDense(bins, nil)
	for i := range bins {
		for j := range i + 1 {
			gram.SetSym(j, i, floats.Dot(sums.RawRowView(i), sums.RawRowView(j)))
		}
	}
	return newBins(gram, float64(2*steps+8))
}

// newBins takes the Gram matrix of the m_j, whose entries are known up to a number of roundings of |m_i||m_j|.
func newBins(gram *mat.SymDense, roundings float64) (*Mechanism, error) {
	n := gram.SymmetricDim()
	b := &Mechanism{gram: gram, lower: make([]float64, n*n), covered: make([]float64, n*n), diagonal: make([]float64, n)}
	trace := mat.Trace(gram)
	if err := parameter.Positive("the squared norm of all patterns", trace); err != nil {
		return nil, err
	}
	// More in every direction than the roundings of gram and of its Cholesky factor together can have taken away:
	// noise of more dimensions, which can be left out, gives a pair that dominates.
	var chol dense.Cholesky
	for excess := (roundings + 4*float64(n)) * 0x1p-52 * trace; ; excess *= 8 {
		lifted := mat.NewSymDense(n, nil)
		lifted.CopySym(gram)
		for j := range n {
			lifted.SetSym(j, j, gram.At(j, j)+excess)
		}
		if chol.Factorize(lifted) {
			break
		}
	}
	var lower mat.TriDense
	chol.LTo(&lower)
	for i := range n {
		for j := range n {
			var sum float64
			for k := range min(i, j) + 1 {
				sum += lower.At(i, k) * lower.At(j, k)
			}
			b.covered[i*n+j] = sum
			if j <= i {
				b.lower[i*n+j] = lower.At(i, j)
			}
		}
		b.diagonal[i] = b.covered[i*n+i]
	}
	b.tuples = allTuples(b.covered, n)
	return b, nil
}

// logsTo writes y_j = log N(m_j, ν²I)/Q at the x that b standard normal numbers make under Q.
func (b *Mechanism) logsTo(y, noise []float64, precision float64) {
	n, std := len(y), math.Sqrt(precision)
	for j := range y {
		sum := -precision * b.diagonal[j] / 2
		for k, v := range b.lower[j*n : j*n+j+1] {
			sum += std * v * noise[k]
		}
		y[j] = sum
	}
}

// Number returns the number of bins, b.
func (b *Mechanism) Number() int { return len(b.diagonal) }

// Gram returns the b×b Gram matrix of the m_j, the sums of the columns of the batches: a copy.
func (b *Mechanism) Gram() *mat.SymDense {
	copied := mat.NewSymDense(b.Number(), nil)
	copied.CopySym(b.gram)
	return copied
}
