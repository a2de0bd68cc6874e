package participation

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

func symmetric(n int, upper ...float64) *mat.SymDense {
	x := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			x.SetSym(i, j, upper[0])
			upper = upper[1:]
		}
	}
	return x
}

// prefixGram is the strategy Gram matrix of AntiPGD: C = ones below and on the diagonal, X[s,t] = T - max(s,t).
func prefixGram(steps int) *mat.SymDense {
	x := mat.NewSymDense(steps, nil)
	for s := range steps {
		for t := s; t < steps; t++ {
			x.SetSym(s, t, float64(steps-t))
		}
	}
	return x
}

func cyclic(t *testing.T, k, b int) [][]int {
	s, err := NewCyclic(k*b, k, b)
	if err != nil {
		t.Fatal(err)
	}
	return s.Patterns()
}

func TestSensitivity(t *testing.T) {
	identity := mat.NewSymDense(6, nil)
	for i := range 6 {
		identity.SetSym(i, i, 1)
	}
	for name, tc := range map[string]struct {
		x     *mat.SymDense
		k, b  int
		want  float64
		exact bool
	}{
		"identity, k = 1": {identity, 1, 6, 1, true},
		"identity, k = 3": {identity, 3, 2, 3, true},
		"AntiPGD, single": {prefixGram(6), 1, 6, 6, true},
		"AntiPGD, k = 2":  {prefixGram(6), 2, 3, 6 + 3 + 2*3, true},
		// |c₀ - c₁|², contributions of opposite sign
		"opposite signs":          {symmetric(2, 2, -1, 1), 2, 1, 5, true},
		"signs that balance":      {symmetric(3, 1, -0.5, 0.25, 1, -0.5, 1), 3, 1, 3 + 2*1.25, true},
		"signs that do not":       {symmetric(3, 1, -0.25, -0.25, 1, -0.25, 1), 3, 1, 3 + 2*0.75, false},
		"largest column last":     {symmetric(2, 1, 0, 4), 1, 2, 4, true},
		"indefinite is no matter": {symmetric(1, 3), 1, 1, 3, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := SumBound(tc.x, cyclic(t, tc.k, tc.b))
			if err != nil || got.Squared != tc.want || got.Exact != tc.exact {
				t.Errorf("SumBound = %+v, %v; want %v, exact %v", got, err, tc.want, tc.exact)
			}
		})
	}
}

func TestSensitivityErrors(t *testing.T) {
	x := symmetric(2, 1, math.NaN(), 1)
	if _, err := SumBound(x, cyclic(t, 2, 1)); err == nil {
		t.Error("NaN accepted")
	}
	if _, err := SumBound(symmetric(2, 1, 0, 1), [][]int{{0, 2}}); err == nil {
		t.Error("a step outside the matrix accepted")
	}
	if _, err := SumBound(symmetric(2, 1, 0, 1), nil); err == nil {
		t.Error("no patterns accepted")
	}
	if _, err := SumBound(symmetric(2, 1, 0, 1), [][]int{{}}); err == nil {
		t.Error("an empty pattern accepted")
	}
}

// The definition for parallel contributions: all 2^k sign vectors; and for vector contributions: random unit rows. The
// reported bound must cover both, and equal the first where it is called exact.
func TestSensitivityAgainstDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k, b := rapid.IntRange(1, 6).Draw(t, "k"), rapid.IntRange(1, 3).Draw(t, "b")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		s, _ := NewCyclic(k*b, k, b)
		c := mat.NewDense(k*b, k*b, nil)
		c.Apply(func(i, j int, _ float64) float64 { return rng.NormFloat64() }, c)
		x := mat.NewSymDense(k*b, nil)
		x.SymOuterK(1, c.T())
		got, err := SumBound(x, s.Patterns())
		if err != nil {
			t.Fatal(err)
		}
		var signs float64
		for _, pattern := range s.Patterns() {
			for bits := range 1 << k {
				g := mat.NewVecDense(k*b, nil)
				for i, step := range pattern {
					g.SetVec(step, 1-2*float64(bits>>i&1))
				}
				signs = math.Max(signs, mat.Inner(g, x, g))
			}
			g := mat.NewDense(k*b, 4, nil) // contributions in four dimensions
			for _, step := range pattern {
				row := g.RawRowView(step)
				for j := range row {
					row[j] = rng.NormFloat64()
				}
				v := mat.NewVecDense(4, row)
				v.ScaleVec(1/mat.Norm(v, 2), v)
			}
			var cg mat.Dense
			cg.Mul(c, g)
			if change := math.Pow(mat.Norm(&cg, 2), 2); change > got.Squared*(1+1e-12) {
				t.Fatalf("sens² %v is below the change %v of a vector contribution", got.Squared, change)
			}
		}
		if got.Squared < signs*(1-1e-12) || got.Attained > signs*(1+1e-12) {
			t.Fatalf("[%v, %v] does not hold the definition %v", got.Attained, got.Squared, signs)
		}
		if k <= 2 && !got.Exact {
			t.Fatalf("k = %d is always exact: %+v", k, got)
		}
	})
}
