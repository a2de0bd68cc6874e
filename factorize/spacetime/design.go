package spacetime

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/lists"
	"mafalda/secrets"
)

// design is the problem for a fixed strategy, as numbers: the variables are the own variances of the nodes 0..n-1, and
// after them the variances of the pairs.
type design struct {
	nodes   int
	pairs   []secrets.Pair
	threats []secrets.Threat
	touched [][]int   // pairs that touch the attacker of each threat, as indices of variables
	cost    []float64 // tr(KM) = costᵀx
	unit    float64   // what K was divided by
	limit   []float64 // upper limit of every variable
	weight  []float64 // weight of every node: [M_A⁻¹]_vv may be 1/weight
}

// newDesign returns the problem of minimizing tr(KM).
func newDesign(k *mat.SymDense, s Setting) *design {
	n := s.Secrets.Nodes()
	own := lists.Make(n, func(i int) float64 { return k.At(i, i) })
	return newDesignOf(slices.Concat(own, lists.Map(s.Secrets.Pairs(), func(p secrets.Pair) float64 {
		return math.Max(0, own[p.U]+own[p.V]-2*k.At(p.U, p.V))
	})), s)
}

// newDesignOf returns the problem for given costs of the variables, which are rescaled in place.
func newDesignOf(costs []float64, s Setting) *design {
	n := s.Secrets.Nodes()
	d := &design{nodes: n, pairs: s.Secrets.Pairs(), threats: s.Attackers.Threats(), cost: costs,
		unit: floats.Sum(costs[:n]) / float64(n), limit: make([]float64, len(costs)),
		weight: lists.Make(n, s.Attackers.Weight)}
	floats.Scale(1/d.unit, d.cost)
	for i := range d.limit {
		switch cost := d.cost[i]; {
		case i >= n:
			d.limit[i] = s.largestPair()
		case cost > 0:
			d.limit[i] = math.Max(largestOwn, float64(n)/cost)
		default: // pairs protect no better than the same variance of their other node alone, which costs the same
			d.limit[i] = largestOwn
		}
	}
	d.touch()
	return d
}

// touch finds out which pairs touch whom.
func (d *design) touch() {
	n := d.nodes
	touching := make([][]int, n)
	for i, p := range d.pairs {
		touching[p.U] = append(touching[p.U], n+i)
		touching[p.V] = append(touching[p.V], n+i)
	}
	d.touched = make([][]int, len(d.threats))
	for t, threat := range d.threats {
		for _, a := range threat.Attacker {
			d.touched[t] = append(d.touched[t], touching[a]...) // pairs within the coalition are there twice
		}
	}
}

// part returns the problem with some of the pairs, ascending indices.
func (d *design) part(kept []int) *design {
	n := d.nodes
	p := &design{nodes: n, threats: d.threats, unit: d.unit, weight: d.weight,
		cost: slices.Clone(d.cost[:n]), limit: slices.Clone(d.limit[:n])}
	for _, i := range kept {
		p.pairs = append(p.pairs, d.pairs[i])
		p.cost = append(p.cost, d.cost[n+i])
		p.limit = append(p.limit, d.limit[n+i])
	}
	p.touch()
	return p
}

// size returns the number of variables.
func (d *design) size() int { return len(d.cost) }

// variances returns M_ii for the variables x.
func (d *design) variances(x []float64) []float64 {
	all := slices.Clone(x[:d.nodes])
	for i, p := range d.pairs {
		all[p.U] += x[d.nodes+i]
		all[p.V] += x[d.nodes+i]
	}
	return all
}

// rowTo writes (b_iᵀz)² to dst for every variable i that the threat's attacker does not know: the derivative by x of
// reach = 1/(ω_v [M_A⁻¹]_vv), for z = M_A⁻¹d_v/([M_A⁻¹]_vv √ω_v), which is zero on A.
func (d *design) rowTo(dst, z []float64, threat int) {
	for i, v := range z {
		dst[i] = v * v
	}
	pairs := dst[d.nodes:]
	for i, p := range d.pairs {
		v := z[p.U] - z[p.V]
		pairs[i] = v * v
	}
	for _, i := range d.touched[threat] {
		dst[i] = 0
	}
}
