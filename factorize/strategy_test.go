package factorize

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// Every strategy must be lower triangular with a positive diagonal, written completely, and inverted by NoisingTo.
func TestStrategyContract(t *testing.T) {
	for name, make := range map[string]func(t *rapid.T, steps int) Strategy{
		"dense":    func(t *rapid.T, steps int) Strategy { return randomStrategy(t, steps) },
		"identity": func(_ *rapid.T, steps int) Strategy { return Identity(steps) },
		"AntiPGD":  func(_ *rapid.T, steps int) Strategy { return AntiPGD(steps) },
	} {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			steps := rapid.IntRange(1, 9).Draw(t, "T")
			c := make(t, steps)
			if c.Steps() != steps {
				t.Fatalf("Steps = %d, want %d", c.Steps(), steps)
			}
			unwritten := func() *mat.TriDense {
				m := mat.NewTriDense(steps, mat.Lower, nil)
				for i := range steps {
					for j := range i + 1 {
						m.SetTri(i, j, math.NaN())
					}
				}
				return m
			}
			strategy, noising := unwritten(), unwritten()
			c.StrategyTo(strategy)
			if err := c.NoisingTo(noising); err != nil {
				t.Fatal(err)
			}
			var product mat.Dense
			product.Mul(strategy, noising)
			for i := range steps {
				product.Set(i, i, product.At(i, i)-1)
				if strategy.At(i, i) <= 0 {
					t.Fatalf("diagonal entry %d is %v", i, strategy.At(i, i))
				}
			}
			if norm := mat.Norm(&product, 2); !(norm < 1e-12) {
				t.Fatalf("C·C⁻¹ - I has the norm %v", norm)
			}
		}))
	}
}

func TestNewDenseRefuses(t *testing.T) {
	for name, c := range map[string]mat.Matrix{
		"empty":              &mat.Dense{},
		"not square":         mat.NewDense(1, 2, []float64{1, 0}),
		"NaN":                mat.NewDense(2, 2, []float64{1, 0, math.NaN(), 1}),
		"infinite":           mat.NewDense(2, 2, []float64{1, 0, math.Inf(1), 1}),
		"above the diagonal": mat.NewDense(2, 2, []float64{1, 1e-300, 0, 1}),
		"zero diagonal":      mat.NewDense(2, 2, []float64{1, 0, 1, 0}),
		"negative diagonal":  mat.NewDense(2, 2, []float64{1, 0, 1, -1}),
	} {
		if _, err := NewDense(c); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestStrategyFromGram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := randomStrategy(t, rapid.IntRange(1, 12).Draw(t, "T"))
		got, err := StrategyFromGram(gramOf(want))
		if err != nil {
			t.Fatal(err)
		}
		if !mat.EqualApprox(got.c, want.c, 1e-10) { // the factor is unique
			t.Fatal("C is not the factor of CᵀC")
		}
	})
	if _, err := StrategyFromGram(mat.NewSymDense(2, []float64{1, 2, 2, 1})); err == nil {
		t.Error("an indefinite matrix has a factor")
	}
}

// The textbook factor M of X = M Mᵀ is lower triangular too, and wrong: MᵀM is another matrix and loses on another H.
func TestTextbookFactorIsWrong(t *testing.T) {
	x := mat.NewSymDense(2, []float64{2, 1, 1, 1})
	var chol mat.Cholesky
	if !chol.Factorize(x) {
		t.Fatal("not positive definite")
	}
	var textbook mat.TriDense
	chol.LTo(&textbook)
	if mat.EqualApprox(gramOf(&Dense{&textbook}), x, 1e-3) {
		t.Error("the textbook factor satisfies MᵀM = X")
	}
	c, err := StrategyFromGram(x)
	if err != nil || !mat.EqualApprox(gramOf(c), x, 1e-14) {
		t.Errorf("CᵀC is not X: %v", err)
	}
}
