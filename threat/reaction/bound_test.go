package reaction

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	_ "mafalda/internal/seeded"
	"mafalda/participation"
)

func mustBound(t testing.TB, s *System, v Victim, c Class) *Result {
	t.Helper()
	r, err := boundAttacked(s, v, Everywhere(c))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// listing is a schema of some patterns; steps may be in none.
type listing struct {
	participation.Schema // nil: nothing else is asked
	steps                int
	patterns             [][]int
}

func (l listing) Steps() int        { return l.steps }
func (l listing) Patterns() [][]int { return l.patterns }

func listed(s *System, patterns [][]int) participation.Schema {
	return listing{steps: len(s.Steps), patterns: patterns}
}

// boundAttacked returns the bound of a victim, with an attack.
func boundAttacked(s *System, v Victim, reaction Reaction) (*Result, error) {
	all, err := NewVictims(s, nil, nil, reaction)
	if err != nil {
		return nil, err
	}
	r, err := all.Bound(context.Background(), v, 0, 0)
	if err != nil {
		return nil, err
	}
	return r, all.Attack(context.Background(), v, r)
}

// boundAll returns the bounds of all nodes.
func boundAll(s *System, schema participation.Schema, reaction Reaction) (*Bounds, error) {
	all, err := NewVictims(s, nil, nil, reaction)
	if err != nil {
		return nil, err
	}
	return all.All(context.Background(), schema)
}

// boundAlone is boundAttacked without the attack.
func boundAlone(s *System, v Victim, reaction Reaction) (*Result, error) {
	all, err := NewVictims(s, nil, nil, reaction)
	if err != nil {
		return nil, err
	}
	return all.Bound(context.Background(), v, 0, 0)
}

// On a path of three nodes and in two steps the truth is L²/(9 + L²) for L-Lipschitz steps: 676/685 with 26.
func TestPathOfThreeIsExact(t *testing.T) {
	s := pathTo(t, 3, 2, View{})
	for _, l := range []float64{0.3, 1, 1.05, 2, 26, 1e3} {
		r := mustBound(t, s, Victim{Node: 0, Schema: listed(s, [][]int{{0}})}, Class{0, l})
		truth := l * l / (9 + l*l)
		if r.SensSquared < truth || r.SensSquared > truth*(1+3e-7) {
			t.Errorf("L = %v: bound %v, truth %v (%s)", l, r.SensSquared, truth, r.Why)
		}
		if math.Abs(r.WorstAnswer/truth-1) > 1e-12 {
			t.Errorf("L = %v: the attack reaches %v of %v", l, r.WorstAnswer, truth)
		}
		without := mustBound(t, s, Victim{Node: 0, Schema: listed(s, [][]int{{0}})}, NoReaction()).WorstAnswer
		if r.LocalDP != 1 || math.Abs(without-0.1) > 1e-15 {
			t.Errorf("L = %v: local DP %v, without reaction %v", l, r.LocalDP, without)
		}
	}
}

// A middle node that answers smoothly, x + κx, reaches the bound of its class.
func TestSmoothPathOfThreeIsExact(t *testing.T) {
	s := pathTo(t, 3, 2, View{})
	r := mustBound(t, s, Victim{Node: 0, Schema: listed(s, [][]int{{0}})}, Class{1, 0.05})
	truth := 1.05 * 1.05 / (9 + 1.05*1.05)
	if r.SensSquared < truth || r.SensSquared > truth*(1+3e-7) {
		t.Errorf("bound %v, truth %v", r.SensSquared, truth)
	}
}

// Even if no other node reacts, a record whose gradient depends on its node's hidden model leaks in both of two steps
// everything, 2, not the 1.9 of fixed gradients.
func TestRecordMayDependOnItsHiddenModel(t *testing.T) {
	s := pathTo(t, 3, 2, View{})
	r := mustBound(t, s, Victim{Node: 1, Schema: listed(s, [][]int{{0, 1}})}, NoReaction())
	if r.SensSquared != 2 || math.Abs(r.WorstAnswer-1.9) > 1e-12 {
		t.Errorf("bound %v, attack %v; want 2, 1.9", r.SensSquared, r.WorstAnswer)
	}
}

// In one step no node can react: the bound is what is seen at once.
func TestOneStepHasNoReaction(t *testing.T) {
	s := pathTo(t, 3, 1, View{})
	for v, want := range []float64{0, 1} {
		r := mustBound(t, s, Victim{Node: v, Schema: listed(s, [][]int{{0}})}, Class{0, 26})
		if r.SensSquared != want {
			t.Errorf("node %d: %v, want %v", v, r.SensSquared, want)
		}
	}
	sums := pathTo(t, 3, 1, View{Sums: true})
	if r := mustBound(t, sums, Victim{Node: 1, Schema: listed(sums, [][]int{{0}})}, Class{0, 26}); r.SensSquared != 1 {
		t.Errorf("a sum of one message: %v, want 1", r.SensSquared)
	}
}

// With growing κ the bound goes to local DP, and never above it.
func TestLargeAnswersGiveLocalDP(t *testing.T) {
	s := pathTo(t, 5, 8, View{})
	before := 0.0
	for _, l := range []float64{1, 2, 10, 100, 1e4, 1e6, 1e9} {
		r := mustBound(t, s, Victim{Node: 0, Schema: listed(s, [][]int{{0}})}, Class{0, l})
		if r.SensSquared < before*(1-1e-6) || r.SensSquared > r.LocalDP || r.LocalDP != 1 {
			t.Errorf("L = %v: %v after %v, local DP %v", l, r.SensSquared, before, r.LocalDP)
		}
		before = r.SensSquared
	}
	if before < 0.999 {
		t.Errorf("L = 1e9 ends at %v", before)
	}
}

// Nothing is known of nodes without a class: local DP, counted in the steps from which an attacker can be reached.
func TestWithoutClassIsLocalDP(t *testing.T) {
	s := pathTo(t, 4, 4, View{})
	for v, want := range []float64{2, 3, 4} { // hops 3, 2, 1
		r, err := boundAttacked(s, Victim{Node: v, Schema: listed(s, [][]int{{0, 1, 2, 3}})}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.SensSquared != want || r.LocalDP != want || r.Why == "" {
			t.Errorf("node %d: %v of %v, want %v (%q)", v, r.SensSquared, r.LocalDP, want, r.Why)
		}
	}
}

// A star's leaves are only ever seen as their sum in the centre, so two leaves share local DP.
func TestLocalDPKnowsWhatNobodyEverSees(t *testing.T) {
	w := mat.NewDense(4, 4, []float64{0.25, 0.25, 0.25, 0.25, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0})
	s := systemOf(t, w, []int{3}, 3, View{})
	r := mustBound(t, s, Victim{Node: 1, Schema: listed(s, [][]int{{0}})}, Class{0, 1e9})
	if math.Abs(r.LocalDP-0.5) > 1e-8 {
		t.Errorf("local DP %v, want 1/2", r.LocalDP)
	}
}

// Without reaction and for one participation from the first step on, the bound is the number of linear views.
func TestNoReactionIsToday(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		s, _ := randomCase(t, r)
		node := r.IntN(s.Nodes)
		got := mustBound(t, s, Victim{Node: node, Schema: listed(s, [][]int{{0}})}, NoReaction())
		ones := make([][]float64, len(s.Steps))
		for i := range ones {
			ones[i] = make([]float64, s.Nodes)
			for v := range ones[i] {
				ones[i][v] = 1
			}
		}
		truth := explicitM(t, s, ones, node, []int{0}).At(0, 0)
		if math.Abs(got.WorstAnswer-truth) > 1e-9*truth+1e-11 {
			rt.Fatalf("without reaction %v, definition %v", got.WorstAnswer, truth)
		}
		if got.SensSquared < truth*(1-1e-10)-1e-11 || got.SensSquared > truth*(1+3e-7)+1e-11 {
			rt.Fatalf("bound %v, definition %v (%s)", got.SensSquared, truth, got.Why)
		}
	})
}

// Whatever linear answers of the class nodes give, in the networks, views and rules of random cases: what they leak by
// the definition is below the bound, and the answers of the attack leak what it says.
//
// With -v it says how near the attacks come; -rapid.checks=10000 tries as many cases.
func TestNoLinearAnswerLeaksMore(t *testing.T) {
	ratios := tally{}
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 2))
		s, pattern := randomCase(t, r)
		if r.IntN(3) == 0 {
			s = correlated(t, r, s)
		}
		node := r.IntN(s.Nodes)
		classes := make([]Class, s.Nodes)
		one := randomClass(r)
		for v := range classes {
			classes[v] = one
			if r.IntN(5) == 0 {
				classes[v] = randomClass(r)
			}
		}
		got, err := boundAttacked(s, Victim{Node: node, Schema: listed(s, [][]int{pattern})},
			func(_, v int) Class { return classes[v] })
		if err != nil {
			rt.Fatal(err)
		}
		if got.Answers != nil {
			exact := largest(explicitM(t, s, got.Answers, node, pattern))
			if exact > got.SensSquared*(1+1e-9)+1e-11 || math.Abs(exact-got.WorstAnswer) > 1e-7*exact+1e-10 {
				rt.Fatalf("the attack says %v, its definition %v, bound %v", got.WorstAnswer, exact, got.SensSquared)
			}
		}
		answers := make([][]float64, len(s.Steps))
		for i := range answers {
			answers[i] = make([]float64, s.Nodes)
			for v, c := range classes {
				answers[i][v] = c.Rho + c.Kappa*(2*r.Float64()-1)
			}
		}
		best := largest(explicitM(t, s, answers, node, pattern))
		for range 60 { // local search: the ends of the class, one answer at a time
			i, v := r.IntN(len(answers)), r.IntN(s.Nodes)
			old := answers[i][v]
			answers[i][v] = classes[v].Rho + classes[v].Kappa*float64(2*r.IntN(2)-1)
			if value := largest(explicitM(t, s, answers, node, pattern)); value > best {
				best = value
			} else {
				answers[i][v] = old
			}
		}
		if best > got.SensSquared*(1+1e-9)+1e-11 {
			rt.Fatalf("linear answers reach %v, above the bound %v (pattern %v, local %v)", best, got.SensSquared,
				pattern, got.LocalDP)
		}
		if best = math.Max(best, got.WorstAnswer); got.SensSquared > 1e-9 {
			share := best / got.SensSquared
			ratios.add(kindOf(one)+", "+viewOf(s), share)
			ratios.add(fmt.Sprintf("all classes, %d participations", len(pattern)), share)
			ratios.add("all classes, all views", share)
		}
	})
	ratios.log(t, "attack / bound")
}

// viewOf says whether single messages are seen, or sums.
func viewOf(s *System) string {
	for _, step := range s.Steps {
		if step.Seen == nil {
			continue
		}
		rows, _ := step.Seen.Dims()
		for i := range rows {
			if slices.ContainsFunc(step.Seen.RawRowView(i), func(x float64) bool { return x != 0 && x != 1 }) {
				return "sums"
			}
		}
	}
	return "single messages"
}

// largest returns the largest aᵀMa for signs a.
func largest(m *mat.SymDense) float64 {
	k, best := m.SymmetricDim(), 0.0
	for code := range 1 << k {
		a := mat.NewVecDense(k, nil)
		for i := range k {
			a.SetVec(i, float64(1-2*(code>>i&1)))
		}
		best = math.Max(best, mat.Inner(a, m, a))
	}
	return best
}

// All's bounds are bounds: not below what the attacks reach, and equal to Bound's where there is nothing to react with.
func TestAllIsAboveEveryAttack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 3))
		s, _ := randomCase(t, r)
		class := randomClass(r)
		steps := len(s.Steps)
		k := 1 + r.IntN(steps)
		b := 1 + r.IntN(max(1, steps/k))
		var schema participation.Schema
		schema, err := participation.NewCyclic(steps, k, b)
		if r.IntN(2) == 0 {
			schema, err = participation.NewMinSep(steps, k, b)
		}
		if err != nil {
			return // steps that fit no schema
		}
		all, err := boundAll(s, schema, Everywhere(class))
		if err != nil {
			rt.Fatal(err)
		}
		for v := range s.Nodes {
			one := mustBound(t, s, Victim{Node: v, Schema: schema}, class)
			if one.WorstAnswer > all.SensSquared[v]*(1+1e-9) || all.SensSquared[v] > all.LocalDP[v] {
				rt.Fatalf("node %d: %v is below the attack %v, or above %v", v, all.SensSquared[v], one.WorstAnswer,
					all.LocalDP[v])
			}
			if all.LocalDP[v] != one.LocalDP {
				rt.Fatalf("node %d: local DP %v and %v", v, all.LocalDP[v], one.LocalDP)
			}
		}
	})
}

// The worst pattern need not begin in the first step: every pattern is looked at.
func TestEveryPatternIsLookedAt(t *testing.T) {
	w := uniform(5, [2]int{0, 2}, [2]int{0, 3}, [2]int{1, 2}, [2]int{2, 3}, [2]int{2, 4})
	s := systemOf(t, w, []int{0}, 3, View{Sums: true})
	victim := func(patterns ...[]int) Victim { return Victim{Node: 2, Schema: listed(s, patterns)} } // node 3 of the network
	near := mustBound(t, s, victim([]int{0, 1}), NoReaction())
	far := mustBound(t, s, victim([]int{0, 2}), NoReaction())
	both := mustBound(t, s, victim([]int{0, 1}, []int{0, 2}, []int{1, 2}), NoReaction())
	if math.Abs(near.SensSquared-1.00476) > 1e-5 {
		t.Errorf("steps 0 and 1: %v, want 1.00476", near.SensSquared)
	}
	if math.Abs(far.WorstAnswer-1.07096) > 1e-5 || far.SensSquared < far.WorstAnswer {
		t.Errorf("steps 0 and 2: attack %v of %v, want 1.07096", far.WorstAnswer, far.SensSquared)
	}
	if both.SensSquared < far.SensSquared {
		t.Errorf("all patterns: %v, below %v", both.SensSquared, far.SensSquared)
	}
}

// Hidden nodes hear no others, and sums are seen: the feedback hides the run from what costs, so that D − BᵀQB is
// singular along it. With multipliers a billionth above it the bound was below what opposite answers reach.
func TestNearlySingularMultipliersLoseNothing(t *testing.T) {
	hidden := mat.NewDense(2, 2, []float64{1, 0, 0, 1})
	seen := mat.NewDense(1, 2, []float64{0.058951586336369384, 0.40273730395419893})
	s := &System{Nodes: 2, Steps: []Step{{Mix: hidden, Seen: seen}, {Mix: hidden, Seen: seen}}}
	class := Class{0.8357183404072065, 0.06428165959279346}
	answers := [][]float64{{1, 1}, {class.Rho + class.Kappa, class.Rho - class.Kappa}}
	value := explicitM(t, s, answers, 0, []int{0}).At(0, 0)
	got := mustBound(t, s, Victim{Node: 0, Schema: listed(s, [][]int{{0}})}, class)
	if got.SensSquared < value || got.WorstAnswer < value*(1-1e-9) {
		t.Errorf("bound %v, reached %v, by the attack %v", got.SensSquared, value, got.WorstAnswer)
	}
	all, err := stagesOf(s, Everywhere(class))
	if err != nil {
		t.Fatal(err)
	}
	b := &bounder{reactiveSystem: &reactiveSystem{stages: all, system: s}}
	if b.first, err = all.linearly(context.Background()); err != nil {
		t.Fatal(err)
	}
	run := b.forward(b.first, b.linear, []int{0}, 1, b.centred)
	for range 3 {
		tr, why, err := b.prove(context.Background(), []int{0}, runChooser(run, 1, 0))
		if err != nil || why != "" || tr.bound < value {
			t.Fatalf("before it is raised the bound is %v, reached %v (%s, %v)", tr, value, why, err)
		}
		run = b.forward(tr, b.answers, []int{0}, 1, b.steep)
	}
}

// Where all steps are alike a participation that begins later is no worse: for all first steps together the bound is
// the one for the first step, and attacks from later steps are below it.
func TestLaterIsNoWorse(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 9))
		s := systemOf(t, randomNetwork(r, 4), []int{0}, 6, View{Sums: r.IntN(2) == 0})
		class, node := randomClass(r), r.IntN(s.Nodes)
		patterns := [][]int{{0, 3}, {1, 4}, {2, 5}}
		all := mustBound(t, s, Victim{Node: node, Schema: listed(s, patterns)}, class)
		if !slices.Equal(all.Pattern, patterns[0]) {
			rt.Fatalf("the worst pattern is %v", all.Pattern)
		}
		for _, p := range patterns {
			one := mustBound(t, s, Victim{Node: node, Schema: listed(s, [][]int{p})}, class)
			if one.WorstAnswer > all.SensSquared*(1+1e-9) || one.LocalDP > all.LocalDP {
				rt.Fatalf("pattern %v reaches %v, above %v", p, one.WorstAnswer, all.SensSquared)
			}
		}
	})
}

// What nodes remember beside their models shows when networks change: differences that would never be seen in a star
// are no reason to count less than local DP then.
func TestLocalDPOfMomentumIsWhole(t *testing.T) {
	star := mat.NewDense(3, 3, []float64{0.5, 0.25, 0.25, 1, 0, 0, 1, 0, 0})
	seen := mat.NewDense(1, 3, []float64{1, 0, 0})
	all := mat.NewDense(2, 3, []float64{0, 1, 0, 0, 0, 1})
	rule := momentumRule(0.9, 1, 1)
	s := &System{Nodes: 3, Steps: []Step{{Mix: star, Seen: seen, Rule: rule}, {Mix: star, Seen: seen, Rule: rule},
		{Mix: star, Seen: all, Rule: rule}}}
	got := mustBound(t, s, Victim{Node: 1, Schema: listed(s, [][]int{{0}})}, Class{0, 1e6})
	if got.LocalDP != 1 || got.WorstAnswer > 1 {
		t.Errorf("local DP %v, attack %v", got.LocalDP, got.WorstAnswer)
	}
}

// A gradient whose message no node uses, not even its own, stays in the node's momentum, and shows later.
func TestMomentumRemembersWhatIsNotSent(t *testing.T) {
	nothing, all := mat.NewDense(1, 1, nil), mat.NewDense(1, 1, []float64{1})
	rule := momentumRule(0.9, 1, 1)
	s := &System{Nodes: 1, Steps: []Step{{Mix: nothing, Rule: rule}, {Mix: nothing, Seen: all, Rule: rule}}}
	r, err := boundAttacked(s, Victim{Schema: listed(s, [][]int{{0}})}, Everywhere(NoReaction()))
	want := 0.81 / 1.81 // seen: 0.9·(gradient + noise) + noise
	if err != nil || r.LocalDP < want || r.SensSquared < want*(1-1e-9) {
		t.Errorf("local DP %v, bound %v, below %v; %v", r.LocalDP, r.SensSquared, want, err)
	}
}

// Where differences have died out before the record comes again the bound is still near an attack: multipliers of next
// to nothing would lose all digits.
func TestDifferencesThatDieOut(t *testing.T) {
	for _, steps := range []int{40, 400} {
		w := mat.NewDense(5, 5, nil)
		for i := range 5 {
			for j := range 5 {
				w.Set(i, j, []float64{0.2, 0.1, 0.3, 0.15, 0.25}[(i+2*j)%5])
			}
		}
		s := systemOf(t, w, []int{0}, steps, View{Sums: true})
		got := mustBound(t, s, Victim{Node: 1, Schema: listed(s, [][]int{{0, steps / 2}})}, Class{0.95, 0.05})
		if got.Why != "" || got.SensSquared > 1.05*got.WorstAnswer {
			t.Errorf("T = %d: the bound is %v (%s), an attack reaches %v, local DP %v", steps, got.SensSquared, got.Why,
				got.WorstAnswer, got.LocalDP)
		}
	}
}

// The slope that multipliers are improved by is the slope of the bound: central differences of the bound itself.
func TestDescentFollowsTheSlope(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 12))
		s, pattern := randomCase(t, r)
		if r.IntN(3) == 0 {
			s = correlated(t, r, s)
		}
		all, err := stagesOf(s, Everywhere(randomClass(r)))
		if err != nil || all.unclear {
			rt.Fatal(err)
		}
		b := &bounder{reactiveSystem: &reactiveSystem{stages: all, system: s}, node: r.IntN(s.Nodes)}
		if b.first, err = all.linearly(context.Background()); err != nil || b.first == nil {
			rt.Fatal(err)
		}
		search := &search{bounder: b, pattern: pattern, bound: math.Inf(1)}
		if err := search.begin(context.Background()); err != nil {
			rt.Fatal(err)
		}
		if search.best == nil {
			return // multipliers too large for floating point: no bound, and no slope
		}
		d, x := search.descent(context.Background())
		d.left = math.MaxInt
		// Multipliers that are c times as large make what a difference costs before them at most c times as large: raised by
		// more in every step before they stay inside of what is proven by as much, where the bound is smooth.
		raise := func(by float64) {
			for i, p := range d.places {
				x[i] += by * float64(len(d.gates)-p.step)
			}
		}
		for _, by := range []float64{0.6, -0.1} {
			if raise(by); math.IsInf(d.Value(x), 1) {
				return // more than a float64 has digits for, at 0.5 or near it
			}
		}
		slope := make([]float64, len(x))
		d.GradientTo(slope)
		bound := d.last.bound // of 1e-17 rounding has a part that has no slope
		const h = 1e-4
		for i := range x {
			x[i] += h
			above := d.Value(x)
			x[i] -= 2 * h
			below := d.Value(x)
			x[i] += h
			if got := (above - below) / (2 * h); math.Abs(got-slope[i])*bound > 1e-5*bound+1e-12 {
				rt.Fatalf("multiplier %d of %d: slope %v, by differences %v", i, len(x), slope[i], got)
			}
		}
	})
}

// With secure sums and steps that change much, multipliers in closed form leave a gap between bound and attack that
// balanced multipliers and their slope nearly close.
func TestMultipliersAreImproved(t *testing.T) {
	s := systemOf(t, uniform(8, [2]int{0, 1}, [2]int{1, 2}, [2]int{2, 3}, [2]int{3, 4}, [2]int{4, 5}, [2]int{5, 6},
		[2]int{6, 7}, [2]int{0, 4}), []int{0}, 8, View{Sums: true})
	const node = 1
	for _, c := range []struct {
		class        Class
		closed, best float64 // the bound over the attack: at least, at most
	}{{Class{0, 1}, 1.4, 1.12}, {Class{0.5, 0.5}, 1.02, 1.001}} {
		all, err := stagesOf(s, Everywhere(c.class))
		if err != nil {
			t.Fatal(err)
		}
		b := &bounder{reactiveSystem: &reactiveSystem{stages: all, system: s}, node: node}
		if b.first, err = all.linearly(context.Background()); err != nil || b.first == nil {
			t.Fatal(err)
		}
		closed := &search{bounder: b, pattern: []int{0}, bound: math.Inf(1)}
		if err := errors.Join(closed.begin(context.Background()), closed.follow(context.Background())); err != nil {
			t.Fatal(err)
		}
		best := mustBound(t, s, Victim{Node: node, Schema: listed(s, [][]int{{0}})}, c.class)
		if x, y := closed.bound/best.WorstAnswer, best.SensSquared/best.WorstAnswer; x < c.closed || y > c.best {
			t.Errorf("class %v: the bound is %v times the attack in closed form, %v at best", c.class, x, y)
		}
	}
}
