package dpps

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/graph"
)

// drawSequence draws weight matrices that are averages of the identity and a few permutations.
func drawSequence(t *rapid.T, most int) *Sequence {
	n := rapid.IntRange(2, most).Draw(t, "n")
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "permutations"), 4))
	for {
		var weights []*graph.CSR
		for range 1 + r.IntN(3) {
			w := mat.NewDense(n, n, nil)
			parts := 2 + r.IntN(2)
			for part := range parts {
				order := r.Perm(n)
				for i := range n {
					j := order[i]
					if part == 0 {
						j = i
					}
					w.Set(i, j, w.At(i, j)+1/float64(parts))
				}
			}
			weights = append(weights, graph.NewCSRFromDense(w))
		}
		if s, err := NewSequence(numbers(n), weights); err == nil {
			return s
		}
	}
}

func drawVectors(r *rand.Rand, n, d int, scale float64) [][]float64 {
	v := make([][]float64, n)
	for i := range v {
		size := scale * math.Exp(3*r.NormFloat64())
		for range d {
			v[i] = append(v[i], size*r.NormFloat64())
		}
	}
	return v
}

// With calibrated constants the estimate holds, whatever is averaged and added.
func TestCalibratedEstimateHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSequence(t, 8)
		sync := rapid.SampledFrom([]int{0, 1, 3, 5}).Draw(t, "sync")
		c, err := s.Calibrate(context.Background(), CalibrateOptions{Horizon: sync})
		if err != nil {
			t.Fatal(err)
		}
		if c.C < 1 {
			t.Fatalf("constants %+v", c)
		}
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "run"), 5))
		d := rapid.IntRange(1, 3).Draw(t, "d")
		o := Options{Calibration: Calibration{Constants: c.Constants}, B: rapid.Float64Range(5, 500).Draw(t, "b"), NoiseRate: 1, Sync: sync, NoNoise: rapid.Bool().Draw(t, "quiet")}
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

// The window is the definition: all lags, with coefficients that are products beyond the last one.
func TestWindowIsItsSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tau := []float64{1}
		for range rapid.IntRange(1, 5).Draw(t, "lags") {
			tau = append(tau, rapid.Float64Range(0, 1).Draw(t, "tau"))
		}
		last := len(tau) - 1
		var coefficient func(s int) float64
		coefficient = func(s int) float64 {
			if s < last {
				return tau[s]
			}
			return tau[last] * coefficient(s-last)
		}
		w := &window{tau: tau}
		var added []float64
		for range 20 {
			now := rapid.Float64Range(0, 10).Draw(t, "now")
			want := now
			for k, m := range added {
				want += coefficient(len(added)-k) * m
			}
			if got := w.estimate(now); math.Abs(got-2*want) > 1e-9*want {
				t.Fatalf("round %d: %g, must be %g", len(added), got, 2*want)
			}
			with := now + rapid.Float64Range(0, 10).Draw(t, "noise")
			w.finish(with)
			added = append(added, with)
		}
	})
}

// The condition on C′ is the right one: an adversary that spends the same S_j at every node, where the condition says that it pays most,
// has messages as far apart as the necessary constant says, and any smaller constant is refused by the run itself.
func TestSmallerConstantsAreUnsound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSequence(t, 6)
		products, err := s.products(context.Background(), CalibrateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		slowest := math.Pow(mixed, 1/float64(len(products.lags)))
		lambda := rapid.Float64Range(max(slowest, 0.4), 0.99).Draw(t, "lambda") // C' is below 1e4, and rounding below 1e-6
		necessary, enough, err := s.SoundConstant(context.Background(), lambda, CalibrateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if necessary < 1-1e-12 || enough < necessary {
			t.Fatalf("necessary %g, enough %g", necessary, enough)
		}
		values, perturbations, rounds := attack(s, products, lambda)
		run := func(c float64) error {
			p, err := NewPushSum(s, values, Options{Calibration: Calibration{Constants: Constants{c, lambda}}, NoNoise: true}, nil)
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

// attack returns what nodes add to be as far apart as their S_j allow, for the worst pair, phase and lags of the products.
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
	p, err := NewPushSum(s, [][]float64{{1}, {-1}}, Options{Calibration: Calibration{Constants: PaperConstants()}, B: 5, NoiseRate: 1}, r)
	if err != nil {
		t.Fatal(err)
	}
	report, err := p.Round(nil)
	if !errors.Is(err, ErrSensitivity) || report.Real != 2 || math.Abs(report.Estimated-1.56) > 1e-9 {
		t.Errorf("%+v, %v", report, err)
	}
}

// C′ and λ that bound every τ_s are not enough for Equation 22, whose sums are each node's own: four nodes of which each adds
// something once.
func TestOwnSumsNeedMore(t *testing.T) {
	s, err := DOut(4, 2)
	if err != nil {
		t.Fatal(err)
	}
	products, err := s.products(context.Background(), CalibrateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	const lambda = 0.9
	geometric := 0.0
	for lag, tau := range products.ergodic {
		geometric = max(geometric, tau*math.Pow(lambda, -float64(lag)))
	}
	values := [][]float64{{0}, {0}, {0}, {0}}
	p, err := NewPushSum(s, values, Options{Calibration: Calibration{Constants: Constants{geometric, lambda}}, NoNoise: true}, nil)
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

func TestSequences(t *testing.T) {
	for n := 2; n <= 20; n++ {
		s, err := Exponential(n)
		if err != nil {
			t.Fatal(err)
		}
		if want := int(math.Log2(float64(n-1))) + 1; s.Period() != want {
			t.Errorf("exp:%d repeats after %d rounds, must be %d", n, s.Period(), want)
		}
		for t0 := range s.Period() {
			for i := range n {
				if got := s.Weights(t0).At((i+1<<t0)%n, i); got < 0.5 {
					t.Errorf("exp:%d round %d: node %d gives %g to the one 2^%d further", n, t0, i, got, t0)
				}
			}
		}
	}
	s, err := DOut(10, 4)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		for j := range 10 {
			want := 0.0
			if (j-i+10)%10 < 4 {
				want = 0.25
			}
			if got := s.Weights(0).At(j, i); got != want {
				t.Errorf("4-out: weight %g from %d to %d, must be %g", got, i, j, want)
			}
		}
	}
}

// Without noise everybody gets the average; with 2^p nodes on the exponential graph in p rounds; and the scalars stay 1.
func TestPushSumAverages(t *testing.T) {
	s, err := Exponential(8)
	if err != nil {
		t.Fatal(err)
	}
	values := [][]float64{{1, 8}, {2, 7}, {3, 6}, {4, 5}, {5, 4}, {6, 3}, {7, 2}, {8, 1}}
	p, err := NewPushSum(s, values, Options{Calibration: Calibration{Constants: Constants{1, 0.9}}, NoNoise: true, Estimate: Real}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := p.Round(nil); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 8 {
		if y := p.Corrected(i); y[0] != 4.5 || y[1] != 4.5 || p.scalars[i] != 1 {
			t.Errorf("node %d has %v and the scalar %g", i, y, p.scalars[i])
		}
	}
	if values[0][0] != 1 {
		t.Error("the values that were passed in have changed")
	}
}

// The noise of a message has the scale γS/b in every coordinate: mean magnitude and mean square.
func TestLaplaceNoise(t *testing.T) {
	s, err := DOut(2, 2)
	if err != nil {
		t.Fatal(err)
	}
	const d = 200_000
	r := rand.New(rand.NewPCG(7, 7))
	p, err := NewPushSum(s, [][]float64{make([]float64, d), make([]float64, d)}, Options{Estimate: Real, B: 4, NoiseRate: 3}, r)
	if err != nil {
		t.Fatal(err)
	}
	p.addNoise(8.0 / 4)
	var sum, magnitude, squares float64
	for _, x := range p.shared[0] {
		sum += x / d
		magnitude += math.Abs(x) / d
		squares += x * x / d
	}
	const scale = 3 * 8.0 / 4
	if math.Abs(sum) > 6*scale*math.Sqrt2/math.Sqrt(d) || math.Abs(magnitude-scale) > 6*scale/math.Sqrt(d) || math.Abs(squares-2*scale*scale) > 6*scale*scale*math.Sqrt(20)/math.Sqrt(d) {
		t.Errorf("mean %g, mean magnitude %g, mean square %g; scale %g", sum, magnitude, squares, scale)
	}
	if math.Abs(p.noise[0]/d-magnitude) > 1e-9 {
		t.Errorf("noted a norm of %g, it is %g", p.noise[0], d*magnitude)
	}
}

// Max-consensus takes as many rounds as it needs, and no fewer.
func TestMaxConsensus(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSequence(t, 9)
		start := rapid.IntRange(0, s.Period()-1).Draw(t, "start")
		rounds := s.floodRounds(start)
		short := true
		for winner := range s.Nodes() {
			values := make([]float64, s.Nodes())
			values[winner] = 1
			for _, v := range s.MaxConsensus(values, start, rounds) {
				if v != 1 {
					t.Fatalf("after %d rounds somebody holds %g", rounds, v)
				}
			}
			for _, v := range s.MaxConsensus(values, start, rounds-1) {
				short = short && v == 1
			}
		}
		if short {
			t.Fatalf("%d rounds, but one less is enough", rounds)
		}
	})
}

func TestReadSequence(t *testing.T) {
	s, err := ReadSequence(strings.NewReader("# two rounds\r\na b\r\nb c\r\nc a\r\n\r\n\r\nb a\r\na c\r\nc b\r\n"), "two.txt", OutDegree)
	if err != nil {
		t.Fatal(err)
	}
	if s.Period() != 2 || fmt.Sprint(s.Labels()) != "[a b c]" || s.Weights(0).At(1, 0) != 0.5 || s.Weights(1).At(0, 1) != 0.5 || s.Weights(0).At(0, 1) != 0 {
		t.Errorf("%d rounds of %v", s.Period(), s.Labels())
	}
	if s, err = ReadSequence(strings.NewReader("a b\n\nb c\n"), "m.txt", MetropolisWeights); err != nil || s.Weights(1).At(0, 0) != 1 {
		t.Errorf("Metropolis: %v", err)
	}
	for name, c := range map[string]struct{ text, want string }{
		"not doubly stochastic": {"a b\nb c\nc a\na c\n", "round 0"},
		"second round":          {"a b\nb a\n\na b\n", "round 1"},
		"disconnected union":    {"a b\nb a\n\nc d\nd c\n", "reaches every other"},
		"weights":               {"a b 3\n", "s.txt:1"},
		"empty":                 {"# nothing\n", "no edges"},
		"long line":             {strings.Repeat("x", 1<<17), "s.txt:1"},
	} {
		if _, err := ReadSequence(strings.NewReader(c.text), "s.txt", OutDegree); !errors.Is(err, ErrNetwork) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPushSumRefuses(t *testing.T) {
	s, err := DOut(3, 2)
	if err != nil {
		t.Fatal(err)
	}
	good := Options{Calibration: Calibration{Constants: Constants{1, 0.5}}, B: 1, NoiseRate: 1}
	for name, change := range map[string]func(o *Options){
		"b = 0": func(o *Options) { o.B = 0 }, "b < 0": func(o *Options) { o.B = -1 }, "b NaN": func(o *Options) { o.B = math.NaN() },
		"noise rate": func(o *Options) { o.NoiseRate = 0 }, "lambda": func(o *Options) { o.Calibration.Lambda = 1 },
		"C'": func(o *Options) { o.Calibration.C = math.NaN() }, "sync": func(o *Options) { o.Sync = -1 },
	} {
		o := good
		change(&o)
		if _, err := NewPushSum(s, [][]float64{{1}, {2}, {3}}, o, nil); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	for _, values := range [][][]float64{{{1}, {2}}, {{1}, {2, 3}, {4}}, {{}, {}, {}}} {
		if _, err := NewPushSum(s, values, good, nil); !errors.Is(err, ErrNetwork) {
			t.Errorf("values %v: %v", values, err)
		}
	}
	if _, err := DOut(4, 5); !errors.Is(err, ErrNetwork) {
		t.Errorf("5-out of 4 nodes: %v", err)
	}
	if _, err := Exponential(1); !errors.Is(err, ErrNetwork) {
		t.Errorf("exp:1: %v", err)
	}
	// slow mixing is refused with a way out, instead of eating the memory
	if slow, err := DOut(20, 2); err != nil {
		t.Error(err)
	} else if _, err := slow.Calibrate(context.Background(), CalibrateOptions{most: 1e4}); !errors.Is(err, ErrTooLarge) ||
		!errors.As(err, new(*SizeError)) || !strings.Contains(err.Error(), "20 nodes that mix slowly") {
		t.Errorf("20 nodes that mix slowly: %v", err)
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Calibrate(cancelled, CalibrateOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Rounds do not compose for those who hear the broadcasts: S of round 1 holds the size of the noise that hid the answer of round 0. The
// attacker knows the values, sees one answer, and asks whether S is what node 0's noise would make of it.
func TestBroadcastsBreakComposition(t *testing.T) {
	s, err := DOut(10, 2)
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Calibrate(context.Background(), CalibrateOptions{Horizon: 5})
	if err != nil {
		t.Fatal(err)
	}
	var values [][]float64
	for i := range 10 {
		values = append(values, []float64{float64(i%2)*2 - 1})
	}
	const runs = 2000
	o := Options{Calibration: c, B: 0.25, NoiseRate: 1, Sync: 5}
	var hits [2]int // by who has answered
	for seed := range uint64(runs) {
		p, err := NewPushSum(s, values, o, rand.New(rand.NewPCG(seed, 5)))
		if err != nil {
			t.Fatal(err)
		}
		first, err := p.Round(nil)
		if err != nil {
			t.Fatal(err)
		}
		second, err := p.Round(nil)
		if err != nil {
			t.Fatal(err)
		}
		again := rand.New(rand.NewPCG(seed, 5)) // the same noise, to have the messages
		for who := range hits {
			size := first.Estimated / o.B * again.ExpFloat64()
			if again.Uint64()&1 == 0 {
				size = -size
			}
			answer := values[who][0] + size
			noise := math.Abs(answer - values[0][0])
			predicted := min(2*c.C*c.Lambda*(1+noise), 2*c.Ergodicity[1]*(1+noise))
			if math.Abs(second.Estimated-predicted) < 1e-9*predicted {
				hits[who]++
			}
		}
	}
	// two rounds of 0.25 would allow e^0.5 times as often as with node 1, and δ more
	if hits[0] < runs/20 || hits[1] != 0 {
		t.Errorf("of %d runs S fits node 0's noise %d times when it has answered, %d times when node 1 has", runs, hits[0], hits[1])
	}
}

// Weights whose rows sum to 1 up to rounding only move nodes apart that start together; the estimate covers it.
func TestWeightsWithDefects(t *testing.T) {
	w := graph.NewCSRFromDense(mat.NewDense(2, 2, []float64{0.5 + 4e-10, 0.5, 0.5, 0.5 - 4e-10}))
	s, err := NewSequence(numbers(2), []*graph.CSR{w})
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Calibrate(context.Background(), CalibrateOptions{})
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
	if _, err := NewPushSum(s, [][]float64{{1}, {1}}, Options{Calibration: Calibration{Constants: c.Constants, Horizon: 5}, NoNoise: true}, nil); err == nil {
		t.Error("a calibration for five rounds is used for ever")
	}
}
