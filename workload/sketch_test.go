package workload

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/graph"
)

// reversible draws a small connected graph with a gossip matrix in detailed balance.
func reversible(t *rapid.T) (*graph.CSR, []float64) {
	spec := rapid.SampledFrom([]string{"florentine", "path:2", "path:7", "star:5", "cycle:6", "complete:4",
		"grid:3x4"}).Draw(t, "graph")
	if rapid.Bool().Draw(t, "random") {
		spec = fmt.Sprintf("watts:%d,2,0.3", rapid.IntRange(5, 20).Draw(t, "n"))
	}
	g, _, err := graph.ByName(spec, graph.BuiltinOptions{Seed: rapid.Uint64().Draw(t, "graph seed")})
	if err != nil {
		t.Fatal(err)
	}
	largest := g.Subgraph(g.Components()[0])
	w, err := graph.NewGossip(largest, rapid.SampledFrom([]graph.Scheme{graph.Uniform, graph.Metropolis,
		graph.Laplacian}).Draw(t, "scheme"))
	if err != nil {
		t.Fatal(err)
	}
	pi, ok := w.Stationary()
	if !ok {
		t.Fatal("no detailed balance")
	}
	return w.Matrix(), pi
}

// everything is a sketch from all unit vectors and all steps, which is no estimate.
func everything(t *rapid.T, w *graph.CSR, pi []float64, spec Spec) *Sketch {
	s, err := NewSketch(context.Background(), w, pi, Options{Spec: spec, Probes: len(pi) + 2, LanczosSteps: len(pi) + 1})
	if err != nil {
		t.Fatal(err)
	}
	if s.Probes() != len(pi) || s.Factor() != 0 || s.Confidence() != 1 {
		t.Fatalf("%d vectors for %d nodes, factor %v", s.Probes(), len(pi), s.Factor())
	}
	return s
}

// With as many vectors as nodes, and all steps, a sketch is the kernel.
func TestSketchOfEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, pi := reversible(t)
		steps := rapid.IntRange(1, 30).Draw(t, "T")
		spec := drawSpec(t, steps)
		s := everything(t, w, pi, spec)
		want, err := Gram(context.Background(), w, steps, Options{Spec: spec})
		if err != nil {
			t.Fatal(err)
		}
		if d := largestDifference(s.Kernel(steps).Gram(), want); d > 1e-9 {
			t.Fatalf("the sketch is %g off", d)
		}
	})
}

// Random vectors give estimates whose errors are of the size that their differences say.
func TestSketchErrors(t *testing.T) {
	const steps = 24
	g, _, err := graph.ByName("barabasi:300,4", graph.BuiltinOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, scheme := range []graph.Scheme{graph.Uniform, graph.Metropolis} {
		w, err := graph.NewGossip(g, scheme)
		if err != nil {
			t.Fatal(err)
		}
		pi, _ := w.Stationary()
		truth, err := Gram(context.Background(), w.Matrix(), steps, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var ratio float64
		const seeds, probes = 10, 10
		for seed := range uint64(seeds) {
			s, err := NewSketch(context.Background(), w.Matrix(), pi,
				Options{Probes: probes, LanczosSteps: 30, Seed: seed})
			if err != nil {
				t.Fatal(err)
			}
			e := s.Kernel(steps).Gram()
			subtract(e, truth)
			var estimate float64
			err = s.Deviations(steps, func(d *mat.SymDense, probe bool) error {
				if probe {
					estimate += mat.Norm(d, 2) * mat.Norm(d, 2) / (probes * (probes - 1))
				} else if norm := mat.Norm(d, 2); norm > 0.2*mat.Norm(e, 2) {
					t.Errorf("%v: the truncation is %v of an error of %v", scheme, norm, mat.Norm(e, 2))
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			ratio += mat.Norm(e, 2) * mat.Norm(e, 2) / estimate / seeds
			if mat.Norm(e, 2) > 0.13*mat.Norm(truth, 2) { // five times √(2/(n·probes))
				t.Errorf("%v: error %v of %v", scheme, mat.Norm(e, 2), mat.Norm(truth, 2))
			}
		}
		if ratio < 0.3 || ratio > 3 {
			t.Errorf("%v: squared errors are %v times what they are estimated to be", scheme, ratio)
		}
	}
}

// A seed says everything, however many vectors are worked on at a time.
func TestSketchIsReproducible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, pi := reversible(t)
		opts := Options{Spec: drawSpec(t, 9), Probes: 4, LanczosSteps: 6, Seed: rapid.Uint64().Draw(t, "seed")}
		a, err := NewSketch(context.Background(), w, pi, opts)
		if err != nil {
			t.Fatal(err)
		}
		b, err := NewSketch(context.Background(), w, pi, opts)
		if err != nil {
			t.Fatal(err)
		}
		if x, y := a.Kernel(9).Gram(), b.Kernel(9).Gram(); !mat.Equal(x, y) {
			t.Fatalf("%v and %v", mat.Formatted(x), mat.Formatted(y))
		}
	})
}

func TestSketchRefuses(t *testing.T) {
	g, _, err := graph.ByName("florentine", graph.BuiltinOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := graph.NewGossip(g, graph.Uniform)
	if err != nil {
		t.Fatal(err)
	}
	pi, _ := w.Stationary()
	good := Options{Probes: LeastProbes, LanczosSteps: 5}
	for name, f := range map[string]func() error{
		"one probe": func() error {
			o := good
			o.Probes = 1
			_, err := NewSketch(context.Background(), w.Matrix(), pi, o)
			return err
		},
		"three probes": func() error {
			o := good
			o.Probes = 3
			_, err := NewSketch(context.Background(), w.Matrix(), pi, o)
			return err
		},
		"one step": func() error {
			o := good
			o.LanczosSteps = 1
			_, err := NewSketch(context.Background(), w.Matrix(), pi, o)
			return err
		},
		"prefix": func() error {
			o := good
			o.Spec.Kind = Prefix
			_, err := NewSketch(context.Background(), w.Matrix(), pi, o)
			return err
		},
		"networks that change": func() error {
			o := good
			o.Spec.LinkFailures = 0.1
			_, err := NewSketch(context.Background(), w.Matrix(), pi, o)
			return err
		},
		"lengths": func() error { _, err := NewSketch(context.Background(), w.Matrix(), pi[1:], good); return err },
	} {
		if f() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := NewSketch(ctx, w.Matrix(), pi, good); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// The random vectors of a sketch, and what it makes of them, do not depend on how many are worked on at a time.
func TestSketchDoesNotDependOnItsWidth(t *testing.T) {
	g, _, err := graph.ByName("barabasi:60,3", graph.BuiltinOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := graph.NewGossip(g, graph.Uniform)
	if err != nil {
		t.Fatal(err)
	}
	pi, _ := w.Stationary()
	l := newLanczos(w.Matrix(), pi)
	for _, drawn := range []int{1, 2, 3, 4} {
		narrow, wide := newVectors(l, false, drawn, 5), newVectors(l, false, drawn, 5)
		var one []*run
		for left := 4; left > 0; {
			width := min(drawn, left)
			runs, err := l.runs(narrow.nextBlock(width), width, 10, nil, func(int) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			one, left = append(one, runs...), left-width
		}
		four, err := l.runs(wide.nextBlock(4), 4, 10, nil, func(int) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(one, four) {
			t.Errorf("vectors drawn by %d and worked on by four give other runs", drawn)
		}
	}
}
