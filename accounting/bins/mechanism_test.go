package bins

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/accounting"
	"mafalda/accounting/internal/gaussian"
	"mafalda/internal/fault"
)

// binsOf returns the mechanism whose m_j have this Gram matrix.
func binsOf(t testing.TB, n int, gram ...float64) *Mechanism {
	t.Helper()
	b, err := newBins(mat.NewSymDense(n, gram), 8)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// alike returns a Gram matrix of ones with this correlation.
func alike(n int, correlation float64) []float64 {
	gram := make([]float64, n*n)
	for i := range gram {
		gram[i] = correlation
		if i%(n+1) == 0 {
			gram[i] = 1
		}
	}
	return gram
}

// blackScholes returns E (e^(m+sZ) + c)₊ for standard normal Z.
func blackScholes(m, s, c float64) float64 {
	if c >= 0 {
		return math.Exp(m+s*s/2) + c
	}
	k := (math.Log(-c) - m) / s
	return math.Exp(m+s*s/2)*math.Erfc((k-s)/math.Sqrt2)/2 + c*math.Erfc(k/math.Sqrt2)/2
}

// pairDeltas returns both δ of two bins, by the definition and an integral over y_1, where 1/ν² = 1.
func pairDeltas(a11, a12, a22, epsilon float64) (removal, addition float64) {
	slope, rest := a12/a11, math.Sqrt(a22-a12*a12/a11)
	const step = 1e-3
	for z := -12.0; z <= 12; z += step { // y_1 = √a11 z - a11/2
		density := math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) * step
		y1 := math.Sqrt(a11)*z - a11/2
		mean := slope*math.Sqrt(a11)*z - a22/2
		removal += density * blackScholes(mean, rest, math.Exp(y1)-2*math.Exp(epsilon)) / 2
		// 1 - e^(ε+L) = (e^ε/2)(2e^-ε - e^y1 - e^y2): a put by parity
		strike := 2*math.Exp(-epsilon) - math.Exp(y1)
		put := blackScholes(mean, rest, -strike) - math.Exp(mean+rest*rest/2) + strike
		addition += density * math.Exp(epsilon) * math.Max(put, 0) / 2
	}
	return removal, addition
}

// checkEstimate fails if truth is above the bound or the estimate is more than percent away from it.
func checkEstimate(t *testing.T, name string, e Estimate, truth, percent float64) {
	t.Helper()
	if truth > e.Upper {
		t.Errorf("%s: the bound %v is below the truth %v", name, e.Upper, truth)
	}
	if math.Abs(e.Value-truth) > percent/100*truth {
		t.Errorf("%s: the estimate %v is far from %v", name, e.Value, truth)
	}
}

// Two bins of any norms and correlation, by quadrature; among them correlations of -1 would be no strategy's.
func TestTwoBinsAreTheirDefinition(t *testing.T) {
	for _, tc := range []struct{ a11, a12, a22, epsilon float64 }{
		{1, 0, 1, 1}, {1, 0.8, 1, 2}, {0.1, 0, 0.1, 0.5}, {0.05, 0.04, 0.05, 0}, {4, 1, 4, 8}, {1, 0.3, 0.25, 2},
		{0.04, 0, 0.5, 1},
	} {
		b := binsOf(t, 2, tc.a11, tc.a12, tc.a12, tc.a22)
		d, err := b.Delta(t.Context(), tc.epsilon, 1, MonteCarlo{Samples: 1 << 15})
		if err != nil {
			t.Fatal(err)
		}
		removal, addition := pairDeltas(tc.a11, tc.a12, tc.a22, tc.epsilon)
		checkEstimate(t, "removal", d.Removal, removal, 5)
		if addition > 1e-12 {
			checkEstimate(t, "addition", d.Addition, addition, 8)
		} else if d.Addition.Upper < addition {
			t.Errorf("addition: the bound %v is below the truth %v", d.Addition.Upper, addition)
		}
	}
}

// The components and the half-space are right for one bin and for many equal ones, where the truth is Gaussian.
func TestEqualBinsAreGaussian(t *testing.T) {
	for _, tc := range []struct {
		bins        int
		mu, epsilon float64
	}{{1, 0.5, 1}, {5, 0.5, 2}, {19, 2, 8}, {40, 0.1, 0.3}} {
		b := binsOf(t, tc.bins, alike(tc.bins, 1)...)
		m := newMixture(b, 1/tc.mu, tc.epsilon, 3)
		h := newHalfSpace(b, 1/tc.mu, tc.epsilon)
		_, log := gaussian.LogDelta(tc.mu, tc.epsilon)
		truth := math.Exp(log)
		o := MonteCarlo{Failure: 1e-9}
		removal := m.sample(t.Context(), stream{3, forRemoval, 0}, 1<<14)
		addition := h.sample(t.Context(), stream{3, forAddition, 0}, 1<<14)
		checkEstimate(t, "removal", estimate(sampled{removal, m.peak}, o, 1), truth, 8)
		checkEstimate(t, "addition", estimate(sampled{addition, h.peak}, o, 1), truth, 8)
	}
}

// Three orthogonal bins, by quadrature over two of them.
func TestOrthogonalBinsAreTheirDefinition(t *testing.T) {
	const a, epsilon, step = 0.8, 1.5, 0.02
	var truth float64
	for z1 := -9.0; z1 <= 9; z1 += step {
		for z2 := -9.0; z2 <= 9; z2 += step {
			known := math.Exp(math.Sqrt(a)*z1-a/2) + math.Exp(math.Sqrt(a)*z2-a/2)
			truth += math.Exp(-(z1*z1+z2*z2)/2) / (2 * math.Pi) * step * step *
				blackScholes(-a/2, math.Sqrt(a), known-3*math.Exp(epsilon)) / 3
		}
	}
	d, err := binsOf(t, 3, alike(3, 0)...).Delta(t.Context(), epsilon, 1/math.Sqrt(a), MonteCarlo{Samples: 1 << 15})
	if err != nil {
		t.Fatal(err)
	}
	checkEstimate(t, "removal", d.Removal, truth, 5)
}

func TestOneBinIsGaussianNoise(t *testing.T) {
	b, err := New(mat.NewDense(3, 3, []float64{1, 0, 0, 0.5, 1, 0, 0, 0.5, 1}), 1) // m = (1, 1.5, 1.5)
	if err != nil {
		t.Fatal(err)
	}
	mu := math.Sqrt(5.5) / 4
	d, err := b.Delta(t.Context(), 1, 4, MonteCarlo{})
	want, _ := accounting.Delta(mu, 1)
	if err != nil || d.Samples != 0 || d.Failure != 0 || d.Upper < want || d.Upper > want*(1+1e-8) {
		t.Errorf("%+v, %v; want %v", d, err, want)
	}
	e, err := b.Epsilon(t.Context(), 1e-6, 4, MonteCarlo{})
	wantEpsilon, _ := accounting.Epsilon(mu, 1e-6)
	if err != nil || e.Epsilon < wantEpsilon || e.Epsilon > wantEpsilon*(1+1e-8) || e.Failure != 0 {
		t.Errorf("%+v, %v; want %v", e, err, wantEpsilon)
	}
}

func TestNewBinsAddsColumns(t *testing.T) {
	c := mat.NewDense(4, 4, []float64{1, 0, 0, 0, 2, 3, 0, 0, 0, 0, 5, 0, 7, 0, 0, 11})
	b, err := New(c, 2)
	if err != nil {
		t.Fatal(err)
	}
	// m_0 = (1, 2, 5, 7), m_1 = (0, 3, 0, 11)
	if want := mat.NewSymDense(2, []float64{79, 83, 83, 130}); b.Number() != 2 || !mat.Equal(b.Gram(), want) {
		t.Errorf("%v", mat.Formatted(b.Gram()))
	}
}

func TestBinsRefuse(t *testing.T) {
	ones := func(v float64) mat.Matrix { return mat.NewDense(2, 2, []float64{1, 0, v, 1}) }
	if _, err := New(ones(-1e-300), 2); !errors.Is(err, ErrDomination) {
		t.Errorf("a negative entry: %v", err)
	}
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		if _, err := New(ones(v), 2); !errors.Is(err, accounting.ErrParameter) {
			t.Errorf("an entry %v: %v", v, err)
		}
	}
	if _, err := New(mat.NewDense(2, 2, nil), 2); !errors.Is(err, accounting.ErrParameter) {
		t.Errorf("no entries: %v", err)
	}
	var argument *fault.Argument
	for _, bins := range []int{0, 3} {
		if _, err := New(ones(0), bins); !errors.As(err, &argument) || argument.Field != "Bins" {
			t.Errorf("%d bins: %v", bins, err)
		}
	}
	b := binsOf(t, 2, 1, 0, 0, 1)
	ctx := t.Context()
	for name, err := range map[string]error{
		"epsilon":  second(b.Delta(ctx, -1, 1, MonteCarlo{})),
		"noise":    second(b.Delta(ctx, 1, 0, MonteCarlo{})),
		"delta":    second(b.Epsilon(ctx, 0, 1, MonteCarlo{})),
		"delta 1":  second(b.NoiseMultiplier(ctx, 1, 1, MonteCarlo{})),
		"samples":  second(b.Delta(ctx, 1, 1, MonteCarlo{Samples: 10})),
		"failure":  second(b.Delta(ctx, 1, 1, MonteCarlo{Failure: 0.6})),
		"no noise": second(b.Epsilon(ctx, 1e-6, math.NaN(), MonteCarlo{})),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func second[T any](_ T, err error) error { return err }
