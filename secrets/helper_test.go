package secrets

import (
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// drawNoise draws noise of n nodes on a random secret graph.
func drawNoise(t *rapid.T, n int) *Noise {
	noise := &Noise{}
	deviation := rapid.Float64Range(0.01, 3)
	for range n {
		noise.Own = append(noise.Own, deviation.Draw(t, "own"))
	}
	for u := range n {
		for v := u + 1; v < n; v++ {
			if rapid.Bool().Draw(t, "pair") {
				noise.Pairs = append(noise.Pairs, Shared{Pair{u, v}, deviation.Draw(t, "shared")})
			}
		}
	}
	return noise
}

func drawAttackers(t *rapid.T, n int) *Attackers {
	if rapid.Bool().Draw(t, "all of a size") {
		a, err := Colluding(n, rapid.IntRange(0, n).Draw(t, "size"))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	var list [][]int
	for range rapid.IntRange(0, 6).Draw(t, "coalitions") {
		nodes := rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 0, n-1, rapid.ID).Draw(t, "coalition")
		list = append(list, nodes)
	}
	a, err := NewAttackers(n, list)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// unknown is M_A by the definition: every source of noise is a column; those that A knows are left out.
func unknown(noise *Noise, coalition []int) (*mat.Dense, []int) {
	n := len(noise.Own)
	var others []int
	for i := range n {
		if !slices.Contains(coalition, i) {
			others = append(others, i)
		}
	}
	var columns [][]float64
	for _, i := range others {
		c := make([]float64, n)
		c[i] = noise.Own[i]
		columns = append(columns, c)
	}
	for _, p := range noise.Pairs {
		if slices.Contains(coalition, p.U) || slices.Contains(coalition, p.V) {
			continue
		}
		c := make([]float64, n)
		c[p.U], c[p.V] = p.Deviation, -p.Deviation
		columns = append(columns, c)
	}
	sources := mat.NewDense(len(others), len(columns), nil)
	for j, c := range columns {
		for r, i := range others {
			sources.Set(r, j, c[i])
		}
	}
	var m mat.Dense
	m.Mul(sources, sources.T())
	return &m, others
}

// exactWorst is max [M_A⁻¹]_vv over all who are allowed and all nodes outside, by their weights, in rational numbers.
func exactWorst(noise *Noise, a *Attackers) *big.Rat {
	worst := new(big.Rat)
	for _, coalition := range allowed(a) {
		exact := exactDiagonal(noise, coalition)
		for v := range noise.Own {
			if slices.Contains(coalition, v) {
				continue
			}
			value := new(big.Rat).Mul(exact[0], new(big.Rat).SetFloat64(a.Weight(v)))
			if exact = exact[1:]; value.Cmp(worst) > 0 {
				worst = value
			}
		}
	}
	return worst
}

// exactDiagonal is the diagonal of M_A⁻¹ by elimination.
func exactDiagonal(noise *Noise, coalition []int) []*big.Rat {
	var others []int
	at := map[int]int{}
	for i := range noise.Own {
		if !slices.Contains(coalition, i) {
			at[i] = len(others)
			others = append(others, i)
		}
	}
	n := len(others)
	m := make([][]*big.Rat, n) // M_A, and the identity
	for i := range m {
		m[i] = make([]*big.Rat, 2*n)
		for j := range m[i] {
			m[i][j] = new(big.Rat)
		}
		m[i][n+i].SetInt64(1)
		m[i][i] = square(noise.Own[others[i]])
	}
	for _, p := range noise.Pairs {
		u, inU := at[p.U]
		v, inV := at[p.V]
		if !inU || !inV {
			continue
		}
		e := square(p.Deviation)
		m[u][u].Add(m[u][u], e)
		m[v][v].Add(m[v][v], e)
		m[u][v].Sub(m[u][v], e)
		m[v][u].Sub(m[v][u], e)
	}
	for i := range n {
		inverse := new(big.Rat).Inv(m[i][i])
		for j := range m[i] {
			m[i][j].Mul(m[i][j], inverse)
		}
		for r := range m {
			if r == i {
				continue
			}
			factor := new(big.Rat).Set(m[r][i])
			for j := range m[r] {
				m[r][j].Sub(m[r][j], new(big.Rat).Mul(factor, m[i][j]))
			}
		}
	}
	diagonal := make([]*big.Rat, n)
	for i := range diagonal {
		diagonal[i] = m[i][n+i]
	}
	return diagonal
}

func square(x float64) *big.Rat {
	r := new(big.Rat).SetFloat64(x)
	return r.Mul(r, r)
}

func writeFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// allowed returns every coalition, and every part of one: who may put together what they know.
func allowed(a *Attackers) [][]int {
	var all [][]int
	for _, c := range a.Coalitions() {
		for set := range 1 << len(c) {
			var part []int
			for i, v := range c {
				if set>>i&1 == 1 {
					part = append(part, v)
				}
			}
			all = append(all, part)
		}
	}
	return all
}
