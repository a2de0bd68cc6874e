package reaction

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// game returns the value of the game in which hidden nodes choose linear answers from a grid, a ball of matrices around
// ρ of radius κ, so as to leak most: all combinations are tried. It is what Bound bounds, slowly.
func game(t *testing.T, s *System, d int, grid []*mat.Dense, node int) float64 {
	t.Helper()
	m, steps := s.Nodes, len(s.Steps)
	choice := make([]int, m*steps)
	best := 0.0
	for {
		value := explicitView(t, s, d, func(at, v int, x [][]float64) [][]float64 {
			out := make([][]float64, d)
			for c := range out {
				out[c] = make([]float64, len(x[0]))
				for l := range d {
					add(out[c], grid[choice[at*m+v]].At(c, l), x[l])
				}
			}
			return out
		}, node, []int{0})
		var eigen mat.EigenSym
		if !eigen.Factorize(value, false) {
			t.Fatal("no eigenvalues")
		}
		best = math.Max(best, eigen.Values(nil)[d-1])
		i := m // nothing reacts to the first models, which are equal
		for i < len(choice) && choice[i] == len(grid)-1 {
			choice[i] = 0
			i++
		}
		if i == len(choice) {
			return best
		}
		choice[i]++
	}
}

// The game of small networks, solved over all linear answers on a grid for models of one number, is worth no more than
// the bound; the attack finds its value.
func TestGameOnTheLine(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 4))
		s := systemOf(t, randomNetwork(r, 3), []int{2}, 3, View{Sums: r.IntN(2) == 0})
		class := randomClass(r)
		var grid []*mat.Dense
		for _, x := range []float64{-1, 0, 1} {
			grid = append(grid, mat.NewDense(1, 1, []float64{class.Rho + x*class.Kappa}))
		}
		node := r.IntN(2)
		value := game(t, s, 1, grid, node)
		got := mustBound(t, s, Victim{Node: node, Schema: listed(s, [][]int{{0}})}, class)
		if value > got.SensSquared*(1+1e-9)+1e-11 {
			rt.Fatalf("the game is worth %v, the bound is %v", value, got.SensSquared)
		}
		if got.WorstAnswer < 0.7*value-1e-11 {
			rt.Fatalf("the game is worth %v, the attack finds %v, bound %v", value, got.WorstAnswer, got.SensSquared)
		}
	})
}

// For models of two numbers answers may turn and reflect: they are worth no more.
func TestGameInThePlane(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 5))
		s := systemOf(t, randomNetwork(r, 3), []int{2}, 2, View{Sums: r.IntN(2) == 0})
		class := randomClass(r)
		var grid []*mat.Dense
		for i := range 8 {
			sin, cos := math.Sincos(2 * math.Pi * float64(i) / 8)
			sin, cos = sin*class.Kappa, cos*class.Kappa
			grid = append(grid, mat.NewDense(2, 2, []float64{class.Rho + cos, -sin, sin, class.Rho + cos}),
				mat.NewDense(2, 2, []float64{class.Rho + cos, sin, sin, class.Rho - cos}))
		}
		node := r.IntN(2)
		value := game(t, s, 2, grid, node)
		got := mustBound(t, s, Victim{Node: node, Schema: listed(s, [][]int{{0}})}, class)
		if value > got.SensSquared*(1+1e-9)+1e-11 {
			rt.Fatalf("the game is worth %v, the bound is %v", value, got.SensSquared)
		}
	})
}
