package factorize

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/internal/dense"
	"mafalda/participation"
)

// drawResponses draws modes that decay, and mostly one that does not.
func drawResponses(t *rapid.T, steps int) [][]float64 {
	var all [][]float64
	for range rapid.IntRange(1, 4).Draw(t, "responses") {
		theta := rapid.SampledFrom([]float64{1, 0.98, 0.7, 0.3, -0.2, -0.9}).Draw(t, "theta")
		r, v := make([]float64, steps), rapid.Float64Range(0.2, 3).Draw(t, "size")
		for i := range r {
			r[i], v = v, v*theta
		}
		all = append(all, r)
	}
	return all
}

// stacked returns R_0, R_1, … one below the other.
func stacked(responses [][]float64, steps int) *mat.Dense {
	all := mat.NewDense(len(responses)*steps, steps, nil)
	for j, r := range responses {
		for t := range steps {
			for s := range t + 1 {
				all.Set(j*steps+t, s, r[t-s])
			}
		}
	}
	return all
}

func gramOf(r *mat.Dense) *mat.SymDense {
	_, steps := r.Dims()
	h := mat.NewSymDense(steps, nil)
	dense.SymOuterK(h, 1, r.T())
	return h
}

func completeSchema(t *rapid.T, most int) participation.Cyclic {
	k := rapid.IntRange(1, 6).Draw(t, "k")
	b := rapid.IntRange(1, most/k).Draw(t, "b")
	schema, err := participation.NewCyclic(k*b, k, b)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// The definition: for any F with blocks of any numbers, what the small matrices show is at most the nuclear norm of
// R F, and all of it where every piece has as many polynomials as steps.
func TestLongBoundIsBelowTheNuclearNorm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schema := completeSchema(t, 48)
		k, b := schema.Participations(), schema.Separation()
		p := pieces{k: k, b: b, c: rapid.IntRange(1, b).Draw(t, "c")}
		p.window = rapid.IntRange(1, k).Draw(t, "window")
		p.length = b / p.c
		p.more = rapid.IntRange(0, p.c).Draw(t, "more")
		steps := schema.Steps() + p.more*p.length
		responses := drawResponses(t, steps)
		p.responses = responses
		var f []*mat.Dense
		whole := mat.NewDense(steps, steps, nil)
		var budget float64
		for i := range p.c {
			n := p.periods(i)
			own := mat.NewDense(n, n, nil)
			largest := make([]float64, (n+p.window-1)/p.window)
			for m := range n {
				var square float64
				for o := m / p.window * p.window; o < min(n, m/p.window*p.window+p.window); o++ {
					v := rapid.Float64Range(-1, 1).Draw(t, "F")
					own.Set(m, o, v)
					square += v * v
					for x := range p.length {
						whole.Set(m*b+i*p.length+x, o*b+i*p.length+x, v)
					}
				}
				largest[m/p.window] = math.Max(largest[m/p.window], square)
			}
			f = append(f, own)
			budget += floats.Sum(largest) * float64(p.length)
		}
		if budget < 1e-3 {
			return
		}
		count := rapid.IntRange(1, p.length).Draw(t, "p")
		c, err := p.coarsen(count)
		if err != nil {
			t.Fatal(err)
		}
		bound, _, err := c.evaluate(f)
		if errors.Is(err, errEigen) { // numbers from 1e-150 to 1
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		var product mat.Dense
		product.Mul(stacked(responses, steps), whole)
		var svd mat.SVD
		svd.Factorize(&product, mat.SVDNone)
		var nuclear float64
		for _, v := range svd.Values(nil) {
			nuclear += v
		}
		exact := nuclear * nuclear / budget
		if bound > exact*(1+1e-12) || count == p.length && b%p.c == 0 && bound < exact*(1-1e-4) {
			t.Fatalf("T = %d, k = %d, %d pieces, %d polynomials: bound %v, ‖RF‖²/Σy = %v", steps, k, p.c, count, bound, exact)
		}
	})
}

// Eigenvalues that gonum gets wrong, of a matrix with numbers from 1e-215 to 80, make no bound.
func TestWrongEigenvaluesMakeNoBound(t *testing.T) {
	responses := make([][]float64, 4)
	for j, theta := range []float64{1, -0.9, 0.7, 1} {
		v := []float64{3, 3, 1, 0.5}[j]
		for range 5 {
			responses[j] = append(responses[j], v)
			v *= theta
		}
	}
	p := pieces{responses: responses, k: 5, b: 1, c: 1, length: 1, window: 1}
	c, err := p.coarsen(1)
	if err != nil {
		t.Fatal(err)
	}
	f := mat.NewDense(5, 5, nil)
	for i, v := range []float64{6.812735744013041e-108, 1, 1.463023860841312e-98, 0.125, 1} {
		f.Set(i, i, v)
	}
	if bound, _, err := c.evaluate([]*mat.Dense{f}); err == nil && bound > 85 {
		t.Errorf("bound %v, ‖RF‖²/Σy = 84.7", bound)
	}
}

// No bound is above the optimum, whatever the responses, nor above the loss of the strategy that the certificate of the
// optimum is made with; with one residue it is the optimum.
func TestLongBoundIsBelowTheOptimum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schema := completeSchema(t, 40)
		responses := drawResponses(t, schema.Steps())
		h := gramOf(stacked(responses, schema.Steps()))
		bound, err := LongBound(context.Background(), responses, schema)
		if err != nil {
			t.Fatal(err)
		}
		best, err := Dense{}.Optimize(context.Background(), Mean(h), schema, Options{})
		if err != nil {
			t.Fatal(err)
		}
		least := 0.95
		if schema.Separation() == 1 {
			least = 0.9999
		}
		if loss := best.Quality.Loss; bound > loss || bound < least*best.LowerBound {
			t.Fatalf("%v: bound %v, the optimum's loss %v", schema, bound, loss)
		}
	})
}

// Steps whose noise costs nothing change no bound: the last one of a response that begins a step later, and all of one
// that is zero.
func TestStepsThatCostNothingChangeNoBound(t *testing.T) {
	const steps = 12
	later := make([]float64, steps+1)
	for i := range steps {
		later[i+1] = math.Pow(0.9, float64(i))
	}
	of := func(response []float64) float64 {
		schema, err := participation.NewCyclic(len(response), 1, len(response))
		if err != nil {
			t.Fatal(err)
		}
		bound, err := LongBound(context.Background(), [][]float64{response}, schema)
		if err != nil {
			t.Fatal(err)
		}
		return bound
	}
	if got, want := of(later), of(later[1:]); math.Abs(got/want-1) > 1e-8 {
		t.Errorf("with a step that costs nothing %v, without %v", got, want)
	}
	if got := of(make([]float64, steps)); got != 0 {
		t.Errorf("where nothing costs anything, %v", got)
	}
}

// Steps beyond whole periods count, too; more periods than matrices have room for are an error.
func TestLongBoundOfOtherSchemas(t *testing.T) {
	of := func(steps, k, b int) (float64, error) {
		schema, err := participation.NewCyclic(steps, k, b)
		if err != nil {
			t.Fatal(err)
		}
		ones := make([]float64, steps)
		for i := range ones {
			ones[i] = 1
		}
		return LongBound(context.Background(), [][]float64{ones}, schema)
	}
	whole, err := of(60, 3, 20)
	longer, err2 := of(70, 4, 20)
	if err != nil || err2 != nil || longer <= whole || longer > 2*whole || !(whole > 0) {
		t.Errorf("%v, %v, with ten steps more %v, %v", whole, err, longer, err2)
	}
	if _, err := of(2000, 1000, 2); !errors.Is(err, ErrTooManyPeriods) {
		t.Errorf("a thousand periods: %v", err)
	}
	pieces, err := of(1100, 1, 1100) // two pieces
	least := math.Pow(math.Log(1100)/math.Pi, 2) * 1100
	if err != nil || pieces < least {
		t.Errorf("a single participation in 1,100 steps: %v, %v, at least %v", pieces, err, least)
	}
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	schema, _ := participation.NewCyclic(4, 2, 2)
	if _, err := LongBound(canceled, [][]float64{{1, 1, 1, 1}}, schema); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := LongBound(context.Background(), [][]float64{{1, 1}}, schema); err == nil {
		t.Error("a response of two of four steps is accepted")
	}
}
