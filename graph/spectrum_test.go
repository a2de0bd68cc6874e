package graph

import (
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestSecondEigenvalueClosedForms(t *testing.T) {
	for name, tc := range map[string]struct {
		spec   string
		scheme Scheme
		want   float64
	}{
		"one node":           {"complete:1", Uniform, 0},
		"complete":           {"complete:9", Uniform, 0},
		"cycle, uniform":     {"cycle:12", Uniform, (1 + 2*math.Cos(2*math.Pi/12)) / 3},
		"cycle, max-degree":  {"cycle:9", MaxDegree, math.Abs(math.Cos(math.Pi * 8 / 9))},
		"bipartite":          {"cycle:8", MaxDegree, 1},
		"hypercube, uniform": {"hypercube:6", Uniform, (6.0 + 1 - 2) / 7},
		"path of two":        {"path:2", Laplacian, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := NewGossip(builtin(t, tc.spec, 0), tc.scheme)
			if err != nil {
				t.Fatal(err)
			}
			got, err := w.SecondEigenvalue()
			if err != nil || math.Abs(got.Modulus-tc.want) > 1e-12 || math.Abs(got.Gap()-(1-tc.want)) > 1e-12 {
				t.Errorf("%+v, %v; want %v", got, err, tc.want)
			}
		})
	}
}

func TestLanczosIsDense(t *testing.T) {
	for _, spec := range []string{"erdos:300,0.05", "cycle:60", "barabasi:200,3", "path:2"} {
		for _, scheme := range []Scheme{Uniform, Metropolis} {
			w, err := NewGossip(builtin(t, spec, 3), scheme)
			if err != nil {
				t.Fatal(err)
			}
			want, err := w.SecondEigenvalue()
			if err != nil {
				t.Fatal(err)
			}
			pi, ok := w.Stationary()
			if !ok {
				t.Fatal("no detailed balance")
			}
			got := w.lanczos(pi)
			if math.Abs(got.Modulus-want.Modulus) > got.Error+1e-12 || got.Error > 1e-6 {
				t.Errorf("%s, %v: %+v, dense %+v", spec, scheme, got, want)
			}
		}
	}
}

// Beyond the dense sizes: never above the truth, and not farther below than the error says.
func TestLanczosClosedForms(t *testing.T) {
	for name, tc := range map[string]struct {
		spec string
		want float64
	}{
		"hypercube":       {"hypercube:12", 11.0 / 13},
		"star":            {"star:2000", 0.5},
		"complete":        {"complete:1300", 0},
		"not yet settled": {"cycle:1300", (1 + 2*math.Cos(2*math.Pi/1300)) / 3},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := NewGossip(builtin(t, tc.spec, 0), Uniform)
			if err != nil {
				t.Fatal(err)
			}
			got, err := w.SecondEigenvalue()
			if err != nil || got.Method != "Lanczos" || got.Modulus > tc.want+1e-13 || got.Modulus < tc.want-got.Error {
				t.Errorf("%+v, %v; want %v", got, err, tc.want)
			}
		})
	}
}

func TestSecondEigenvalueOfDirected(t *testing.T) {
	// a rotation by one of three, lazily: eigenvalues (1 + ω)/2
	w := &Gossip{w: NewCSRFromDense(mat.NewDense(3, 3, []float64{0.5, 0.5, 0, 0, 0.5, 0.5, 0.5, 0, 0.5}))}
	if got, err := w.SecondEigenvalue(); err != nil || math.Abs(got.Modulus-0.5) > 1e-12 {
		t.Errorf("%+v, %v; want 0.5", got, err)
	}
	n := maxDenseGeneral + 1
	var entries []Edge
	for u := range n {
		entries = append(entries, Edge{u, u, 0.5}, Edge{u, (u + 1) % n, 0.5})
	}
	slices.SortFunc(entries, compareEdges)
	if _, err := (&Gossip{w: NewSquare(n, entries)}).SecondEigenvalue(); !errors.Is(err, ErrSpectrum) {
		t.Errorf("large directed: %v", err)
	}
}
