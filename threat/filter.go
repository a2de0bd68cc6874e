package threat

import (
	"gonum.org/v1/gonum/mat"

	"mafalda/strategy"
)

// longestFilter is the memory up to which a filter is worth its larger state.
const longestFilter = 32

// filterOf returns the filter of a strategy, nil if it has none of a small memory.
func filterOf(c strategy.Strategy) strategy.Filter {
	if kept := c.NodeCost().Floats; kept > longestFilter || kept >= c.Steps() {
		return nil
	}
	f, err := c.Filter()
	if err != nil {
		return nil
	}
	return f
}

// stateSpace returns what a filter does in step t as matrices: it makes a node's correlated noise ξ = C⁻¹z of white
// noise and the numbers p that it keeps,
//
//	ξ_t = Λ_t p_t + δ_t z_t,     p_{t+1} = Φ_t p_t + Ψ_t z_t,     p_0 = 0,
//
// which shows when it runs with unit vectors.
func stateSpace(f strategy.Filter, t int) (phi *mat.Dense, psi, lambda []float64, delta float64) {
	memory := f.Memory()
	kept := make([][]float64, memory)
	for i := range kept {
		kept[i] = make([]float64, memory+1)
		kept[i][i] = 1
	}
	z, row := make([]float64, memory+1), make([]float64, memory+1)
	z[memory] = 1
	f.StepTo(row, z, kept, t)
	if memory == 0 {
		return nil, nil, nil, row[0]
	}
	phi, psi = mat.NewDense(memory, memory, nil), make([]float64, memory)
	for i, k := range kept {
		phi.SetRow(i, k[:memory])
		psi[i] = k[memory]
	}
	return phi, psi, row[:memory], row[memory]
}
