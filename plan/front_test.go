package plan_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/accounting"
	"mafalda/factorize"
	"mafalda/internal/fault"
	_ "mafalda/internal/seeded"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/strategy"
	"mafalda/workload"
)

// drawSchemaOf draws a schema of at most this number of steps.
func drawSchemaOf(t *rapid.T, most int) participation.Schema {
	steps := rapid.IntRange(2, most).Draw(t, "T")
	b := rapid.IntRange(1, steps).Draw(t, "b")
	k := rapid.IntRange(1, (steps-1)/b+1).Draw(t, "k")
	if rapid.Bool().Draw(t, "min-sep") {
		return must(participation.NewMinSep(steps, k, b))
	}
	return must(participation.NewCyclic(steps, k, b))
}

// everyClass returns all classes with all their widths for T steps.
func everyClass(steps int) []factorize.Class {
	all := []factorize.Class{factorize.Dense{}}
	for w := 1; w <= steps; w++ {
		all = append(all, factorize.Banded{Bandwidth: w}, factorize.Toeplitz{Bandwidth: w},
			factorize.BandedInverse{Bandwidth: w})
		if w < max(steps, 2) {
			all = append(all, factorize.BLT{Buffers: w})
		}
	}
	return all
}

// checker is a *testing.T or a *rapid.T.
type checker interface {
	Context() context.Context
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// kept counts the numbers that a filter holds on to while it runs, for each parameter.
func kept(t checker, c strategy.Strategy) int {
	f, err := c.Filter()
	if err != nil {
		t.Fatal(err)
	}
	rows, dst := make([][]float64, f.Memory()), make([]float64, 1)
	for s := range c.Steps() {
		f.StepTo(dst, []float64{1}, rows, s)
	}
	held := 0
	for _, row := range rows {
		held += len(row)
	}
	return held
}

// The choice for a budget fits it, by what its filter holds on to, and no class with any width that fits has less loss.
func TestChoiceFitsAndIsBest(t *testing.T) {
	network, known := florentine(t), knownOptima{}
	checkFew(t, func(t *rapid.T) {
		p := plan.Problem{Network: network, Schema: drawSchemaOf(t, 5)}
		steps := p.Schema.Steps()
		if rapid.Bool().Draw(t, "prefix") {
			p.Network, p.Workload = nil, workload.Spec{Kind: workload.Prefix}
		}
		budget := plan.Budget{Dim: rapid.IntRange(1, 1000).Draw(t, "dim"), Float32: rapid.Bool().Draw(t, "float32")}
		numbers := rapid.IntRange(0, steps+1).Draw(t, "numbers")
		budget.Memory = budget.Bytes(numbers) + rapid.Float64Range(0, 0.999).Draw(t, "rest")*budget.Bytes(1)
		if budget.Floats() != numbers {
			t.Fatalf("%+v has room for %d numbers, not %d", budget, budget.Floats(), numbers)
		}
		choiceIsBest(t, known, p, budget)
	})
	// what the search for two bands bounds here is above their loss: patterns overlap
	choiceIsBest(t, known, plan.Problem{Network: network, Schema: must(participation.NewCyclic(4, 2, 1))},
		plan.Budget{Dim: 2, Memory: 16})
}

// choiceIsBest checks the choice for a budget by looking at all classes.
func choiceIsBest(t checker, known knownOptima, p plan.Problem, budget plan.Budget) {
	steps, numbers := p.Schema.Steps(), budget.Floats()
	s, err := plan.Solve(t.Context(), p, plan.Options{Budget: &budget, NoBaselines: true})
	if err != nil {
		t.Fatal(err)
	}
	chosen := s.Strategy()
	if held := kept(t, chosen); held > numbers || held != s.Manifest().Strategy.MemoryFloats {
		t.Fatalf("a budget of %d numbers, %s holds %d, the manifest says %d", numbers, plan.ClassText(s.Options.Class),
			held, s.Manifest().Strategy.MemoryFloats)
	}
	optima := known.solve(t, p)
	for i, c := range everyClass(steps) {
		if optima[i].floats <= numbers && s.Quality.Loss > optima[i].loss*(1+1e-5) {
			t.Fatalf("%v, %d numbers: %s has the loss %v, %s has %v", p.Schema, numbers, plan.ClassText(s.Options.Class),
				s.Quality.Loss, plan.ClassText(c), optima[i].loss)
		}
	}
}

// classOptimum is the least loss of a class, and the numbers that its strategy holds at a node.
type classOptimum struct {
	loss   float64
	floats int
}

// knownOptima are the optima of everyClass by problem: small problems are drawn again and again.
type knownOptima map[string][]classOptimum

func (k knownOptima) solve(t checker, p plan.Problem) []classOptimum {
	key := fmt.Sprintf("%v %#v", p.Network == nil, p.Schema)
	if k[key] == nil {
		h := gramOf(t, p)
		for _, c := range everyClass(p.Schema.Steps()) {
			r, err := c.Optimize(t.Context(), factorize.Mean(h), p.Schema, factorize.Options{})
			if err != nil {
				t.Fatal(err)
			}
			k[key] = append(k[key], classOptimum{r.Loss, r.Strategy.NodeCost().Floats})
		}
	}
	return k[key]
}

func gramOf(t checker, p plan.Problem) *mat.SymDense {
	if p.Network == nil {
		return workload.PrefixGram(p.Schema.Steps())
	}
	h, err := workload.Gram(t.Context(), p.Network.Gossip.Matrix(), p.Schema.Steps(), workload.Options{Spec: p.Workload})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func asked(epsilon float64) *plan.Privacy {
	return &plan.Privacy{Target: accounting.Target{Epsilon: epsilon, Delta: 1e-6}}
}

// Every choice costs what Solve says of its class and sampling; on the front nothing with as little memory is better,
// neither among the choices nor among all classes with all widths; and the best is nearly the least error of all.
func TestMemoryFront(t *testing.T) {
	p := plan.Problem{Network: florentine(t), Schema: must(participation.NewCyclic(6, 2, 3))}
	least, of := map[participation.Scheme]map[int]float64{participation.InTurn: {}, participation.Poisson: {}}, map[string]float64{}
	brute := func(sampling participation.Scheme, c factorize.Class) float64 {
		key := fmt.Sprintf("%v %#v", sampling, c)
		if e, known := of[key]; known {
			return e
		}
		s := solved(t, p, plan.Options{Class: c, Sampling: sampling, Privacy: asked(8), NoBaselines: true})
		for m := s.Strategy().NodeCost().Floats; m <= 6; m++ {
			if e, ok := least[sampling][m]; !ok || s.ErrorAtPrivacy < e {
				least[sampling][m] = s.ErrorAtPrivacy
			}
		}
		of[key] = s.ErrorAtPrivacy
		return s.ErrorAtPrivacy
	}
	for _, c := range everyClass(6) {
		brute(participation.InTurn, c)
	}
	for w := range 3 {
		brute(participation.Poisson, factorize.Banded{Bandwidth: w + 1})
	}
	for name, tc := range map[string]struct {
		budget  plan.Budget
		numbers int
	}{
		"all":        {plan.Budget{Dim: 10, Memory: math.Inf(1)}, 6},
		"few":        {plan.Budget{Dim: 10, Memory: 5*80 - 1}, 4},
		"one, small": {plan.Budget{Dim: 10, Memory: 2*40 - 1, Float32: true}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			options := plan.Options{Privacy: asked(8), Budget: &tc.budget}
			a := must(plan.FindMemoryFront(t.Context(), plan.Case{Problem: p, Options: options}))
			if a.NoPoisson != nil || options.Budget.Dim != 10 {
				t.Fatal(a.NoPoisson)
			}
			for _, c := range a.Choices {
				if c.Floats > tc.numbers {
					t.Errorf("%v keeps more than %d", c, tc.numbers)
				}
				if e := brute(c.Sampling, c.Class); math.Abs(c.ErrorAtPrivacy-e) > 1e-5*e {
					t.Errorf("%v %s: %v, but Solve says %v", c.Sampling, plan.ClassText(c.Class), c.ErrorAtPrivacy, e)
				}
				if c.Front && c.ErrorAtPrivacy > least[c.Sampling][c.Floats]*(1+1e-5) {
					t.Errorf("%v %s on the front: %v, but %v is possible", c.Sampling, plan.ClassText(c.Class),
						c.ErrorAtPrivacy, least[c.Sampling][c.Floats])
				}
			}
			inTurn, secret := least[participation.InTurn][tc.numbers], least[participation.Poisson][tc.numbers]
			if e := a.BestInTurn.ErrorAtPrivacy; e > plan.Near*inTurn*(1+1e-5) {
				t.Errorf("in turn %v, least %v", e, inTurn)
			}
			if e := a.Best.ErrorAtPrivacy; e > plan.Near*math.Min(inTurn, secret)*(1+1e-5) {
				t.Errorf("best %v, least %v and %v", e, inTurn, secret)
			}
			if want := brute(participation.InTurn, factorize.Dense{}); math.Abs(a.Optimum-want) > 1e-5*want {
				t.Errorf("optimum %v, want %v", a.Optimum, want)
			}
		})
	}
}

// With Poisson sampling the number of bands is the best of those that fit.
func TestBudgetOfBands(t *testing.T) {
	p := plan.Problem{Network: florentine(t), Schema: must(participation.NewCyclic(12, 3, 4))}
	least := math.Inf(1)
	for numbers := range 3 {
		least = math.Min(least, solved(t, p, sampled(16, factorize.Banded{Bandwidth: numbers + 1})).ErrorAtPrivacy)
		o := sampled(16, nil)
		o.Budget = &plan.Budget{Dim: 3, Memory: float64(numbers*3*8) + 5}
		s := solved(t, p, o)
		if held := s.Strategy().NodeCost().Floats; held > numbers || math.Abs(s.ErrorAtPrivacy-least) > 1e-6*least {
			t.Errorf("%d numbers: holds %d with %v, least %v", numbers, held, s.ErrorAtPrivacy, least)
		}
	}
}

// Where secret batches have no accountant, advice is about batches in turn and says why.
func TestMemoryFrontWithoutPoisson(t *testing.T) {
	p := plan.Problem{Network: florentine(t), Schema: must(participation.NewMinSep(8, 2, 4))}
	budget := plan.Budget{Dim: 1, Memory: math.Inf(1)}
	a := must(plan.FindMemoryFront(t.Context(), plan.Case{Problem: p, Options: plan.Options{Privacy: asked(2), Budget: &budget}}))
	if a.NoPoisson == nil || a.Best.Sampling != participation.InTurn || a.Optimum != 0 {
		t.Errorf("%+v", a)
	}
}

// What cannot be is refused before any work, with the field.
func TestBudgetsThatAreNone(t *testing.T) {
	p := plan.Problem{Network: florentine(t), Schema: must(participation.NewCyclic(8, 2, 4))}
	good := plan.Budget{Dim: 5, Memory: 80}
	for field, o := range map[string]plan.Options{
		"Dim":    {Budget: &plan.Budget{Memory: 8}},
		"Memory": {Budget: &plan.Budget{Dim: 1}},
	} {
		refused(t, field, p.Check(o))
	}
	refused(t, "Memory", p.Check(plan.Options{Budget: &good, Class: factorize.BLT{}}))
	refused(t, "Memory", p.Check(plan.Options{Budget: &good, Groups: 2}))
	refused(t, "Epsilon", plan.CheckMemoryFront(plan.Case{Problem: p, Options: plan.Options{Budget: &good}}))
	refused(t, "Dim", plan.CheckMemoryFront(plan.Case{Problem: p, Options: plan.Options{Privacy: asked(1)}}))
	refused(t, "Class", plan.CheckMemoryFront(plan.Case{Problem: p, Options: plan.Options{Privacy: asked(1), Budget: &good, Class: factorize.BLT{}}}))
}

func refused(t *testing.T, field string, err error) {
	t.Helper()
	var a *fault.Argument
	if !errors.As(err, &a) || a.Field != field {
		t.Errorf("%v: want an argument error about %s", err, field)
	}
}

// checkFew is rapid.Check with 20 cases, if it is not told another number: each case is several optimizations.
func checkFew(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	if checks := flag.Lookup("rapid.checks"); checks.Value.String() == checks.DefValue {
		defer func() { _ = checks.Value.Set(checks.DefValue) }()
		_ = checks.Value.Set("20")
	}
	rapid.Check(t, property)
}
