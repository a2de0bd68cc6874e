package ppac

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/protocols/averaging"
)

// problemOn is one with drawn values of standard deviation 10.
func problemOn(t *testing.T, spec string, scheme graph.Scheme) averaging.Problem {
	t.Helper()
	n, err := graph.LoadNetwork(t.Context(), graph.NetworkOptions{Source: spec, Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return averaging.Problem{Network: n, Values: averaging.DrawValues(n.Graph.Nodes(), 10, 0), ValueStd: 10}
}

func average(t *testing.T, p averaging.Problem, o AverageOptions) *Averaging {
	t.Helper()
	a, err := Average(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// On the Florentine families, leakages are not below what the average says, and the generalized leaves, with what is
// next to leaves, are the infinite ones.
func TestAverage(t *testing.T) {
	r := average(t, problemOn(t, "florentine", graph.Laplacian), AverageOptions{NoiseStd: 1500}).Result
	infinite := map[Leaf]bool{}
	for _, p := range r.Pairs {
		switch v := float64(p.Leakage); {
		case math.IsInf(v, 1):
			infinite[Leaf{p.Victim, p.Observer}] = true
		case v < r.Floor*(1-1e-9):
			t.Errorf("%s learns %g of %s, less than the average says", p.Observer, v, p.Victim)
		}
	}
	if len(r.Pairs) != 15*14 || len(r.Leaves) != 5 || len(infinite) != 6 || !infinite[Leaf{"Salviati", "Medici"}] ||
		r.UpTo != nil || r.Infinite != 6 || !math.IsInf(float64(r.Worst), 1) || math.IsInf(r.WorstFinite(), 1) {
		t.Errorf("%d pairs, generalized leaves %v, infinite %v", len(r.Pairs), r.Leaves, infinite)
	}
	for _, l := range r.Leaves {
		if !infinite[l] {
			t.Errorf("the generalized leaf %v does not show in the leakage", l)
		}
	}
	if last := r.Errors[len(r.Errors)-1]; len(r.Errors) != r.Rounds+1 || last > 1e-6 || len(r.Chosen) != 15 {
		t.Errorf("%d rounds, the last error %g", r.Rounds, last)
	}
	for _, v := range r.Recovered {
		if math.Abs(v.Value-v.Recovered) > 1e-6 {
			t.Errorf("%+v", v)
		}
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var again Result
	if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(again, r) {
		t.Errorf("the result changes on its way through JSON: %v", err)
	}
}

func TestAverageOfObservers(t *testing.T) {
	p := problemOn(t, "florentine", graph.Laplacian)
	one := 1
	p.Rounds, p.Observers, p.Victims = &one, [][]int{{2}}, []int{5}
	if r := average(t, p, AverageOptions{}).Result; len(r.Pairs) != 1 || r.Rounds != 1 || *r.UpTo != 1 ||
		r.NoiseStd != 150 {
		t.Errorf("%+v", r)
	}
	p = problemOn(t, "cycle:9", graph.Laplacian)
	p.Observers = [][]int{{1, 3}}
	r := average(t, p, AverageOptions{}).Result
	between := slices.ContainsFunc(r.Pairs, func(p PairLeakage) bool {
		return p.Victim == "2" && math.IsInf(float64(p.Leakage), 1) && p.Observer == "1,3"
	})
	if !between || len(r.Pairs) != 7 {
		t.Errorf("two observers around a victim: %+v", r.Pairs)
	}
}

// Rounds t counts the messages of the rounds 0 to t: on a-b-c, c computes b's value from the messages of rounds 0 and 1,
// not from round 0 alone.
func TestAverageRoundsCountMessages(t *testing.T) {
	for rounds, want := range []bool{false, true} {
		p := problemOn(t, "path:3", graph.Laplacian)
		p.Rounds, p.Observers, p.Victims = &rounds, [][]int{{2}}, []int{1}
		r := average(t, p, AverageOptions{}).Result
		if inf := math.IsInf(float64(r.Pairs[0].Leakage), 1); inf != want || len(r.Errors) != rounds+1 {
			t.Errorf("%d rounds: %+v", rounds, r)
		}
	}
}

// What is large but sparse is done: a neighbour's leakage on a large cycle is that on a small one.
func TestAverageOnLargeCycle(t *testing.T) {
	three := 3
	leakage := func(spec string) float64 {
		p := problemOn(t, spec, graph.Laplacian)
		p.Rounds, p.Observers, p.Victims = &three, [][]int{{0}}, []int{1}
		return float64(average(t, p, AverageOptions{}).Result.Pairs[0].Leakage)
	}
	if a, b := leakage("cycle:10101"), leakage("cycle:21"); !(a > 0) || math.Abs(a-b) > 0.2*b {
		t.Errorf("%g on a large cycle, %g on a small one", a, b)
	}
}

func TestAverageRefuses(t *testing.T) {
	p := problemOn(t, "path:3", graph.Laplacian)
	var a *fault.Argument
	if _, err := Average(t.Context(), p, AverageOptions{NoiseStd: math.NaN()}); !errors.As(err, &a) || a.Field != "NoiseStd" {
		t.Errorf("NaN: %v", err)
	}
	if _, err := Average(t.Context(), p, AverageOptions{Chosen: []int{2, 2, 1}}); !errors.Is(err, ErrNetwork) {
		t.Errorf("a neighbour that is none: %v", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Average(cancelled, p, AverageOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	path := filepath.Join(t.TempDir(), "chosen")
	for text, say := range map[string]string{"0 2\n1 2\n2 1\n": `chosen:1: node 0 chooses "2", which is not its neighbour`,
		"0 1\n1 0\n": "nothing for node 2"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadChosen(path, p.Network.Graph); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// More noise takes longer, and leaks less, never less than the average says; rounds stay below the bound.
func TestSweep(t *testing.T) {
	a, err := AppendixExample(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	var done float64
	s, err := a.Sweep(t.Context(), func(fraction float64) { done = fraction })
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Noises {
		if s.Worst[i] < a.Result.Floor || s.Rounds[i] > s.Bounds[i] || len(s.Errors[i]) != 61 || s.Worst[i] != s.Mean[i] {
			t.Errorf("noise %g: leakage %g, %g rounds of at most %g", s.Noises[i], s.Worst[i], s.Rounds[i], s.Bounds[i])
		}
		if i > 0 && (s.Worst[i] > s.Worst[i-1] || s.Rounds[i] < s.Rounds[i-1] || s.Errors[i][0] < s.Errors[i-1][0]) {
			t.Errorf("noise %g after %g: leakage %g after %g", s.Noises[i], s.Noises[i-1], s.Worst[i], s.Worst[i-1])
		}
	}
	if done != 1 || len(s.Noises) != 6 {
		t.Errorf("%d noises, progress %g", len(s.Noises), done)
	}
	leaf := problemOn(t, "path:3", graph.Laplacian)
	leaf.Observers, leaf.Victims = [][]int{{1}}, []int{0}
	if s, err := average(t, leaf, AverageOptions{}).Sweep(t.Context(), nil); err != nil || s.Worst != nil {
		t.Errorf("all leakages are infinite: %v, %v", s.Worst, err)
	}
}

// On cycles a neighbour learns more than the average says, and that with noise tends to its limit.
func TestCycles(t *testing.T) {
	all, err := Cycles(t.Context())
	if err != nil || len(all) != 4 {
		t.Fatalf("%d cycles, %v", len(all), err)
	}
	for _, c := range all {
		if last := len(c.Leakages) - 1; c.Leakages[last] < c.Floor || !slices.IsSortedFunc(c.Leakages,
			func(a, b float64) int { return cmp.Compare(b, a) }) {
			t.Errorf("%d nodes: %v, the average says %g", c.Nodes, c.Leakages, c.Floor)
		}
	}
}
