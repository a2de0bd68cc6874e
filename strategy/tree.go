package strategy

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// Tree returns the strategy of binary tree aggregation over T steps (Dwork et al. 2010), decoded optimally (Honaker
// 2015). The mechanism adds noise to every node of a binary tree over the steps: its encoder is a matrix with a row a
// tree node, one where the node covers the step. Only the Gram matrix of the encoder matters for sensitivity and error;
// X[s,t] is the number of tree nodes that cover both steps, and the lower-triangular factor of X is the strategy. With
// a T that is no power of two the tree has the next power of two as leaves, without the nodes that cover no step.
func Tree(steps int) (*Dense, error) {
	if steps < 1 {
		return nil, fmt.Errorf("tree over %d steps", steps)
	}
	x := mat.NewSymDense(steps, nil)
	for size := 1; ; size *= 2 { // tree nodes of one level cover size steps each
		for s := range steps {
			for t := s; t < min((s/size+1)*size, steps); t++ {
				x.SetSym(s, t, x.At(s, t)+1)
			}
		}
		if size >= steps {
			break
		}
	}
	return FromGram(x)
}
