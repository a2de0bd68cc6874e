package strategy_test

import (
	"math"
	"math/cmplx"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/internal/lists"
	_ "mafalda/internal/seeded"
	"mafalda/strategy"
)

// The square root of the prefix workload squares to it.
func TestSquareRoot(t *testing.T) {
	const steps = 20
	c := lowerOf(must(strategy.SquareRoot(steps, steps)))
	var square mat.Dense
	square.Mul(c, c)
	for i := range steps {
		for j := range i + 1 {
			if math.Abs(square.At(i, j)-1) > 1e-13 {
				t.Fatalf("C²[%d,%d] = %v", i, j, square.At(i, j))
			}
		}
	}
}

// BISR has the first coefficients of (1-x)^½ for C⁻¹, and no others.
func TestBandedInverseSquareRoot(t *testing.T) {
	want := []float64{1, -0.5, -0.125, -0.0625}
	for _, bands := range []int{1, 2, 4} {
		inverse := inverseOf(t, must(strategy.BandedInverseSquareRoot(16, bands)))
		for j := range 16 {
			w := 0.0
			if j < bands {
				w = want[j]
			}
			if math.Abs(inverse.At(j, 0)-w) > 1e-12 {
				t.Errorf("%d bands: C⁻¹[%d,0] = %v, want %v", bands, j, inverse.At(j, 0), w)
			}
		}
	}
}

// Of a tree over T = 2^d steps, every step is in d+1 nodes; X is EᵀE for the encoder E.
func TestTree(t *testing.T) {
	x := strategy.GramOf(must(strategy.Tree(16)))
	for s := range 16 {
		if math.Abs(x.At(s, s)-5) > 1e-12 {
			t.Errorf("step %d is in %v nodes of the tree over 16", s, x.At(s, s))
		}
	}
	for steps := 1; steps <= 20; steps++ {
		var rows [][2]int
		for size := 1; size < 2*steps; size *= 2 {
			for from := 0; from < steps; from += size {
				rows = append(rows, [2]int{from, min(from+size, steps)})
			}
		}
		e := mat.NewDense(len(rows), steps, nil)
		for i, r := range rows {
			for s := r[0]; s < r[1]; s++ {
				e.Set(i, s, 1)
			}
		}
		var want mat.Dense
		want.Mul(e.T(), e)
		c, err := strategy.Tree(steps)
		if err != nil || !mat.EqualApprox(strategy.GramOf(c), &want, 1e-12) {
			t.Errorf("T = %d: CᵀC is not EᵀE (%v)", steps, err)
		}
	}
	if _, err := strategy.Tree(0); err == nil {
		t.Error("a tree over nothing")
	}
}

// The coefficients of a BLT follow from its poles and their weights.
func TestBLTBuffers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		blt := drawBLT(t, 9)
		p := blt.Parameters()
		complexOf := func(x [2]float64) complex128 { return complex(x[0], x[1]) }
		theta, omega, c0 := lists.Map(p.Theta, complexOf), lists.Map(p.Omega, complexOf), p.Scale
		if len(omega) < p.Buffers {
			return // poles coincide
		}
		for i, a := range theta {
			for _, b := range theta[:i] {
				if cmplx.Abs(a-b) < 1e-2 {
					return // weights of nearly equal poles cancel
				}
			}
			if cmplx.Abs(a) < 1e-2 {
				return
			}
		}
		for j, c := range blt.Series() {
			want := complex(c0, 0)
			if j > 0 {
				want = 0
				for i := range theta {
					want += omega[i] * cmplx.Pow(theta[i], complex(float64(j-1), 0))
				}
			}
			if cmplx.Abs(want-complex(c, 0)) > 1e-6*(1+math.Abs(c)) {
				t.Fatalf("c_%d = %v, by the poles %v", j, c, want)
			}
		}
	})
}
