package canaries

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Values of the same bound by jax_privacy's formula (auditing.py, epsilon_one_run_fdp), evaluated with scipy, in μ.
func TestBoundIsTheReference(t *testing.T) {
	for _, tc := range []struct {
		m, guesses, right int
		alpha, want       float64
	}{
		{1000, 1000, 780, 0.05, 0.5277942421372372},
		{1000, 500, 420, 0.01, 0.5130592331435594},
		{1000, 250, 235, 0.05, 0.8881186163710246},
		{200, 100, 90, 0.01, 0.5965262216586749},
		{1000, 1000, 500, 0.05, 0},
		{64, 64, 64, 0.05, 1.5503567761097437},
	} {
		if got := family(gaussian).rejected(tc.m, tc.guesses, tc.right, tc.alpha); math.Abs(got-tc.want) > 1e-7*(1+tc.want) {
			t.Errorf("rejected(%d, %d, %d, %v) = %v, want %v", tc.m, tc.guesses, tc.right, tc.alpha, got, tc.want)
		}
	}
}

// One canary that is guessed right proves nothing at less than even odds: Φ(μ/2) is at least a half.
func TestOneCanaryProvesNothing(t *testing.T) {
	for _, alpha := range []float64{0.01, 0.05, 0.4} {
		if got := family(gaussian).rejected(1, 1, 1, alpha); got != 0 {
			t.Errorf("rejected(1, 1, 1, %v) = %v", alpha, got)
		}
	}
}

// Scores of a Gaussian mechanism: the bound is above its μ no more often than it may be, and not far below it.
func TestBoundIsBelowMu(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 3))
	const m, runs, alpha = 400, 100, 0.05
	for _, mu := range []float64{0, 0.5, 2} {
		above, sum := 0, 0.0
		for range runs {
			scores, in := make([]float64, m), make([]bool, m)
			for i := range scores {
				in[i] = random.IntN(2) == 1
				scores[i] = random.NormFloat64()
				if in[i] {
					scores[i] += mu
				}
			}
			bound := family(gaussian).lower(scores, in, alpha)
			sum += bound
			if bound > mu {
				above++
			}
		}
		if above > int(alpha*runs) || mu == 2 && sum/runs < 0.8 {
			t.Errorf("mu %v: %d of %d bounds are above it, their mean is %v", mu, above, runs, sum/runs)
		}
	}
}

// The quantiles that scales are compared with, in models of every size: that of Wilson and Hilferty is near.
func TestQuantilesOfLargeModels(t *testing.T) {
	for _, d := range []float64{64, 1e4, 1e6, 1e9} {
		for _, p := range []float64{1e-8, 1e-5, 1 - 1e-5, 1 - 1e-8} {
			h := 2 / (9 * d)
			want := math.Pow(1-h+distuv.UnitNormal.Quantile(p)*math.Sqrt(h), 3)
			got := meanSquare(d, p)
			if !(math.Abs(got-want) <= 0.02*math.Abs(want-1)) {
				t.Errorf("d %v, p %v: %v, want about %v", d, p, got, want)
			}
		}
	}
}

// Half of the eigenvalues of independent rows are below the median, whichever there are more of: rows or parameters.
func TestMedianOfEigenvalues(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, size := range [][2]int{{40, 4000}, {100, 160}, {120, 120}, {160, 40}} {
		rows, dim := size[0], size[1]
		z := mat.NewDense(rows, dim, nil)
		z.Apply(func(int, int, float64) float64 { return random.NormFloat64() }, z)
		var y mat.SymDense
		y.SymOuterK(1/float64(dim), z)
		found, err := energyOf(&y, dim)
		if err != nil || math.Abs(found.noise-1) > 0.05 {
			t.Errorf("%d rows of %d parameters: noise %v, %v", rows, dim, found.noise, err)
		}
	}
}
