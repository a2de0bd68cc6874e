package workload

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/graph"
	"mafalda/internal/fault"
)

// The mean over all signs is the definition: what random vectors estimate.
func TestAllSignsAreDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, steps := rapid.IntRange(1, 4).Draw(t, "n"), rapid.IntRange(1, 6).Draw(t, "T")
		s := drawChanging(t, steps)
		s.GraphSequence = drawSequence(t, n)
		w := complete(n)
		networks := networksOf(t, s, w)
		want, err := explicitGram(networks, steps, s, nil)
		if err != nil {
			t.Fatal(err)
		}
		p := &probing{Spec: s, steps: steps}
		p.weights, _ = s.Weights.Vector(steps)
		sum := mat.NewSymDense(steps, nil)
		for signs := range 1 << n {
			z := make([]float64, n)
			for i := range z {
				z[i] = float64(2*(signs>>i&1) - 1)
			}
			h := mat.NewSymDense(steps, nil)
			p.apart = p.separates(networks)
			if err := p.respond(context.Background(), h, networks, z, nil, 0, func(int) {}); err != nil {
				t.Fatal(err)
			}
			sum.AddSym(sum, h)
		}
		sum.ScaleSym(1/float64(int(1)<<n), sum)
		if d := difference(s, sum, want); d > 1e-11 {
			t.Fatalf("the mean of all signs is\n%v and not\n%v", mat.Formatted(sum), mat.Formatted(want))
		}
	})
}

// What is said of the error of an estimate holds, for networks that are drawn and for those that are not.
func TestSampledErrorsHold(t *testing.T) {
	const steps = 8
	runs, allowed := 100, 4 // 1 is to be expected at most
	if testing.Short() {
		runs, allowed = 40, 3
	}
	g, _, err := graph.ByName("star:40", graph.BuiltinOptions{})
	if err != nil {
		t.Fatal(err)
	}
	gossip, err := graph.NewGossip(g, graph.Uniform)
	if err != nil {
		t.Fatal(err)
	}
	w := gossip.Matrix()
	links := Spec{Changes: Changes{LinkFailures: 0.3}}
	drawn := networksOf(t, links, w)
	q, err := NewSequence([]*graph.CSR{w, drawn.At(0, 0), drawn.At(1, 0)}, "")
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]Spec{
		"links": links, "sequence": {Changes: Changes{GraphSequence: q}},
		"tracking": {Optimizer: Optimizer{GradientTracking: true}, Changes: Changes{NodeFailures: 0.2}},
	} {
		truth, err := Gram(context.Background(), w, steps, Options{Spec: s})
		if err != nil {
			t.Fatal(err)
		}
		beyond := 0
		for seed := range uint64(runs) {
			e, err := NewSampled(context.Background(), w, steps, Options{Spec: s, Probes: 5, Seed: seed})
			if err != nil {
				t.Fatal(err)
			}
			var square float64
			err = e.Deviations(steps, func(d *mat.SymDense, probe bool) error {
				square += mat.Trace(d) * mat.Trace(d) / float64(e.Probes()*(e.Probes()-1))
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if off := mat.Trace(e.Kernel(steps).Gram()) - mat.Trace(truth); math.Abs(off) > e.Factor()*math.Sqrt(square)+1e-9 {
				beyond++
			}
		}
		if beyond > allowed {
			t.Errorf("%s: %d of %d beyond what is said", name, beyond, runs)
		}
	}
}

// A seed says everything.
func TestSampledIsReproducible(t *testing.T) {
	s := Spec{Optimizer: Optimizer{Momentum: 0.5}, Changes: Changes{NodeFailures: 0.1, LinkFailures: 0.2},
		Absence: Absence{MissedSteps: 0.1, Carry: true}}
	grams := make([]*mat.SymDense, 3)
	for i, seed := range []uint64{1, 1, 2} {
		e, err := NewSampled(context.Background(), complete(9), 7, Options{Spec: s, Probes: 4, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		grams[i] = e.Kernel(7).Gram()
	}
	if !mat.Equal(grams[0], grams[1]) || mat.Equal(grams[0], grams[2]) {
		t.Error("not a function of the seed")
	}
}

func TestSampledRefuses(t *testing.T) {
	good := Options{Spec: Spec{Changes: Changes{NodeFailures: 0.1}}, Probes: 4}
	bad := good
	bad.Probes = 3
	if _, err := NewSampled(context.Background(), complete(3), 4, bad); err == nil {
		t.Error("three probes")
	}
	bad = good
	bad.Spec.NodeFailures = 2
	var a *fault.Argument
	if _, err := NewSampled(context.Background(), complete(3), 4, bad); !errors.As(err, &a) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := NewSampled(ctx, complete(3), 4, good); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
