package threat

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
	"mafalda/internal/dense"
	"mafalda/internal/gemm"
	"mafalda/internal/lists"
)

// stage is one round of communication as the attacker sees it: a linear system with Gaussian noise,
//
//	y  = C x + D g + v        what the attacker learns in this round
//	x' = F x + E g + w        what it does not know of the state after it
//
// where x is the state (m numbers for each coordinate of a model), g the gradients of the nodes that are not attackers,
// and cov(w, v) = [Q X; Xᵀ R]. Empty matrices (no state, nothing observed) are nil.
type stage struct {
	f, e *mat.Dense    // m×m, m×victims; e nil: no gradient in this round
	c, d *mat.Dense    // p×m, p×victims
	q, r *mat.SymDense // m×m, p×p
	x    *mat.Dense    // m×p
}

func (s *stage) dims() (state, observed int) {
	if s.q != nil {
		state = s.q.SymmetricDim()
	}
	if s.r != nil {
		observed = s.r.SymmetricDim()
	}
	return state, observed
}

// system is an attacker's view of a whole run.
type system struct {
	steps   int                // T, rounds with gradients
	rounds  int                // stages, steps times the gossip rounds a step
	victims []int              // nodes that are not attackers: the columns of e and d
	stage   func(i int) *stage // may return the same stage again and again
	// degenerate says that what is observed may be free of noise: the innovation covariance can be singular, and ranks
	// must be decided
	degenerate bool
	// scaled: the scale of messages changes with the learning rates. Otherwise all have noise of unit variance.
	scaled bool
	slack  float64 // how much larger M may be than it is computed, relatively, if scaled; forward finds it
}

// mul returns a·b, nil if it is empty.
func mul(a, b mat.Matrix) *mat.Dense {
	r, inner := a.Dims()
	_, c := b.Dims()
	if r == 0 || c == 0 {
		return nil
	}
	if inner == 0 {
		return mat.NewDense(r, c, nil)
	}
	var p mat.Dense
	dense.Mul(&p, a, b)
	return &p
}

// mulT returns a·bᵀ, the product that gonum does fastest.
func mulT(a, b *mat.Dense) *mat.Dense {
	r, _ := a.Dims()
	c, _ := b.Dims()
	p := mat.NewDense(r, c, nil)
	gemm.Gemm(blas.NoTrans, blas.Trans, 1, a.RawMatrix(), b.RawMatrix(), 0, p.RawMatrix())
	return p
}

// symmetric returns the symmetric matrix (a + aᵀ)/2, nil for nil. Both of its triangles are there.
func symmetric(a *mat.Dense) *mat.SymDense {
	if a == nil {
		return nil
	}
	n, _ := a.Dims()
	from, stride, data := a.RawMatrix().Data, a.RawMatrix().Stride, make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			mean := (from[i*stride+j] + from[j*stride+i]) / 2
			data[i*n+j], data[j*n+i] = mean, mean
		}
	}
	return mat.NewSymDense(n, data)
}

// whole returns a matrix that symmetric made, or of zeros, as a dense one, of the same numbers.
func whole(s *mat.SymDense) *mat.Dense {
	raw := s.RawSymmetric()
	return mat.NewDense(raw.N, raw.N, raw.Data)
}

// picking returns the matrix with a 1 where a row and a column are of the same number, nil if it is empty.
func picking(rows, columns []int) *mat.Dense {
	m, at := zeros(len(rows), len(columns)), lists.Places(columns)
	for i, v := range rows {
		if j, there := at[v]; there {
			m.Set(i, j, 1)
		}
	}
	return m
}

// part returns the rows and columns of w, nil if there are none.
func part(w *graph.CSR, rows, cols []int) *mat.Dense {
	m := zeros(len(rows), len(cols))
	if m == nil {
		return nil
	}
	at := lists.Places(cols)
	for i, u := range rows {
		w.DoRowNonZero(u, func(_, v int, x float64) {
			if j, ok := at[v]; ok {
				m.Set(i, j, x)
			}
		})
	}
	return m
}

// zeros returns an r×c matrix, nil if it is empty.
func zeros(r, c int) *mat.Dense {
	if r == 0 || c == 0 {
		return nil
	}
	return mat.NewDense(r, c, nil)
}
