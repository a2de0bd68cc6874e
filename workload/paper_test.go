package workload

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
)

// messages returns the nT×nT message workload W_T: lower block-triangular Toeplitz, block (t, s) = W^(t-s), rows and
// columns sorted "time, then node". This is the definition; the error is errTooLarge beyond maxExplicit.
func messages(w *graph.CSR, steps int) (*mat.Dense, error) {
	n, _ := w.Dims()
	if n*steps > maxExplicit {
		return nil, fmt.Errorf("workload of n·T = %d·%d rows: %w (at most %d)", n, steps, errTooLarge, maxExplicit)
	}
	gossip := w.ToDense()
	block := mat.NewDense(n*steps, n*steps, nil)
	power := identity(n) // W^lag
	for lag := range steps {
		for s := 0; s+lag < steps; s++ {
			t := s + lag
			block.Slice(t*n, (t+1)*n, s*n, (s+1)*n).(*mat.Dense).Copy(power)
		}
		var next mat.Dense
		next.Mul(power, gossip)
		power = &next
	}
	return block, nil
}

// paperWorkload returns the nT×nT workload of the given kind with rows and columns sorted "time, then node": W_T for
// Message, (I ⊗ W) W_T for Model. Prefix has no network and is refused.
func paperWorkload(w *graph.CSR, steps int, kind Kind) (*mat.Dense, error) {
	block, err := messages(w, steps)
	if err != nil {
		return nil, err
	}
	switch kind {
	case Message:
		return block, nil
	case Model:
		var average, model mat.Dense
		average.Kronecker(identity(steps), w.ToDense())
		model.Mul(&average, block)
		return &model, nil
	}
	return nil, fmt.Errorf("the %v workload has no explicit network form", kind)
}

// paperGram returns H (Bellet et al., Equation 10): the explicit workload times K^(T,n), cut into the column blocks A_i
// of the nodes, and Σ A_iᵀA_i.
func paperGram(w *graph.CSR, steps int, kind Kind) (*mat.SymDense, error) {
	a, err := paperWorkload(w, steps, kind)
	if err != nil {
		return nil, err
	}
	n, _ := w.Dims()
	var byNode mat.Dense
	byNode.Mul(a, commutation(steps, n))
	h := mat.NewSymDense(steps, nil)
	for i := range n {
		h.SymRankK(h, 1, byNode.Slice(0, n*steps, i*steps, (i+1)*steps).T())
	}
	return h, nil
}

func identity(n int) *mat.Dense {
	d := mat.NewDense(n, n, nil)
	for i := range n {
		d.Set(i, i, 1)
	}
	return d
}
