package ppac

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"
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
// cluster.
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
	wanted := slices.Repeat([]float64{1}, c)
	wanted[0] = 0
	driven := make([]float64, c) // the part of v(t) on the cluster that comes from A
	power := dense.Identity(c)
	var rows, seen []float64
	for t := range run.Values {
		for _, i := range visible {
			rows = append(rows, power.RawRowView(i)...)
			seen = append(seen, run.Values[t][cluster[i]]-driven[i])
		}
		var svd mat.SVD
		if !svd.Factorize(mat.NewDense(len(seen), c, rows), mat.SVDThin) {
			return 0, fmt.Errorf("recovering node %s: singular values did not converge", p.graph.Label(cluster[0]))
		}
		weights := combine(&svd, wanted)
		if miss(weights, rows, wanted) < 1e-9 {
			var sum float64
			for i, w := range weights {
				sum += w * seen[i]
			}
			return sum, nil
		}
		next := make([]float64, c)
		for i, u := range cluster {
			for j := range c {
				next[i] += within.At(i, j) * driven[j]
			}
			p.weights.Matrix.DoRowNonZero(u, func(_, v int, x float64) {
				if inside(v) {
					next[i] += x * run.Values[t][v]
				}
			})
		}
		driven = next
		var product mat.Dense
		dense.Mul(&product, power, within)
		power.Copy(&product)
	}
	return 0, fmt.Errorf("%w: %d rounds are too few to recover the value of node %s", ErrNetwork, len(run.Values),
		p.graph.Label(cluster[0]))
}

// combine returns weights x with xᵀM = wanted as nearly as the singular values of M above 1e-10 allow.
func combine(svd *mat.SVD, wanted []float64) []float64 {
	var u, v mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	rows, _ := u.Dims()
	weights := make([]float64, rows)
	values := svd.Values(nil)
	for k, s := range values {
		if s <= 1e-10*values[0] {
			break
		}
		var along float64
		for i, x := range wanted {
			along += v.At(i, k) * x
		}
		for i := range weights {
			weights[i] += along / s * u.At(i, k)
		}
	}
	return weights
}

// miss returns how far a combination of rows is from what is wanted.
func miss(weights, rows, wanted []float64) float64 {
	sum := slices.Clone(wanted)
	for i, x := range weights {
		floats.AddScaled(sum, -x, rows[i*len(wanted):(i+1)*len(wanted)])
	}
	return floats.Norm(sum, 2)
}
