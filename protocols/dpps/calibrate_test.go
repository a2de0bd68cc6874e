package dpps

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/graph"
)

// With calibrated constants the estimate holds, whatever is averaged and added.
func TestCalibratedEstimateHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSequence(t, 8)
		sync := rapid.SampledFrom([]int{0, 1, 3, 5}).Draw(t, "sync")
		c, err := s.Calibrate(context.Background(), sync, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.C < 1 {
			t.Fatalf("constants %+v", c)
		}
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "run"), 5))
		d := rapid.IntRange(1, 3).Draw(t, "d")
		o := Options{Plan: Plan{B: rapid.Float64Range(5, 500).Draw(t, "b"), NoiseRate: 1, Sync: sync},
			Calibration: Calibration{Constants: c.Constants}, NoNoise: rapid.Bool().Draw(t, "quiet")}
		switch rapid.IntRange(0, 2).Draw(t, "estimate") {
		case 0:
			o.Calibration = c
		case 1:
			o.Calibration = c
			o.Calibration.C = 1e9 // the window alone
		}
		p, err := NewPushSum(s, drawVectors(r, s.Nodes(), d, 1), o, r)
		if err != nil {
			t.Fatal(err)
		}
		for range 30 {
			var added [][]float64
			if r.IntN(2) == 0 {
				added = drawVectors(r, s.Nodes(), d, 1)
			}
			if _, err := p.Round(added); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// The condition on C′ is the right one: an adversary that spends the same S_j at every node, where the condition says
// that it pays most, has messages as far apart as the necessary constant says, and any smaller constant is refused by
// the run itself.
func TestSmallerConstantsAreUnsound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSequence(t, 6)
		products, err := s.products(context.Background(), 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		slowest := math.Pow(mixed, 1/float64(len(products.lags)))
		// C' is below 1e4, and rounding below 1e-6
		lambda := rapid.Float64Range(max(slowest, 0.4), 0.99).Draw(t, "lambda")
		necessary, enough, err := s.SoundConstant(context.Background(), lambda, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		if necessary < 1-1e-12 || enough < necessary {
			t.Fatalf("necessary %g, enough %g", necessary, enough)
		}
		values, perturbations, rounds := attack(s, products, lambda)
		run := func(c float64) error {
			p, err := NewPushSum(s, values, Options{Calibration: Calibration{Constants: Constants{c, lambda}},
				NoNoise: true}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := range rounds {
				if _, err = p.Round(perturbations[i]); err != nil {
					return err
				}
			}
			return nil
		}
		if err := run(necessary * (1 - 1e-4)); !errors.Is(err, ErrSensitivity) {
			t.Fatalf("C' = %g below the necessary %g: %v", necessary*(1-1e-4), necessary, err)
		}
		if math.IsInf(enough, 1) {
			return
		}
		if err := run(enough); err != nil {
			t.Fatalf("C' = %g: %v", enough, err)
		}
	})
}

// attack returns what nodes add to be as far apart as their S_j allow, for the worst pair, phase and lags of the
// products.
func attack(s *Sequence, p *products, lambda float64) (values [][]float64, perturbations [][][]float64, rounds int) {
	n := s.Nodes()
	lags := len(p.lags)
	type choice struct {
		lag  int
		size float64
	}
	var best []choice
	bestSum, bestEnd := 0.0, 0
	for e := range s.Period() {
		for a := range n {
			for b := range n {
				choices, sum := make([]choice, n), 0.0
				for j := range n {
					var most float64
					for lag := range lags {
						phi := p.lags[lag][e]
						diff := phi.At(a, j) - phi.At(b, j)
						if v := math.Abs(diff) * math.Pow(lambda, -float64(lag)); v > most {
							most = v
							choices[j] = choice{lag, math.Copysign(math.Pow(lambda, -float64(lag)), diff)}
						}
					}
					sum += most
				}
				if sum > bestSum {
					bestSum, best, bestEnd = sum, choices, e
				}
			}
		}
	}
	end := bestEnd
	for end < lags {
		end += s.Period()
	}
	zero := func() [][]float64 {
		v := make([][]float64, n)
		for i := range v {
			v[i] = []float64{0}
		}
		return v
	}
	values = zero()
	for range end + 1 {
		perturbations = append(perturbations, zero())
	}
	for j, c := range best {
		perturbations[end-c.lag][j][0] = c.size
	}
	return values, perturbations, end + 1
}

// Two nodes at +1 and -1: round 0, C′ = 0.78. The paper's estimate is 1.56, the messages are 2 apart.
func TestPaperConstantsFailOnTwoNodes(t *testing.T) {
	s, err := DOut(2, 2)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	p, err := NewPushSum(s, [][]float64{{1}, {-1}}, Options{Plan: Plan{B: 5, NoiseRate: 1},
		Calibration: Calibration{Constants: PaperConstants()}}, r)
	if err != nil {
		t.Fatal(err)
	}
	report, err := p.Round(nil)
	if !errors.Is(err, ErrSensitivity) || report.Real != 2 || math.Abs(report.Estimated-1.56) > 1e-9 {
		t.Errorf("%+v, %v", report, err)
	}
}

// C′ and λ that bound every τ_s are not enough for Equation 22, whose sums are each node's own: four nodes of which
// each adds something once.
func TestOwnSumsNeedMore(t *testing.T) {
	s, err := DOut(4, 2)
	if err != nil {
		t.Fatal(err)
	}
	products, err := s.products(context.Background(), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	const lambda = 0.9
	geometric := 0.0
	for lag, tau := range products.ergodic {
		geometric = max(geometric, tau*math.Pow(lambda, -float64(lag)))
	}
	values := [][]float64{{0}, {0}, {0}, {0}}
	p, err := NewPushSum(s, values, Options{Calibration: Calibration{Constants: Constants{geometric, lambda}},
		NoNoise: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	// nodes 1 and 3 receive from 0 and 2
	if _, err := p.Round([][]float64{{1}, {0}, {-1}, {0}}); err != nil {
		t.Fatal(err)
	}
	report, err := p.Round([][]float64{{0}, {1}, {0}, {-1}})
	if !errors.Is(err, ErrSensitivity) || math.Abs(report.Real-3) > 1e-12 {
		t.Errorf("with C' = %g, which bounds every tau: %+v, %v", geometric, report, err)
	}
}

// Weights whose rows sum to 1 up to rounding only move nodes apart that start together; the estimate covers it.
func TestWeightsWithDefects(t *testing.T) {
	w := graph.NewCSRFromDense(mat.NewDense(2, 2, []float64{0.5 + 4e-10, 0.5, 0.5, 0.5 - 4e-10}))
	s, err := NewSequence(numbers(2), []*graph.CSR{w})
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Calibrate(context.Background(), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPushSum(s, [][]float64{{1}, {1}}, Options{Calibration: c, NoNoise: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if _, err := p.Round(nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := NewPushSum(s, [][]float64{{1}, {1}}, Options{Calibration: Calibration{Constants: c.Constants,
		Horizon: 5}, NoNoise: true}, nil); err == nil {
		t.Error("a calibration for five rounds is used for ever")
	}
}
