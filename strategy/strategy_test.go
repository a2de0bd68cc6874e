package strategy_test

import (
	"errors"
	"math"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/strategy"
)

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
		if _, err := strategy.NewDense(c); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestFromGramRefuses(t *testing.T) {
	indefinite := mat.NewSymDense(2, []float64{1, 2, 2, 1})
	if _, err := strategy.FromGram(indefinite); !errors.Is(err, strategy.ErrNotPositiveDefinite) {
		t.Errorf("an indefinite matrix has a factor: %v", err)
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
	if mat.EqualApprox(strategy.GramOf(must(strategy.NewDense(&textbook))), x, 1e-3) {
		t.Error("the textbook factor satisfies MᵀM = X")
	}
	c, err := strategy.FromGram(x)
	if err != nil || !mat.EqualApprox(strategy.GramOf(c), x, 1e-14) {
		t.Errorf("CᵀC is not X: %v", err)
	}
}

func TestBandedRefuses(t *testing.T) {
	if _, err := strategy.NewBanded(mat.NewDense(2, 2, []float64{1, 0, 1, 1}), 1); err == nil {
		t.Error("an entry outside the band accepted")
	}
	for _, bands := range []int{0, 3} {
		if _, err := strategy.NewBanded(mat.NewDense(2, 2, []float64{1, 0, 1, 1}), bands); err == nil {
			t.Errorf("%d bands of two steps accepted", bands)
		}
	}
	for name, d := range map[string][][]float64{"none": nil, "too many": {{1}, {}}, "short": {{1, 1}, {1, 1}},
		"NaN": {{1, math.NaN()}}, "zero": {{0}}} {
		if _, err := strategy.NewBandedFromDiagonals(d); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestToeplitzRefuses(t *testing.T) {
	for name, err := range map[string]error{
		"no coefficient":  second(strategy.NewToeplitz(3, nil, nil)),
		"too many":        second(strategy.NewToeplitz(1, []float64{1, 1}, nil)),
		"zero first":      second(strategy.NewToeplitz(3, []float64{0, 1}, nil)),
		"NaN":             second(strategy.NewToeplitz(3, []float64{1, math.NaN()}, nil)),
		"columns missing": second(strategy.NewToeplitz(3, []float64{1}, []float64{1})),
		"negative column": second(strategy.NewToeplitz(2, []float64{1}, []float64{1, -1})),
		"square root":     second(strategy.SquareRoot(3, 4)),
		"inverse":         second(strategy.BandedInverseSquareRoot(3, 4)),
		"no inverse":      second(strategy.NewBandedInverse(3, nil)),
		"BLT of no scale": second(strategy.NewBLT(3, 0, nil)),
		"BLT of no steps": second(strategy.NewBLT(0, 1, nil)),
		"BLT without end": second(strategy.NewBLT(3, 1, []strategy.Section{{A: math.Inf(1)}})),
	} {
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func second[S any](_ S, err error) error { return err }

// Parameters that are none: of no class, or of a strategy of other steps.
func TestBuildRefuses(t *testing.T) {
	for name, p := range map[string]strategy.Parameters{
		"no class":      {},
		"unknown class": {Class: "dp-d-sgd"},
		"nothing":       {Class: "toeplitz"},
		"other steps":   {Class: "banded", Diagonals: [][]float64{{1, 1}}},
		"many":          {Class: "banded-inverse", Coefficients: []float64{1, 1, 1, 1}},
		"no scale":      {Class: "blt", Sections: [][4]float64{{0.5, 0, 0.5, 0}}},
	} {
		if c, err := p.Build(3); err == nil || c != nil {
			t.Errorf("%s: %v, %v", name, c, err)
		}
	}
}

// A node that runs thousands of coefficients for many steps keeps these, and not their diagonals.
func TestFiltersOfManyCoefficientsAreSmall(t *testing.T) {
	c := make([]float64, 500)
	c[0] = 1
	toeplitz, err := strategy.NewToeplitz(20000, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	filter, err := toeplitz.Filter()
	runtime.ReadMemStats(&after)
	if made := after.TotalAlloc - before.TotalAlloc; err != nil || filter.Memory() != 499 || made > 1<<20 {
		t.Errorf("%d bytes for %d rows, %v", made, filter.Memory(), err)
	}
}
