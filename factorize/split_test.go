package factorize

import (
	"context"
	"errors"
	"flag"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/optim"
	"mafalda/participation"
	"mafalda/strategy"
)

// nodeGrams draws Gram matrices of a few nodes, some of them twice, and their sum.
func nodeGrams(t *rapid.T, steps int) ([]*mat.SymDense, *mat.SymDense) {
	sum := mat.NewSymDense(steps, nil)
	var grams []*mat.SymDense
	for range rapid.IntRange(1, 5).Draw(t, "nodes") {
		h := randomGram(t, steps)
		for range rapid.IntRange(1, 2).Draw(t, "copies") {
			grams = append(grams, h)
			sum.AddSym(sum, h)
		}
	}
	return grams, sum
}

func optimal(t rapid.TB, h *mat.SymDense, s participation.Schema) *Result {
	r, err := Dense{}.Optimize(context.Background(), Mean(h), s, Options{Gap: 1e-7})
	if err != nil || r.Status != optim.Converged {
		t.Fatalf("%v: %v, %v", s, r, err)
	}
	return r
}

// TestSplitByDefinition checks strategies for single nodes against the optimum of each node alone, and groups between
// these and the shared strategy; losses follow the definition, and the bounds are below them.
func TestSplitByDefinition(t *testing.T) {
	checkFew(t, func(t *rapid.T) {
		s := drawSchema(t)
		grams, sum := nodeGrams(t, s.Steps())
		shared := optimal(t, sum, s)
		single, err := Nodes{Grams: grams, Shared: shared.Strategy}.Optimize(context.Background(), s, Options{Gap: 1e-7})
		if err != nil {
			t.Fatal(err)
		}
		var alone float64
		for i, h := range grams {
			alone += optimal(t, h, s).Loss
			if want := lossByDefinition(single.Strategies[single.Of[i]], h, s.Patterns()); math.Abs(single.Losses[i]-want) > 1e-9*want {
				t.Fatalf("node %d has the loss %v, by definition %v", i, single.Losses[i], want)
			}
		}
		checkSplit(t, single)
		if math.Abs(single.Loss-alone) > 1e-6*alone {
			t.Fatalf("single nodes have the loss %v, each alone %v", single.Loss, alone)
		}
		groups := rapid.IntRange(1, len(grams)).Draw(t, "groups")
		grouped, err := Nodes{grams, shared.Strategy, groups, nil}.Optimize(context.Background(), s, Options{Gap: 1e-7})
		if err != nil {
			t.Fatal(err)
		}
		checkSplit(t, grouped)
		if len(grouped.Strategies) > groups || grouped.Loss > shared.Loss*(1+1e-6) || grouped.Loss < single.LowerBound || grouped.LowerBound > single.Loss {
			t.Fatalf("%d groups: %d strategies, loss %v; single %v, shared %v", groups, len(grouped.Strategies), grouped.Loss, single.Loss, shared.Loss)
		}
		if groups == 1 && math.Abs(grouped.Loss-shared.Loss) > 1e-6*shared.Loss {
			t.Fatalf("one group has the loss %v, not %v", grouped.Loss, shared.Loss)
		}
	})
}

func checkSplit(t *rapid.T, r *Split) {
	var sum float64
	for _, l := range r.Losses {
		sum += l
	}
	if r.Status != optim.Converged || math.Abs(sum-r.SquaredError) > 1e-12*sum || r.Sensitivity.Squared > 1 || !(r.LowerBound <= r.Loss) ||
		r.GroupBound > r.Loss || r.LowerBound > r.GroupBound || r.Loss > r.GroupBound*(1+1e-6) {
		t.Fatalf("%+v", r)
	}
}

// TestSplitOfEqualNodes: nodes that are alike up to rounding share one strategy; a node that nobody listens to keeps the
// shared one and costs nothing.
func TestSplitOfEqualNodes(t *testing.T) {
	s := schema(t, 2, 4)
	h := prefixGram(8)
	var near mat.SymDense
	near.ScaleSym(1+1e-14, h)
	nothing := mat.NewSymDense(8, nil)
	shared := optimal(t, h, s)
	nodes := Nodes{Grams: []*mat.SymDense{h, &near, nothing, h}, Shared: shared.Strategy}
	r, err := nodes.Optimize(context.Background(), s, Options{})
	if err != nil || len(r.Strategies) != 2 || r.Of[1] != 0 || r.Of[3] != 0 || r.Losses[2] != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if math.Abs(r.Loss-3*shared.Loss) > 1e-5*r.Loss {
		t.Errorf("loss %v, want three times %v", r.Loss, shared.Loss)
	}
}

func TestSplitErrors(t *testing.T) {
	h := prefixGram(8)
	two := []*mat.SymDense{h, h}
	shared := optimal(t, h, schema(t, 2, 4)).Strategy
	if _, err := (Nodes{two, shared, 3, nil}).Optimize(context.Background(), schema(t, 2, 4), Options{}); err == nil {
		t.Error("three groups of two nodes")
	}
	minsep, err := participation.NewMinSep(8, 2, 4)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Nodes{Grams: two, Shared: shared}.Optimize(context.Background(), minsep, Options{})
	if !errors.Is(err, ErrUnsupported) {
		t.Errorf("min-sep: %v", err)
	}
	unlike := Nodes{Grams: []*mat.SymDense{h, prefixGram(4)}, Shared: shared}
	if _, err := unlike.Optimize(context.Background(), schema(t, 2, 4), Options{}); err == nil {
		t.Error("nodes of different steps")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, groups := range []int{0, 2} {
		r, err := Nodes{two, shared, groups, nil}.Optimize(ctx, schema(t, 2, 4), Options{})
		if err != nil || r.Status != optim.Interrupted {
			t.Errorf("%d groups, interrupted: %+v, %v", groups, r, err)
		}
	}
}

// TestStartFromTheOptimum: started there, Optimize is done at once; a start that is no start is an error, a bad one is not
// taken.
func TestStartFromTheOptimum(t *testing.T) {
	s := schema(t, 4, 6)
	h := prefixGram(24)
	r := optimal(t, h, s)
	again, err := Dense{}.Optimize(context.Background(), Mean(h), s, Options{Gap: 1e-6, Start: strategy.GramOf(r.Strategy)})
	if err != nil || again.Iterations != 0 || math.Abs(again.Loss-r.Loss) > 1e-6*r.Loss {
		t.Errorf("%d iterations, loss %v (%v), want %v", again.Iterations, again.Loss, err, r.Loss)
	}
	if _, err := (Dense{}).Optimize(context.Background(), Mean(h), s, Options{Start: mat.NewSymDense(3, nil)}); err == nil {
		t.Error("a start of three steps")
	}
	if bad, err := (Dense{}).Optimize(context.Background(), Mean(h), s, Options{Start: mat.NewSymDense(24, nil)}); err != nil || bad.Status != optim.Converged {
		t.Errorf("start at zero: %v, %v", bad, err)
	}
}

// checkFew is rapid.Check with 40 cases, if it is not told another number: each case is several optimizations.
func checkFew(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	if checks := flag.Lookup("rapid.checks"); checks.Value.String() == checks.DefValue {
		defer func() { _ = checks.Value.Set(checks.DefValue) }()
		_ = checks.Value.Set("40")
	}
	rapid.Check(t, property)
}
