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
)

func space(t testing.TB, k *mat.SymDense, s Setting, o SpaceOptions) *SpaceResult {
	t.Helper()
	r, err := Space(context.Background(), k, s, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// soft is log(costᵀx) plus a soft maximum of log [M_A⁻¹]_vv, as a function of log x, with derivatives by differences: the
// slow way to a least loss, which needs nothing of what the fast one does.
type soft struct {
	d     *design
	s     Setting
	sharp float64
	at    []float64
}

func (f *soft) Value(l []float64) float64 {
	x := make([]float64, len(l))
	for i, v := range l {
		x[i] = math.Exp(v)
	}
	noise := &secrets.Noise{}
	for _, v := range x[:f.d.nodes] {
		noise.Own = append(noise.Own, math.Sqrt(v))
	}
	for i, p := range f.d.pairs {
		noise.Pairs = append(noise.Pairs, secrets.Shared{Pair: p, Deviation: math.Sqrt(x[f.d.nodes+i])})
	}
	var sum float64
	for _, c := range allowed(f.s.Attackers) {
		m, others := noise.Unknown(c)
		var inverse mat.Dense
		if err := inverse.Inverse(m); err != nil {
			return math.Inf(1)
		}
		for i := range others {
			sum += math.Pow(inverse.At(i, i)*f.s.Attackers.Weight(others[i]), f.sharp)
		}
	}
	f.at = append(f.at[:0], l...)
	return math.Log(dot(f.d.cost, x)) + math.Log(sum)/f.sharp
}

func (f *soft) GradientTo(dst []float64) {
	const h = 1e-6
	l := append([]float64(nil), f.at...)
	for i := range l {
		dst[i] = (f.Value(moved(l, i, h)) - f.Value(moved(l, i, -h))) / (2 * h)
	}
}

// slowOptimum returns the least loss that hardening finds.
func slowOptimum(t *rapid.T, d *design, s Setting) float64 {
	l := make([]float64, d.size())
	for i, v := range d.guess() {
		l[i] = math.Log(math.Min(v, 10))
	}
	f := &soft{d: d, s: s}
	for f.sharp = 8; f.sharp < 1000; f.sharp *= 3 {
		optim.Minimize(context.Background(), f, l, optim.Options{MaxIterations: 150})
	}
	x := make([]float64, len(l))
	for i, v := range l {
		x[i] = math.Min(math.Exp(v), 1e4)
	}
	noise := noiseOf(t, s, x)
	return dot(d.cost, x) / slowLeast(noise, s.Attackers) * d.unit
}

// What Space returns is good enough for every attacker, costs what it says, and is the best there is: no point is below
// the bound.
func TestSpaceIsTheOptimum(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(rt, "n")
		s := drawSetting(rt, n)
		s.LargestPair = rapid.SampledFrom([]float64{0, 0.01, 0.3, 1, 10, 1000}).Draw(rt, "largest pair")
		k := drawGram(rt, n)
		r := space(t, k, s, SpaceOptions{})
		for _, p := range r.Noise.Pairs {
			if e := p.Deviation * p.Deviation; e > s.largestPair()*(1+1e-9) {
				rt.Fatalf("a pair of variance %v, above %v", e, s.largestPair())
			}
		}
		if r.Gap > 1e-5 || r.Loss < r.LowerBound || r.Status != optim.Converged {
			rt.Fatalf("gap %v, %v", r.Gap, r.Status)
		}
		if least := slowLeast(r.Noise, s.Attackers); math.Abs(least-1) > 1e-9 || r.Worst.Value > 1 {
			rt.Fatalf("least reach %v, worst %v", least, r.Worst)
		}
		var product mat.Dense
		product.Mul(k, r.Noise.Covariance())
		if want := mat.Trace(&product); math.Abs(r.Loss-want) > 1e-12*want {
			rt.Fatalf("loss %v, want %v", r.Loss, want)
		}
		d := newDesign(k, s)
		for range 10 {
			noise := noiseOf(t, s, drawPoint(rt, d))
			least, most := slowLeast(noise, s.Attackers), 0.0
			for _, p := range noise.Pairs {
				most = math.Max(most, p.Deviation*p.Deviation)
			}
			if loss := Loss(k, noise) / least; loss < r.LowerBound && most/least <= s.largestPair() {
				rt.Fatalf("the loss %v is below the bound %v", loss, r.LowerBound)
			}
		}
	})
}

// A slow search of another kind finds nothing below the bound, and comes near it.
func TestSpaceAgainstASlowSearch(t *testing.T) {
	for seed := range 8 {
		rapid.Custom(func(rt *rapid.T) bool {
			n := rapid.IntRange(2, 4).Draw(rt, "n")
			s := drawSetting(rt, n)
			k := drawGram(rt, n)
			for i := range n { // pairs and own noise that cost something
				k.SetSym(i, i, k.At(i, i)+0.3)
			}
			r := space(t, k, s, SpaceOptions{})
			slow := slowOptimum(rt, newDesign(k, s), s)
			if slow < r.LowerBound || slow > r.Loss*1.02 {
				t.Errorf("a slow search finds %v; the optimum is from %v to %v", slow, r.LowerBound, r.Loss)
			}
			return true
		}).Example(seed)
	}
}

// The dual bound holds for any weights and vectors, not only for the ones a search finds.
func TestDualBoundIsABound(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d, x, active := newtonCase(rt)
		w := gather(newPosition(d, x), active)
		for k := range w.weight { // other vectors, zero on A and one at v
			threat := d.threats[w.threat[k]]
			row := w.row(k)
			for i := range row {
				row[i] += rapid.Float64Range(-0.2, 0.2).Draw(rt, "z")
			}
			for _, a := range threat.Attacker {
				row[a] = 0
			}
		}
		for k, victim := range w.victim {
			w.row(k)[victim] = 1 / math.Sqrt(d.weight[victim])
		}
		y := drawPoint(rt, d)
		if rapid.Bool().Draw(rt, "large") {
			y[rapid.IntRange(0, len(y)-1).Draw(rt, "which")] = 100
		}
		least := newPosition(d, y).least()
		if loss := dot(d.cost, y) / least * d.unit; w.bound(d) > loss {
			rt.Fatalf("the bound %v is above the loss %v", w.bound(d), loss)
		}
	})
}

// On a complete graph whose gossip averages over all, what pairs share costs nothing, and of the own noise a share of
// 1/(n-1) is left, but for the largest variance: (1/(n-1))/s + (1 - 1/(n-1))/(s + (n-1)e) = 1.
func TestSpaceOfCompleteGraphs(t *testing.T) {
	for _, n := range []int{3, 8, 20} {
		s := single(t, network(t, "complete:8").Graph, 1)
		g, err := secrets.Complete(n)
		if err != nil {
			t.Fatal(err)
		}
		if s.Attackers, err = secrets.Colluding(n, 1); err != nil {
			t.Fatal(err)
		}
		s.Secrets = g
		k := mat.NewSymDense(n, nil)
		for i := range n {
			for j := range n {
				k.SetSym(i, j, 1)
			}
		}
		r := space(t, k, s, SpaceOptions{})
		const e = DefaultLargestPair
		share, own := 1/float64(n-1), 1/float64(n-1)
		for range 50 {
			own = share / (1 - (1-share)/(own+float64(n-1)*e))
		}
		if want := own * float64(n); math.Abs(r.Loss/want-1) > 1e-5 || r.LowerBound > want*(1+1e-9) {
			t.Errorf("n = %d: loss %v ≥ %v, want %v", n, r.Loss, r.LowerBound, want)
		}
		if ratio := r.Loss / float64(n); math.Abs(ratio-share) > 2e-3*share {
			t.Errorf("n = %d: ratio %v, want nearly %v", n, ratio, share)
		}
	}
}

// Where nothing can be gained, the optimum is independent noise: without secrets, with two nodes, of which each knows
// all that the other shares, with coalitions of all but one, and alone.
func TestSpaceWithoutGain(t *testing.T) {
	for name, tc := range map[string]struct {
		nodes, size int
		pairs       []secrets.Pair
	}{
		"no secrets":  {5, 1, nil},
		"two nodes":   {2, 1, []secrets.Pair{{U: 0, V: 1}}},
		"one node":    {1, 1, nil},
		"all but one": {4, 3, []secrets.Pair{{U: 0, V: 1}, {U: 1, V: 2}, {U: 0, V: 2}, {U: 2, V: 3}}},
	} {
		g, err := secrets.NewGraph(tc.nodes, tc.pairs)
		if err != nil {
			t.Fatal(err)
		}
		a, err := secrets.Colluding(tc.nodes, tc.size)
		if err != nil {
			t.Fatal(err)
		}
		k := mat.NewSymDense(tc.nodes, nil)
		for i := range tc.nodes {
			for j := range tc.nodes {
				k.SetSym(i, j, 1)
			}
			k.SetSym(i, i, float64(2+i))
		}
		r := space(t, k, Setting{Secrets: g, Attackers: a}, SpaceOptions{})
		if want := mat.Trace(k); math.Abs(r.Loss/want-1) > 1e-5 || r.LowerBound > want {
			t.Errorf("%s: loss %v ≥ %v, want %v", name, r.Loss, r.LowerBound, want)
		}
	}
}

// A leaf's only neighbour knows everything that the leaf shares: the leaf draws as much noise as without sharing.
func TestLeavesKeepTheirNoise(t *testing.T) {
	p := problem(t, "path:6", 8, 2)
	k, err := p.Workload.SpaceGram(context.Background(), ones(8))
	if err != nil {
		t.Fatal(err)
	}
	r := space(t, k, p.Setting, SpaceOptions{Gap: 1e-8})
	for _, leaf := range []int{0, 5} {
		if own := r.Noise.Own[leaf]; math.Abs(own-1) > 1e-6 {
			t.Errorf("own noise of leaf %d is %v, want 1", leaf, own)
		}
	}
	if r.Noise.Own[2] > 0.95 {
		t.Errorf("own noise in the middle is %v", r.Noise.Own[2])
	}
}

// More attackers, and fewer secrets, cost more.
func TestSpaceIsMonotone(t *testing.T) {
	k, err := problem(t, "florentine", 8, 2).Workload.SpaceGram(context.Background(), ones(8))
	if err != nil {
		t.Fatal(err)
	}
	g := network(t, "florentine").Graph
	last := 0.0
	for size := range 4 {
		r := space(t, k, single(t, g, size), SpaceOptions{})
		if r.Gap > 1e-5 || r.Loss < last*(1-1e-5) {
			t.Errorf("coalitions of %d: loss %v (gap %v), with smaller ones %v", size, r.Loss, r.Gap, last)
		}
		last = r.Loss
	}
	s := single(t, g, 1)
	with := space(t, k, s, SpaceOptions{})
	if s.Secrets, err = secrets.NewGraph(15, s.Secrets.Pairs()[:12]); err != nil {
		t.Fatal(err)
	}
	if without := space(t, k, s, SpaceOptions{}); without.Loss < with.Loss*(1-1e-5) {
		t.Errorf("with fewer secrets the loss is %v, with all %v", without.Loss, with.Loss)
	}
}

// The loss scales with K, and a search that goes on elsewhere ends where the others do.
func TestSpaceStartsAnywhere(t *testing.T) {
	p := problem(t, "florentine", 8, 2)
	k, err := p.Workload.SpaceGram(context.Background(), ones(8))
	if err != nil {
		t.Fatal(err)
	}
	r := space(t, k, p.Setting, SpaceOptions{})
	scaled := mat.NewSymDense(15, nil)
	scaled.ScaleSym(1e-9, k)
	if s := space(t, scaled, p.Setting, SpaceOptions{}); math.Abs(s.Loss/r.Loss/1e-9-1) > 1e-9 {
		t.Errorf("loss %v of 1e-9 K, %v of K", s.Loss, r.Loss)
	}
	var half Point
	again := space(t, k, p.Setting, SpaceOptions{Progress: func(it factorize.Iteration, at Point) {
		if it.Count == 6 {
			half = at
		}
	}})
	if again.Loss != r.Loss || again.LowerBound != r.LowerBound {
		t.Errorf("the second time the loss is %v ≥ %v, the first time %v ≥ %v", again.Loss, again.LowerBound, r.Loss,
			r.LowerBound)
	}
	for name, start := range map[string]Point{"halfway": half, "the end": r.Point,
		"variances": {Own: r.Point.Own, Pairs: r.Point.Pairs}, "zeros": {Own: make([]float64, 15), Pairs: make([]float64, 20)}} {
		s := space(t, k, p.Setting, SpaceOptions{Start: &start})
		if s.Gap > 1e-5 {
			t.Errorf("from %s: loss %v, gap %v", name, s.Loss, s.Gap)
		}
	}
}

func TestSpaceEndsWithTheContext(t *testing.T) {
	p := problem(t, "florentine", 8, 2)
	k, err := p.Workload.SpaceGram(context.Background(), ones(8))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r, err := Space(ctx, k, p.Setting, SpaceOptions{Progress: func(it factorize.Iteration, _ Point) {
		if it.Count == 4 {
			cancel()
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != optim.Interrupted || r.Iterations != 4 || r.Worst.Value > 1 || r.LowerBound > r.Loss {
		t.Errorf("%v after %d, worst %v, loss %v ≥ %v", r.Status, r.Iterations, r.Worst, r.Loss, r.LowerBound)
	}
	few := space(t, k, p.Setting, SpaceOptions{MaxIterations: 3})
	if few.Status != optim.IterationLimit || few.Iterations != 3 {
		t.Errorf("%v after %d", few.Status, few.Iterations)
	}
}

func TestSpaceRefuses(t *testing.T) {
	p := problem(t, "cycle:4", 4, 2)
	k := ones(4)
	other, err := secrets.Colluding(5, 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		k *mat.SymDense
		s Setting
		o SpaceOptions
	}{
		"no secrets":      {k, Setting{Attackers: p.Attackers}, SpaceOptions{}},
		"no attackers":    {k, Setting{Secrets: p.Secrets}, SpaceOptions{}},
		"other attackers": {k, Setting{Secrets: p.Secrets, Attackers: other}, SpaceOptions{}},
		"other K":         {ones(5), p.Setting, SpaceOptions{}},
		"gap":             {k, p.Setting, SpaceOptions{Gap: 1e-12}},
		"no gap":          {k, p.Setting, SpaceOptions{Gap: math.NaN()}},
		"iterations":      {k, p.Setting, SpaceOptions{MaxIterations: -1}},
		"largest":         {k, Setting{Secrets: p.Secrets, Attackers: p.Attackers, LargestPair: 0.001}, SpaceOptions{}},
		"start":           {k, p.Setting, SpaceOptions{Start: &Point{Own: make([]float64, 4)}}},
		"negative start":  {k, p.Setting, SpaceOptions{Start: &Point{Own: []float64{1, 1, 1, -1}, Pairs: make([]float64, 4)}}},
	} {
		var argument *fault.Argument
		if _, err := Space(context.Background(), tc.k, tc.s, tc.o); !errors.As(err, &argument) {
			t.Errorf("%s: error %v, want a bad argument", name, err)
		}
	}
	if _, err := Space(context.Background(), mat.NewSymDense(4, nil), p.Setting, SpaceOptions{}); !errors.Is(err, ErrSpace) {
		t.Errorf("no error: %v, want ErrSpace", err)
	}
}
