package workload

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"mafalda/internal/lists"
	"mafalda/workload/randomgossip"
)

// pairs is the algebra of matrices u I + v J by two eigenvalues, along the vector of ones and across.
type pairs struct{ law randomgossip.Neighbours }

func (p pairs) size() int { return 2 }

func (p pairs) pull(_ int, x []float64) []float64 {
	along, across := p.law.Pull(x[0], x[1])
	return []float64{along, across}
}

func (p pairs) diagonal(x []float64) []float64 {
	return []float64{p.law.Trace(x[0], x[1]) / p.law.Nodes()}
}

func (p pairs) addDiagonal(x, d []float64) {
	x[0] += d[0]
	x[1] += d[0]
}

func (p pairs) meanBack(_ int, x []float64) []float64 {
	_, mean := p.law.Mean()
	return []float64{x[0], mean * x[1]}
}

func (p pairs) transpose([]float64) {}

func (p pairs) descend(y [][]float64, path []crossing) {
	_, mean := p.law.Mean()
	for l := len(path) - 1; l >= 0; l-- {
		c := path[l]
		for range c.rounds {
			for _, x := range y {
				x[1] *= mean
			}
		}
		cross(y, c)
		for i, x := range y {
			c.traces[i] += p.law.Trace(x[0], x[1])
		}
	}
}

// descendWith knows that all nodes are alike.
func (p pairs) descendWith(y [][]float64, _, width int, path []crossing, visit func(l int, diagonals [][]float64)) {
	own := lists.Map(y, slices.Clone[[]float64])
	p.descend(own, path)
	diagonals := make([][]float64, len(y))
	for l, c := range path {
		for k := range y {
			diagonals[k] = slices.Repeat([]float64{c.traces[k] / p.law.Nodes()}, width)
		}
		visit(l, diagonals)
	}
}

// cross is what a crossing does besides gossip.
func cross(y [][]float64, c crossing) {
	if len(y) == 2 && c.rate != 0 {
		for i, v := range y[0] {
			y[1][i] -= c.rate * v
		}
	}
	if c.keep != 1 {
		floats.Scale(c.keep, y[0])
	}
}
