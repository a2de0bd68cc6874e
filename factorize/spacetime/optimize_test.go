package spacetime

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/factorize"
	"mafalda/internal/fault"
	"mafalda/optim"
	"mafalda/secrets"
	"mafalda/strategy"
)

func optimize(t testing.TB, p Problem, o Options) *Result {
	t.Helper()
	r, err := Optimize(context.Background(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// checkResult recomputes what a result says of itself.
func checkResult(t *testing.T, p Problem, r *Result) {
	t.Helper()
	ctx := context.Background()
	worst, err := r.Noise.Worst(ctx, p.Attackers)
	if err != nil || worst.Value != r.Worst.Value || worst.Value > 1 {
		t.Errorf("worst %v, said to be %v (%v)", worst, r.Worst, err)
	}
	sens, err := strategy.Sensitivity(r.Time.Strategy, p.Schema)
	if err != nil || sens.Squared > 1 {
		t.Errorf("sens² is %v (%v)", sens.Squared, err)
	}
	k, err := p.spaceGram(ctx, r.Time.Strategy)
	if err != nil {
		t.Fatal(err)
	}
	var product mat.Dense
	product.Mul(k, r.Noise.Covariance())
	if want := mat.Trace(&product) * sens.Squared; math.Abs(r.Loss/want-1) > 1e-9 {
		t.Errorf("loss %v, want %v", r.Loss, want)
	}
	if r.Loss > r.LDP.Loss*(1+1e-6) {
		t.Errorf("loss %v, without secrets %v", r.Loss, r.LDP.Loss)
	}
	other := space(t, k, p.Setting, SpaceOptions{Gap: 1e-7})
	if r.SpaceBound > other.Loss*(1+1e-9) || r.SpaceBound < other.LowerBound*(1-1e-3) {
		t.Errorf("space bound %v; the optimum is between %v and %v", r.SpaceBound, other.LowerBound, other.Loss)
	}
}

// Ratios to the loss without secrets, uniform gossip, T = 16, k = b = 4, single curious nodes: from an independent
// program (numpy, soft maximum that hardens, L-BFGS), the best of four alternations.
func TestOptimizeAgainstAnotherProgram(t *testing.T) {
	for name, want := range map[string]float64{
		"florentine":  543.4928062155007 / 620.5785166836226,
		"cycle:12":    524.1791427001893 / 577.3559365332877,
		"complete:8":  30.812326529416566 / 215.58630259755802,
		"hypercube:3": 267.44975372301514 / 324.79269816262797,
	} {
		t.Run(name, func(t *testing.T) {
			p := problem(t, name, 16, 4)
			r := optimize(t, p, Options{})
			checkResult(t, p, r)
			if ratio := r.Loss / r.LDP.Loss; ratio > want*(1+1e-4) || ratio < want*(1-1e-3) {
				t.Errorf("ratio %v, want %v", ratio, want)
			}
			if r.Status != optim.Converged || r.SpaceGap > 1e-4 || r.Time.Gap > 1e-6 {
				t.Errorf("%v, gaps %v and %v", r.Status, r.SpaceGap, r.Time.Gap)
			}
			joint, err := JointLowerBound(context.Background(), p, r)
			if err != nil {
				t.Fatal(err)
			}
			if joint > r.Loss || joint < 0.88*r.Loss {
				t.Errorf("joint bound %v of the loss %v", joint, r.Loss)
			}
			if name == "complete:8" && joint < r.Loss*(1-1e-4) {
				t.Errorf("joint bound %v of the loss %v", joint, r.Loss)
			}
		})
	}
}

// Every class of strategies alternates, and none comes below the joint bound.
func TestOptimizeEveryClass(t *testing.T) {
	p := problem(t, "cycle:6", 8, 2)
	dense := optimize(t, p, Options{})
	joint, err := JointLowerBound(context.Background(), p, dense)
	if err != nil {
		t.Fatal(err)
	}
	for _, class := range factorize.Classes() {
		t.Run(class.Name(), func(t *testing.T) {
			p.Class = class
			r := optimize(t, p, Options{})
			checkResult(t, p, r)
			if r.Time.Strategy.Name() != class.Name() || r.SpaceGap > 1e-4 {
				t.Errorf("%s strategy, gap %v", r.Time.Strategy.Name(), r.SpaceGap)
			}
			if r.Loss < joint || r.Loss < dense.Loss*(1-1e-4) {
				t.Errorf("loss %v; dense %v, joint bound %v", r.Loss, dense.Loss, joint)
			}
		})
	}
}

// A run that goes on from a state ends where the uninterrupted run did; a state holds the run's noise and strategy.
func TestOptimizeGoesOn(t *testing.T) {
	p := problem(t, "florentine", 8, 2)
	var states []*State
	whole := optimize(t, p, Options{Progress: func(it Iteration) {
		if it.State != nil {
			states = append(states, it.State)
		}
	}})
	for _, at := range []int{0, len(states) / 2, len(states) - 1} {
		r := optimize(t, p, Options{State: states[at]})
		if math.Abs(r.Loss/whole.Loss-1) > 1e-4 || r.SpaceGap > 1e-4 {
			t.Errorf("from state %d of %d: loss %v, gap %v; want %v", at, len(states), r.Loss, r.SpaceGap, whole.Loss)
		}
	}
	last := states[len(states)-1]
	if r := optimize(t, p, Options{State: last}); r.Rounds[0].SpaceSteps > 3 {
		t.Errorf("from the end %d steps are taken", r.Rounds[0].SpaceSteps)
	}
}

func TestOptimizeEndsWithTheContext(t *testing.T) {
	p := problem(t, "florentine", 8, 2)
	why := errors.New("enough")
	for name, tc := range map[string]struct {
		round int
		space bool
		none  bool // there is no pair yet
	}{"before": {0, false, true}, "first noise": {1, true, true}, "first strategy": {1, false, false},
		"second noise": {2, true, false}} {
		ctx, cancel := context.WithCancelCause(context.Background())
		r, err := Optimize(ctx, p, Options{Gap: 1e-7, Progress: func(it Iteration) {
			if it.Round == tc.round && it.Space == tc.space && it.Count >= 1 {
				cancel(why)
			}
		}})
		switch {
		case tc.none:
			if !errors.Is(err, why) {
				t.Errorf("%s: error %v", name, err)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case r.Status != optim.Interrupted || r.Worst.Value > 1 || r.SpaceBound > r.Loss:
			t.Errorf("%s: %v, worst %v, loss %v ≥ %v", name, r.Status, r.Worst, r.Loss, r.SpaceBound)
		}
		cancel(nil)
	}
	few := optimize(t, problem(t, "hypercube:3", 8, 2), Options{Rounds: 1, Gap: 1e-7})
	if few.Status != optim.IterationLimit || len(few.Rounds) != 2 || few.SpaceGap < 1e-7 {
		t.Errorf("%v after %d rounds, gap %v", few.Status, len(few.Rounds), few.SpaceGap)
	}
}

func TestOptimizeRefuses(t *testing.T) {
	good := problem(t, "cycle:4", 4, 2)
	other := problem(t, "cycle:5", 6, 2)
	for name, change := range map[string]func(p *Problem, o *Options){
		"no workload":     func(p *Problem, _ *Options) { p.Workload = nil },
		"no schema":       func(p *Problem, _ *Options) { p.Schema = nil },
		"other schema":    func(p *Problem, _ *Options) { p.Schema = other.Schema },
		"no class":        func(p *Problem, _ *Options) { p.Class = nil },
		"no secrets":      func(p *Problem, _ *Options) { p.Secrets = nil },
		"other secrets":   func(p *Problem, _ *Options) { p.Setting = other.Setting },
		"gap":             func(_ *Problem, o *Options) { o.Gap = 1e-15 },
		"rounds":          func(_ *Problem, o *Options) { o.Rounds = -1 },
		"largest":         func(p *Problem, _ *Options) { p.LargestPair = -1 },
		"state":           func(_ *Problem, o *Options) { o.State = &State{Round: 1} },
		"state's X":       func(_ *Problem, o *Options) { o.State = &State{Round: 1, X: make([]float64, 16)} },
		"state's noise":   func(_ *Problem, o *Options) { o.State = &State{Round: 1, X: eye(4)} },
		"state's round":   func(_ *Problem, o *Options) { o.State = &State{X: eye(4)} },
		"time gap":        func(_ *Problem, o *Options) { o.TimeGap = 1e-300 },
		"no class for it": func(p *Problem, _ *Options) { p.Class = factorize.Banded{Bandwidth: 9} },
	} {
		p, o := good, Options{}
		change(&p, &o)
		_, err := Optimize(context.Background(), p, o)
		var argument *fault.Argument
		if !errors.As(err, &argument) && name != "no class for it" || err == nil {
			t.Errorf("%s: error %v, want a bad argument", name, err)
		}
	}
}

func eye(n int) []float64 { return mat.DenseCopyOf(ones(n)).RawMatrix().Data }

// The best two variances are what a grid finds, and are no better than different ones for all; on a complete graph they
// are as good.
func TestConstant(t *testing.T) {
	ctx := context.Background()
	for _, name := range []string{"florentine", "complete:8", "star:5", "cycle:5"} {
		p := problem(t, name, 8, 2)
		c := strategy.Identity(8).Scaled(1 / math.Sqrt2)
		r, err := p.Constant(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		k, err := p.spaceGram(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		best := math.Inf(1)
		d := newDesign(k, p.Setting)
		for ratio := 1e-4; ratio < DefaultLargestPair*8; ratio *= 1.02 {
			x := make([]float64, d.size())
			for i := range x {
				x[i] = 1
				if i >= d.nodes {
					x[i] = ratio
				}
			}
			n := noiseOf(t, p.Setting, x)
			if least := slowLeast(n, p.Attackers); ratio/least <= DefaultLargestPair {
				best = math.Min(best, Loss(k, n)/least)
			}
		}
		best = math.Min(best, mat.Trace(k))
		if r.Loss > best*(1+1e-6) || r.Loss < best*(1-1e-3) || r.Worst.Value > 1 {
			t.Errorf("%s: loss %v, the grid's %v, worst %v", name, r.Loss, best, r.Worst)
		}
		free := space(t, k, p.Setting, SpaceOptions{})
		if r.Loss < free.LowerBound || name == "complete:8" && r.Loss > free.Loss*(1+1e-4) {
			t.Errorf("%s: loss %v, with different variances %v", name, r.Loss, free.Loss)
		}
	}
	p := problem(t, "cycle:5", 8, 2)
	var err error
	if p.Secrets, err = secrets.NewGraph(5, nil); err != nil {
		t.Fatal(err)
	}
	r, err := p.Constant(ctx, strategy.Identity(8))
	if err != nil || r.Worst.Value > 1 || math.Abs(r.Noise.Own[0]-1) > 1e-9 {
		t.Errorf("without secrets: %v, %v", r, err)
	}
}

// Where all pairs share, what constant noise hides has a closed form.
func TestConstantOfAllPairs(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 7).Draw(rt, "n")
		d := newDesign(drawGram(rt, n), drawComplete(rt, n))
		e := rapid.Float64Range(0, 10).Draw(rt, "e")
		x := make([]float64, d.size())
		for i := range x {
			x[i] = 1
			if i >= n {
				x[i] = e
			}
		}
		if got, want := d.leastOfAll(e), newPosition(d, x).least(); !d.complete() || math.Abs(got-want) > 1e-10*want {
			rt.Fatalf("least reach %v, want %v", got, want)
		}
	})
}

// No pair of noise and strategy, however bad, is below the joint bound.
func TestJointBoundIsABound(t *testing.T) {
	ctx := context.Background()
	for _, name := range []string{"path:4", "star:4", "cycle:5", "complete:3"} {
		p := problem(t, name, 6, 2)
		if name != "path:4" { // privacy levels of single nodes
			weights := make([]float64, p.Workload.Nodes())
			for v := range weights {
				weights[v] = []float64{1, 0.1, 0.4}[v%3]
			}
			var err error
			if p.Attackers, err = p.Attackers.Weighing(weights); err != nil {
				t.Fatal(err)
			}
		}
		r := optimize(t, p, Options{})
		joint, err := JointLowerBound(ctx, p, r)
		if err != nil {
			t.Fatal(err)
		}
		for _, pair := range []struct {
			noise *secrets.Noise
			c     strategy.Strategy
		}{{r.Noise, r.LDP.Strategy}, {nil, r.LDP.Strategy}, {nil, r.Time.Strategy}, {r.Noise, r.Time.Strategy}} {
			k, err := p.spaceGram(ctx, pair.c)
			if err != nil {
				t.Fatal(err)
			}
			loss := space(t, k, p.Setting, SpaceOptions{Gap: 1e-8}).Loss
			if pair.noise != nil {
				loss = Loss(k, pair.noise)
			}
			if loss < joint {
				t.Errorf("%s: the loss %v is below %v", name, loss, joint)
			}
		}
		if joint < 0.7*r.Loss {
			t.Errorf("%s: joint bound %v of the loss %v", name, joint, r.Loss)
		}
	}
}

// Pairs of 10⁴ times the variance of nodes leave the proof and the views of attackers accurate enough for a gap of
// 1e-6; and where arithmetic allows no more, rounds end soon, with the gap that they have reached.
func TestOptimizeWithStrongPairs(t *testing.T) {
	p := problem(t, "complete:16", 4, 4)
	p.LargestPair = 1e4
	r := optimize(t, p, Options{Gap: 1e-6})
	checkResult(t, p, r)
	if r.Status != optim.Converged || r.SpaceGap > 1e-6 {
		t.Errorf("%v with a gap of %v", r.Status, r.SpaceGap)
	}
	r = optimize(t, p, Options{Gap: 10 * MinGap})
	checkResult(t, p, r)
	if r.Status != optim.Stalled || r.SpaceGap > 1e-5 || len(r.Rounds) > 12 {
		t.Errorf("%v with a gap of %v after %d rounds", r.Status, r.SpaceGap, len(r.Rounds))
	}
}
