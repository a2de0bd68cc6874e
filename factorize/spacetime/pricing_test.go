package spacetime

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/optim"
	"mafalda/secrets"
)

// drawComplete draws coalitions of a complete secret graph.
func drawComplete(t *rapid.T, n int) Setting {
	s := drawSetting(t, n)
	g, err := secrets.Complete(n)
	if err != nil {
		t.Fatal(err)
	}
	s.Secrets = g
	return s
}

// A search that keeps some of the pairs only ends where one with all pairs does, and its bound is for all pairs.
func TestKeepingFewPairsIsAsGood(t *testing.T) {
	for seed := range 12 {
		rapid.Custom(func(rt *rapid.T) bool {
			n := rapid.IntRange(3, 16).Draw(rt, "n")
			s := drawComplete(rt, n)
			s.LargestPair = rapid.SampledFrom([]float64{0, 0.3, 10}).Draw(rt, "largest pair")
			k := drawGram(rt, n)
			all := space(t, k, s, SpaceOptions{})
			s.direct = 1
			few := space(t, k, s, SpaceOptions{})
			if few.Gap > 1e-5 || few.Status != optim.Converged || few.Worst.Value > 1 {
				t.Errorf("n = %d: gap %v, %v, worst %v", n, few.Gap, few.Status, few.Worst)
			}
			if few.LowerBound > all.Loss || all.LowerBound > few.Loss {
				t.Errorf("n = %d: some pairs: %v ≥ %v; all: %v ≥ %v", n, few.Loss, few.LowerBound, all.Loss, all.LowerBound)
			}
			return true
		}).Example(seed)
	}
}

// Of a graph where few pairs pay, few are kept.
func TestIdlePairsAreNotKept(t *testing.T) {
	p := problem(t, "cycle:40", 8, 2)
	g, err := secrets.Complete(40)
	if err != nil {
		t.Fatal(err)
	}
	p.Secrets, p.direct = g, 1
	k, err := p.Workload.SpaceGram(context.Background(), ones(8))
	if err != nil {
		t.Fatal(err)
	}
	o, err := SpaceOptions{}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	search, err := newSpaceSearch(k, p.Setting, o)
	if err != nil {
		t.Fatal(err)
	}
	search.run(context.Background())
	if search.gap() > 1e-5 || len(search.kept) == len(g.Pairs()) {
		t.Errorf("gap %v, %d of %d pairs", search.gap(), len(search.kept), len(g.Pairs()))
	}
	if d := search.interior.design; len(d.pairs) != len(search.kept) || len(search.at.Pairs) != len(g.Pairs()) {
		t.Errorf("%d pairs of %d kept, a point of %d", len(d.pairs), len(search.kept), len(search.at.Pairs))
	}
	for _, i := range search.kept {
		search.at.Pairs[i] = 0
	}
	for i, v := range search.at.Pairs {
		if v != 0 {
			t.Errorf("the pair %v that is not kept has the variance %v", g.Pairs()[i], v)
		}
	}
}

// What constraints pull at all pairs is the sum of squares of the definition, and a repaired dual point is a dual point:
// whatever it is of, no noise on all pairs has less than its bound.
func TestPullsAtAllPairs(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, 7).Draw(rt, "n")
		s := drawComplete(rt, n)
		all := newDesign(drawGram(rt, n), s)
		var kept []int
		for i := range all.pairs {
			if rapid.Bool().Draw(rt, "kept") {
				kept = append(kept, i)
			}
		}
		part := all.part(kept)
		p := newPosition(part, drawPoint(rt, part))
		active := make([][]constraint, len(all.threats))
		for i, threat := range all.threats {
			for at := range threat.Victims {
				active[i] = append(active[i], constraint{at, 1, rapid.Float64Range(0, 1).Draw(rt, "weight")})
			}
		}
		w := gather(p, active)
		w.weight[0] = 1
		pull, margin := w.pulls(all)
		if margin > 1e-12 {
			rt.Fatalf("%d rows have a margin of %v", len(w.weight), margin)
		}
		slow, row := make([]float64, all.size()), make([]float64, all.size())
		for k, threat := range w.threat {
			all.rowTo(row, w.row(k), threat)
			for i, v := range row {
				slow[i] += w.weight[k] * v
			}
		}
		for i, v := range slow {
			within := 1e-13 * v
			if i >= n {
				within = margin * (slow[all.pairs[i-n].U] + slow[all.pairs[i-n].V]) * (1 + 1e-9)
			}
			if math.Abs(pull[i]-v) > within {
				rt.Fatalf("variable %d is pulled at by %v, want %v within %v", i, pull[i], v, within)
			}
		}
		repaired, bound, _ := w.repair(all)
		if plain := w.bound(all); bound < plain || repaired.bound(all) != bound {
			rt.Fatalf("the bound is %v repaired, %v again, %v before", bound, repaired.bound(all), plain)
		}
		y := drawPoint(rt, all)
		if loss := dot(all.cost, y) / newPosition(all, y).least() * all.unit; bound > loss {
			rt.Fatalf("the bound %v is above the loss %v", bound, loss)
		}
	})
}

// Where no attacker knows a pair, the common second derivatives are exact; who knows much has his own.
func TestCommonCurvature(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d, x, active := newtonCase(rt)
		p := newPosition(d, x)
		w := gather(p, active)
		var exact, common newton
		common.common = true
		exact.assemble(p, w, make([]float64, d.size()))
		common.assemble(p, w, make([]float64, d.size()))
		unknown := true // what somebody knows in part
		for at, threat := range d.threats {
			unknown = unknown && (len(threat.Attacker) == 0 || p.knowsMuch(at, p.design.variances(p.x)))
		}
		if !unknown {
			return
		}
		for i := range d.size() {
			for j := range i + 1 {
				got, want := common.matrix[i*d.size()+j], exact.matrix[i*d.size()+j]
				if math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
					rt.Fatalf("entry (%d,%d) is %v, want %v", i, j, got, want)
				}
			}
		}
	})
}

// The alternation keeps its pairs from round to round, ends when it should, and goes on from a state.
func TestOptimizeWithFewPairs(t *testing.T) {
	p := problem(t, "florentine", 8, 2)
	g, err := secrets.Complete(15)
	if err != nil {
		t.Fatal(err)
	}
	p.Secrets = g
	all := optimize(t, p, Options{})
	p.direct = 1
	var states []*State
	few := optimize(t, p, Options{Progress: func(it Iteration) {
		if it.State != nil {
			states = append(states, it.State)
		}
	}})
	checkResult(t, p, few)
	if math.Abs(few.Loss/all.Loss-1) > 1e-4 || few.SpaceGap > 1e-4 || few.Status != optim.Converged {
		t.Errorf("loss %v, gap %v, %v; with all pairs at once %v", few.Loss, few.SpaceGap, few.Status, all.Loss)
	}
	for _, at := range []int{0, len(states) / 2, len(states) - 1} {
		r := optimize(t, p, Options{State: states[at]})
		if math.Abs(r.Loss/few.Loss-1) > 1e-4 || r.SpaceGap > 1e-4 {
			t.Errorf("from state %d of %d: loss %v, gap %v; want %v", at, len(states), r.Loss, r.SpaceGap, few.Loss)
		}
	}
	if r := optimize(t, p, Options{State: states[len(states)-1]}); r.Rounds[0].SpaceSteps > 3 {
		t.Errorf("from the end %d steps are taken", r.Rounds[0].SpaceSteps)
	}
	one, err := JointLowerBound(context.Background(), p, few)
	if err != nil {
		t.Fatal(err)
	}
	p.direct = 0
	other, err := JointLowerBound(context.Background(), p, few)
	if err != nil || math.Abs(one/other-1) > 2*JointGap(g) {
		t.Errorf("joint bound %v, with all pairs at once %v (%v)", one, other, err)
	}
	p.direct = 1
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	r, err := Optimize(ctx, p, Options{Gap: 1e-7, Progress: func(it Iteration) {
		if it.Round == 2 && it.Space {
			cancel(why)
		}
	}})
	if err != nil || r.Status != optim.Interrupted || r.Worst.Value > 1 || r.SpaceBound > r.Loss {
		t.Errorf("interrupted: %v, %v", r, err)
	}
}

// Where no pair pays none is kept, and that is not all of them.
func TestNoPairIsKept(t *testing.T) {
	const n = 4
	g, err := secrets.Complete(n)
	if err != nil {
		t.Fatal(err)
	}
	a, err := secrets.Colluding(n, 1)
	if err != nil {
		t.Fatal(err)
	}
	search, err := newSpaceSearch(ones(n), Setting{Secrets: g, Attackers: a, direct: 1}, SpaceOptions{Gap: MinGap})
	if err != nil {
		t.Fatal(err)
	}
	search.loss, search.bound = n, n/1.01
	for i := n; i < len(search.interior.x); i++ {
		search.interior.x[i] = 1e-12
	}
	if !search.exchange(make([]float64, search.all.size())) {
		t.Fatal("idle pairs are kept")
	}
	if len(search.part().pairs) != 0 || len(search.point().Pairs) != len(g.Pairs()) {
		t.Errorf("%d pairs, a point of %d", len(search.part().pairs), len(search.point().Pairs))
	}
}

// Pairs that cost nothing are pulled at by more as soon as anything pulls.
func TestFewPairsOfNoCost(t *testing.T) {
	const n = 20
	g, err := secrets.Complete(n)
	if err != nil {
		t.Fatal(err)
	}
	a, err := secrets.Colluding(n, 1)
	if err != nil {
		t.Fatal(err)
	}
	k := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range n {
			k.SetSym(i, j, 1)
		}
	}
	r := space(t, k, Setting{Secrets: g, Attackers: a, direct: 1}, SpaceOptions{})
	share, own := 1/float64(n-1), 1/float64(n-1)
	for range 50 { // as in TestSpaceOfCompleteGraphs
		own = share / (1 - (1-share)/(own+float64(n-1)*DefaultLargestPair))
	}
	if want := own * n; r.Gap > 1e-5 || r.Loss < want*(1-1e-9) || r.Loss > want*(1+2e-5) {
		t.Errorf("loss %v ≥ %v, want %v", r.Loss, r.LowerBound, want)
	}
}

func TestVariables(t *testing.T) {
	for _, tc := range [][3]int{{10, 0, 10}, {10, 200, 210}, {10, 201, 211}, {10, 2501, 2510}, {100, 3001, 3100}, {500, 124750, 15500}} {
		if got := Variables(tc[0], tc[1]); got != tc[2] {
			t.Errorf("%d nodes and %d pairs: %d variables, want %d", tc[0], tc[1], got, tc[2])
		}
	}
}
