package randomgossip

import (
	"slices"

	"mafalda/graph"
)

// links is the law of links that fail.
type links struct {
	neighbours [][]int
	p          float64
	rows       []row
	change     []change
}

// change is how the mean of a row depends on one of its links, E[w_i | up] - E[w_i | down]: of the node itself, of the
// node at the other end, and of its other neighbours. It adds up to 0. For a node of d neighbours they are
// e₁(2, d-1) - e₁(1, d-1), e₁(2, d-1) and q (e₁(3, d-2) - e₁(2, d-2)).
type change struct{ self, end, others float64 }

// Links returns the law of the uniform gossip matrix w whose links fail independently, with probability p in [0, 1), in
// both directions at once. The error is ErrUneven.
//
// Two rows have nothing but the link between them in common. With δ_ij = E[w_i | up] - E[w_i | down] for link ij,
//
//	E[w_i w_jᵀ] = w̄_i w̄_jᵀ + p(1-p) δ_ij δ_jiᵀ   for neighbours i ≠ j, and w̄_i w̄_jᵀ for others.
//
// A map takes O(n·nnz + Σ d²).
func Links(w *graph.CSR, p float64) (*Law, error) {
	neighbours, err := neighbourhoods(w)
	if err != nil {
		return nil, err
	}
	e := newMoments(1 - p)
	l := &links{neighbours: neighbours, p: p}
	var self, other []float64
	for _, around := range neighbours {
		d := len(around)
		r := e.row(d)
		l.rows = append(l.rows, r)
		self, other = append(self, r.self), append(other, r.other)
		l.change = append(l.change, change{
			self:   e.entry(1, 2, d-1) - e.entry(1, 1, d-1),
			end:    e.entry(1, 2, d-1),
			others: e.q * (e.entry(1, 3, d-2) - e.entry(1, 2, d-2)),
		})
	}
	return &Law{mean: meanOf(neighbours, self, other), covary: l.covary}, nil
}

func (l *links) covary(dst, m []float64) {
	n := len(l.neighbours)
	for i, around := range l.neighbours {
		r := l.rows[i]
		ownCovariance{i, around, 1, r, r.self, r.other}.addTo(dst, n, m[i*n+i])
	}
	l.addShared(dst, m)
}

// addShared adds Σ p(1-p) M[i,j] δ_ij δ_jiᵀ over the links, with δ_ij = z_i N_i + x_i e_i + y_i e_j, N_i being 1 for i and
// its neighbours. The sum over j of what stands beside N_i is collected first.
func (l *links) addShared(dst, m []float64) {
	n := len(l.neighbours)
	beside := make([]float64, n*n) // row i: Σ_j K[i,j] (z_j N_j + x_j e_j + y_j e_i)
	pq := l.p * (1 - l.p)
	for i, around := range l.neighbours {
		line := beside[i*n : (i+1)*n]
		xi, yi, _ := l.parts(i)
		for _, j := range around {
			if _, mutual := slices.BinarySearch(l.neighbours[j], i); !mutual {
				continue
			}
			k := pq * m[i*n+j]
			xj, yj, zj := l.parts(j)
			own := dst[i*n : (i+1)*n] // x_i e_i
			end := dst[j*n : (j+1)*n] // y_i e_j
			for _, b := range l.neighbours[j] {
				line[b] += k * zj
				own[b] += xi * k * zj
				end[b] += yi * k * zj
			}
			line[j] += k * (zj + xj)
			own[j] += xi * k * (zj + xj)
			end[j] += yi * k * (zj + xj)
			line[i] += k * yj
			own[i] += xi * k * yj
			end[i] += yi * k * yj
		}
	}
	for i, around := range l.neighbours {
		_, _, z := l.parts(i)
		line := beside[i*n : (i+1)*n]
		add := func(a int) {
			for b, v := range line {
				dst[a*n+b] += z * v
			}
		}
		add(i)
		for _, a := range around {
			add(a)
		}
	}
}

// parts returns x, y and z of a node.
func (l *links) parts(i int) (x, y, z float64) {
	c := l.change[i]
	return c.self - c.others, c.end - c.others, c.others
}
