package rational

import (
	"math/big"

	"mafalda/graph"
)

// Laplacian returns I - (D-A)/d_max in rational numbers.
func Laplacian(g *graph.Graph) [][]*big.Rat {
	n, largest := g.Nodes(), int64(0)
	for i := range n {
		largest = max(largest, int64(g.Degree(i)))
	}
	w := make([][]*big.Rat, n)
	for i := range n {
		for j := range n {
			w[i] = append(w[i], new(big.Rat))
			switch {
			case i == j:
				w[i][j].SetFrac64(largest-int64(g.Degree(i)), largest)
			case g.Adjacency().At(i, j) != 0:
				w[i][j].SetFrac64(1, largest)
			}
		}
	}
	return w
}

// Metropolis returns Metropolis weights in rational numbers.
func Metropolis(g *graph.Graph) [][]*big.Rat {
	w := Identity(g.Nodes())
	g.Adjacency().DoNonZero(func(i, j int, _ float64) {
		w[i][j].SetFrac64(1, int64(1+max(g.Degree(i), g.Degree(j))))
		w[i][i].Sub(w[i][i], w[i][j])
	})
	return w
}
