package randomgossip

// Neighbours is the law of nodes that average over themselves and s others, drawn uniformly from all n, 1 ≤ s < n.
//
// The mean is u I + v J, J all ones, and E[WᵀW] = E[W]. Matrices are two numbers, their eigenvalues along the vector of
// ones and across it: E[W] is (1, u), u = 1 - s/(s+1)·n/(n-1), and with the diagonal entry m of M,
//
//	M ↦ E[WᵀMW] = E[W]ᵀ M E[W] + m (E[W] - E[W]²).
type Neighbours struct {
	n      float64
	across float64 // u
}

// NewNeighbours returns the law for n nodes and s others.
func NewNeighbours(n, s int) Neighbours {
	return Neighbours{float64(n), 1 - float64(s)/float64(s+1)*float64(n)/float64(max(1, n-1))}
}

// Nodes returns the number of nodes, n.
func (l Neighbours) Nodes() float64 { return l.n }

// Mean returns E[W].
func (l Neighbours) Mean() (along, across float64) { return 1, l.across }

// Trace returns the trace of a matrix.
func (l Neighbours) Trace(along, across float64) float64 { return along + (l.n-1)*across }

// Pull returns E[WᵀMW].
func (l Neighbours) Pull(along, across float64) (float64, float64) {
	m := l.Trace(along, across) / l.n
	return along, l.across*l.across*across + m*(l.across-l.across*l.across)
}
