package ppac

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
)

// Recover computes the value of a node from what a coalition has seen in a run, if it can: the attack behind Case 2
// of Fereydounian et al. and Recoverable. It uses the coalition's own fragments, those it received, and its
// neighbours' messages, nothing else. The error, which wraps ErrNetwork, says that the graph hides the value, or that
// the run is too short.
//
// The neighbours s of the head outside of the coalition A talk to the head and to A only. So the coalition knows how
// their values and the head's go on, v(t+1) = W v(t) + what A sends, and solves its observations for Σ v_s(0), the
// sum of what they received: all fragments of the head but those it received itself, and fragments of its own.
func (p *Protocol) Recover(run *Run, coalition []int, head int) (float64, error) {
	if !recoveredBy(p.neighbours, coalition, head) || slices.Contains(coalition, head) {
		return 0, fmt.Errorf("%w: the value of node %s is not recovered", ErrNetwork, p.graph.Label(head))
	}
	inside := func(v int) bool { return slices.Contains(coalition, v) }
	var value float64
	cluster, received := []int{head}, 0.0
	for at, s := range p.neighbours[head] {
		if inside(s) {
			value += run.Fragments[head][at]
			continue
		}
		cluster = append(cluster, s)
		for _, a := range p.neighbours[s] {
			if inside(a) {
				received += run.Fragments[a][slices.Index(p.neighbours[a], s)]
			}
		}
	}
	if len(cluster) == 1 {
		return value, nil
	}
	sum, err := p.solveCluster(run, cluster, inside)
	return value + sum - received, err
}

// solveCluster returns the sum of v_s(0) over the cluster without its first node, from what the coalition sees of the
// cluster: the observations M v(0) that have weights x with Mᵀx = wanted.
func (p *Protocol) solveCluster(run *Run, cluster []int, inside func(int) bool) (float64, error) {
	c := len(cluster)
	within := mat.NewDense(c, c, nil) // W on the cluster
	var visible []int
	for i, u := range cluster {
		for j, v := range cluster {
			within.Set(i, j, p.weights.Matrix.At(u, v))
		}
		if slices.ContainsFunc(p.neighbours[u], inside) {
			visible = append(visible, i)
		}
	}
	wanted := mat.NewVecDense(c, slices.Repeat([]float64{1}, c))
	wanted.SetVec(0, 0)
	driven := mat.NewVecDense(c, nil) // the part of v(t) on the cluster that comes from A
	power := dense.Identity(c)
	var rows, seen []float64
	for t, now := range run.Values {
		for _, i := range visible {
			rows = append(rows, power.RawRowView(i)...)
			seen = append(seen, now[cluster[i]]-driven.AtVec(i))
		}
		weights, miss := combine(mat.NewDense(len(seen), c, rows).T(), wanted)
		if miss < 1e-9 {
			return mat.Dot(weights, mat.NewVecDense(len(seen), seen)), nil
		}
		next, product := mat.NewVecDense(c, nil), new(mat.Dense)
		next.MulVec(within, driven)
		for i, u := range cluster {
			p.weights.Matrix.DoRowNonZero(u, func(_, v int, x float64) {
				if inside(v) {
					next.SetVec(i, next.AtVec(i)+x*run.Values[t][v])
				}
			})
		}
		dense.Mul(product, power, within)
		driven, power = next, product
	}
	return 0, fmt.Errorf("%w: %d rounds are too few to recover the value of node %s", ErrNetwork, len(run.Values),
		p.graph.Label(cluster[0]))
}

// combine returns weights x with Mx = wanted as nearly as the singular values of M above 1e-10 allow, and how far it is
// from that: +Inf if they do not converge.
func combine(m mat.Matrix, wanted *mat.VecDense) (x *mat.VecDense, miss float64) {
	var svd mat.SVD
	if !svd.Factorize(m, mat.SVDThin) {
		return nil, math.Inf(1)
	}
	x = new(mat.VecDense)
	svd.SolveVecTo(x, wanted, svd.Rank(1e-10))
	var rest mat.VecDense
	rest.MulVec(m, x)
	rest.SubVec(&rest, wanted)
	return x, mat.Norm(&rest, 2)
}
