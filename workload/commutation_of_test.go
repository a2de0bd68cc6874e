package workload

import "mafalda/graph"

// commutationIndex returns the permutation p behind the commutation matrix K^(r,c): (K^(r,c) v)[i] = v[p[i]], for
// vectors v of length rc. By definition K^(r,c) vec(Z) = vec(Zᵀ) for every r×c matrix Z, where vec stacks columns.
//
// commutationIndex(T, n) takes a vector sorted "node, then time" to one sorted "time, then node"; as a factor on the
// right, A K^(T,n) sorts the columns of A the other way round, by node.
func commutationIndex(r, c int) []int {
	p := make([]int, r*c)
	for i := range r {
		for j := range c {
			p[i*c+j] = j*r + i // Zᵀ is c×r: its entry (j, i) stands at i·c+j, and in vec(Z) at j·r+i
		}
	}
	return p
}

// commutation returns K^(r,c) as an rc×rc sparse permutation matrix. Its transpose and inverse is K^(c,r), and
//
//	K^(p,m) (X ⊗ Y) = (Y ⊗ X) K^(q,n)      for X of m×n and Y of p×q.
//
// Appendix D of Bellet et al. prints K^(n,T) (X ⊗ Y) = (Y ⊗ X) K^(T,n): that holds for X of T×n and Y of n×T. For the
// square X (n×n) and Y (T×T) named there the same matrix K^(T,n) stands on both sides.
func commutation(r, c int) *graph.CSR {
	indices := commutationIndex(r, c)
	indptr := make([]int, r*c+1)
	data := make([]float64, r*c)
	for i := range data {
		indptr[i+1] = i + 1
		data[i] = 1
	}
	return graph.NewCSR(r*c, r*c, indptr, indices, data)
}
