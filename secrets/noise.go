package secrets

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Shared is the noise of a pair: U adds it, V subtracts it.
type Shared struct {
	Pair
	Deviation float64 // standard deviation, a coordinate of a row
}

// Noise is what n nodes draw in a step, as standard deviations of a coordinate: the numbers that are exported and drawn
// with.
type Noise struct {
	Own   []float64 // standard deviation of every node's own noise
	Pairs []Shared  // ascending by U, then V
}

// smallest and largest deviations: their squares, and sums and products of these, are far from the ends of float64.
const (
	smallestDeviation = 0x1p-200
	largestDeviation  = 0x1p200
)

// Check refuses what cannot be drawn: deviations that are negative, not finite, or far from any scale (zero is none of
// that), and pairs that are out of range, out of order, or there twice.
func (n *Noise) Check() error {
	bad := func(d float64) bool { return d != 0 && !(d >= smallestDeviation && d <= largestDeviation) }
	for i, d := range n.Own {
		if bad(d) {
			return fmt.Errorf("own noise of node %d has the standard deviation %v", i, d)
		}
	}
	for i, p := range n.Pairs {
		switch {
		case p.U < 0 || p.V >= len(n.Own) || p.U >= p.V:
			return fmt.Errorf("noise of the pair (%d,%d) of %d nodes", p.U, p.V, len(n.Own))
		case i > 0 && comparePairs(n.Pairs[i-1].Pair, p.Pair) >= 0:
			return fmt.Errorf("noise of the pair (%d,%d) is out of order or there twice", p.U, p.V)
		case bad(p.Deviation):
			return fmt.Errorf("noise of the pair (%d,%d) has the standard deviation %v", p.U, p.V, p.Deviation)
		}
	}
	return nil
}

// Nodes returns the number of nodes, n.
func (n *Noise) Nodes() int { return len(n.Own) }

// Scaled returns the noise with all deviations times factor, rounded.
func (n *Noise) Scaled(factor float64) *Noise {
	scaled := &Noise{Own: slices.Clone(n.Own), Pairs: slices.Clone(n.Pairs)}
	for i := range scaled.Own {
		scaled.Own[i] *= factor
	}
	for i := range scaled.Pairs {
		scaled.Pairs[i].Deviation *= factor
	}
	return scaled
}

// Covariance returns M, n×n.
func (n *Noise) Covariance() *mat.SymDense {
	m, _ := n.Unknown(nil)
	return m
}

// Unknown returns M_A, the covariance of what the coalition does not know of the others' noise, and the others, ascending.
// It is empty if there are no others.
func (n *Noise) Unknown(coalition []int) (*mat.SymDense, []int) {
	outside := slices.Repeat([]bool{true}, len(n.Own))
	for _, a := range coalition {
		outside[a] = false
	}
	others := indices(outside)
	if len(others) == 0 {
		return &mat.SymDense{}, nil
	}
	at := make([]int, len(n.Own))
	m := mat.NewSymDense(len(others), nil)
	for row, i := range others {
		at[i] = row
		m.SetSym(row, row, n.Own[i]*n.Own[i])
	}
	for _, p := range n.Pairs {
		if !outside[p.U] || !outside[p.V] {
			continue
		}
		u, v, e := at[p.U], at[p.V], p.Deviation*p.Deviation
		m.SetSym(u, u, m.At(u, u)+e)
		m.SetSym(v, v, m.At(v, v)+e)
		m.SetSym(u, v, -e)
	}
	return m, others
}
