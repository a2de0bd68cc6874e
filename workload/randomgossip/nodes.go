package randomgossip

import (
	"mafalda/graph"
	"mafalda/internal/parallel"
)

// What a node is for one of two nodes: itself, the other one, a neighbour of it alone, or of both.
const (
	own = iota
	other
	alone
	common
	classes
)

// nodes is the law of nodes that fail.
type nodes struct {
	neighbours  [][]int
	p           float64
	rows        []row
	self, other []float64 // the mean
	relations   [][]relation
	tables      []table
}

// relation names a node j > i whose row depends on what row i depends on, and the covariance of both rows.
type relation struct{ node, table int }

// table is the covariance of w_i[a] and w_j[b] by what a is for i and b for j, and what it is more for a = b, where
// that is a neighbour of both.
type table struct {
	by    [classes][classes]float64
	equal float64
}

// Nodes returns the law of the uniform gossip matrix w whose nodes fail independently, with probability p in [0, 1): a
// node that has failed keeps its model, and the others average over who is left. The error is ErrUneven.
//
// A node has the mean weight p + q e₁(1, d) for itself and q² e₁(2, d-1) for each of its d neighbours. Rows i and j have each other in common and c neighbours; given both are up, with x and y neighbours of one alone, and
// a and b nodes that are up for certain (itself, and the other one where they are linked),
//
//	E[1/(S_i S_j)] = E[1/((a + X + Z)(b + Y + Z))],     X, Y, Z binomial of x, y, c trials,
//
// and w_i[u] w_j[v] is that, given that u and v are up. A map takes O(Σ d_i d_j) over the nodes within two links.
func Nodes(w *graph.CSR, p float64) (*Law, error) {
	neighbours, err := neighbourhoods(w)
	if err != nil {
		return nil, err
	}
	e := newMoments(1 - p)
	l := &nodes{neighbours: neighbours, p: p}
	for _, around := range neighbours {
		r := e.row(len(around))
		l.rows = append(l.rows, r)
		l.self, l.other = append(l.self, p+e.q*r.self), append(l.other, e.q*r.other)
	}
	l.relate(e)
	return &Law{mean: meanOf(neighbours, l.self, l.other), covary: l.covary}, nil
}

// pair is what the covariance of two rows depends on.
type pair struct {
	di, dj, common int
	ij, ji         bool // i averages over j, j over i
}

// relate finds the pairs of rows that have something in common.
func (l *nodes) relate(e *moments) {
	n := len(l.neighbours)
	listening := make([][]int, n) // who averages over a node
	for i, around := range l.neighbours {
		for _, a := range around {
			listening[a] = append(listening[a], i)
		}
	}
	known := map[pair]int{}
	l.relations = make([][]relation, n)
	shared := make([]int, n)
	linked := make([]bool, n)
	for i, around := range l.neighbours {
		clear(shared)
		clear(linked)
		for _, a := range around {
			linked[a] = true
			for _, j := range listening[a] {
				shared[j]++
			}
		}
		back := make(map[int]bool, len(listening[i]))
		for _, j := range listening[i] {
			back[j] = true
		}
		for j := i + 1; j < n; j++ {
			k := pair{len(around), len(l.neighbours[j]), shared[j], linked[j], back[j]}
			if k.common == 0 && !k.ij && !k.ji {
				continue
			}
			at, ok := known[k]
			if !ok {
				at = len(l.tables)
				known[k] = at
				l.tables = append(l.tables, l.table(e, k, i, j))
			}
			l.relations[i] = append(l.relations[i], relation{j, at})
		}
	}
}

// table returns the covariances of a pair like i and j.
func (l *nodes) table(e *moments, k pair, i, j int) table {
	count := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	si, sj := 1+count(k.ij), 1+count(k.ji) // up for certain
	x, y, c := k.di-count(k.ij)-k.common, k.dj-count(k.ji)-k.common, k.common
	p, q := l.p, e.q
	// One more of alone or common is up for certain, and one fewer may be.
	f := func(more [2]int, x, y, c int) float64 { return q * q * e.joint(si+more[0], sj+more[1], x, y, c) }
	up := [classes][classes]float64{
		alone: {
			own: q * f([2]int{1, 0}, x-1, y, c), alone: q * q * f([2]int{1, 1}, x-1, y-1, c),
			common: q * q * f([2]int{2, 1}, x-1, y, c-1),
		},
		common: {
			own: q * f([2]int{1, 1}, x, y, c-1), alone: q * q * f([2]int{1, 2}, x, y-1, c-1),
			common: q * q * f([2]int{2, 2}, x, y, c-2),
		},
		own: {
			own: f([2]int{}, x, y, c), alone: q * f([2]int{0, 1}, x, y-1, c), common: q * f([2]int{1, 1}, x, y, c-1),
		},
	}
	up[other] = up[own] // the other one is up as well
	var t table
	for a := range classes {
		up[a][other] = up[a][own]
		copy(t.by[a][:], up[a][:])
	}
	t.equal = q*f([2]int{1, 1}, x, y, c-1) - up[common][common]
	t.by[own][own] += p * p
	i1, j1 := e.row(k.di-count(k.ij)), e.row(k.dj-count(k.ji)) // one is up, and knows that the other is not
	for _, class := range []int{own, alone, common} {
		wj, wi := j1.other, i1.other
		if class == own {
			wj, wi = j1.self, i1.self
		}
		t.by[own][class] += p * q * wj
		t.by[class][own] += p * q * wi
	}
	mean := func(of, class int) float64 {
		if class == own {
			return l.self[of]
		}
		return l.other[of]
	}
	for a := range classes {
		for b := range classes {
			t.by[a][b] -= mean(i, a) * mean(j, b)
		}
	}
	return t
}

// partFloats is the room for sums that are added up in the end, of which there are 8 at most, and as many for any
// number of processors.
const partFloats = 1 << 25

func (l *nodes) covary(dst, m []float64) {
	n := len(l.neighbours)
	parts := max(1, min(8, partFloats/(2*n*n)))
	upper, lower := make([][]float64, parts), make([][]float64, parts)
	parallel.For(parts, func(part int) {
		upper[part], lower[part] = make([]float64, n*n), make([]float64, n*n)
		v := &visitor{nodes: l, near: make([]bool, n), far: make([]bool, n)}
		for i := part; i < n; i += parts {
			v.visit(i, m, upper[part], lower[part])
		}
	})
	for part := range parts {
		for a := range n {
			for b := range n {
				dst[a*n+b] += upper[part][a*n+b] + lower[part][b*n+a]
			}
		}
	}
	for i, around := range l.neighbours {
		ownCovariance{i, around, 1 - l.p, l.rows[i], l.self[i], l.other[i]}.addTo(dst, n, m[i*n+i])
	}
}

// visitor knows what nodes are for each of two nodes.
type visitor struct {
	*nodes
	near, far []bool // neighbours of i, and of j
	weights   [classes][]float64
}

// visit adds M[i,j]·Cov(w_i, w_j) to upper and M[j,i]·Cov(w_i, w_j) to lower, for all j > i.
func (v *visitor) visit(i int, m, upper, lower []float64) {
	n := len(v.neighbours)
	around := v.neighbours[i]
	mark := func(set []bool, nodes []int, to bool) {
		for _, a := range nodes {
			set[a] = to
		}
	}
	mark(v.near, around, true)
	for _, r := range v.relations[i] {
		j := r.node
		up, down := m[i*n+j], m[j*n+i]
		if up == 0 && down == 0 {
			continue
		}
		t := &v.tables[r.table]
		columns := v.neighbours[j]
		mark(v.far, columns, true)
		for class := range classes {
			v.weights[class] = v.weights[class][:0]
			for _, b := range columns {
				v.weights[class] = append(v.weights[class], t.by[class][v.classOf(b, i, v.near)])
			}
		}
		add := func(a, class int) {
			to, back := upper[a*n:(a+1)*n], lower[a*n:(a+1)*n]
			for c, b := range columns {
				w := v.weights[class][c]
				to[b] += up * w
				back[b] += down * w
			}
			to[j] += up * t.by[class][own]
			back[j] += down * t.by[class][own]
			if class == common {
				to[a] += up * t.equal
				back[a] += down * t.equal
			}
		}
		add(i, own)
		for _, a := range around {
			add(a, v.classOf(a, j, v.far))
		}
		mark(v.far, columns, false)
	}
	mark(v.near, around, false)
}

// classOf returns what the neighbour a of a node is to it, given the other one and its neighbours.
func (v *visitor) classOf(a, theOther int, others []bool) int {
	switch {
	case a == theOther:
		return other
	case others[a]:
		return common
	}
	return alone
}
