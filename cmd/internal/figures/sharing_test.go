package figures

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"mafalda/graph"
	"mafalda/secrets"
)

func named(t *testing.T, name string) *graph.Graph {
	t.Helper()
	g, _, err := graph.ByName(name, graph.BuiltinOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Layouts are the same every time, inside the unit square, with no two nodes in one place, and as the definition of
// stress has it: a path's layout has the path's distances; majorization never increases the stress.
func TestLayout(t *testing.T) {
	for _, name := range []string{"florentine", "complete:7", "star:9", "path:1", "path:2", "cycle:12", "grid:4x5"} {
		g := named(t, name)
		a, b := Layout(g), Layout(g)
		for i, p := range a {
			if p != b[i] || !(p.X >= 0 && p.X <= 1 && p.Y >= 0 && p.Y <= 1) {
				t.Errorf("%s: node %d is at %v and %v", name, i, p, b[i])
			}
			for j := range i {
				if math.Hypot(p.X-a[j].X, p.Y-a[j].Y) < 0.01 {
					t.Errorf("%s: nodes %d and %d are both at %v", name, i, j, p)
				}
			}
		}
		d := distances(g)
		at := startOf(d)
		for last := math.Inf(1); ; {
			now := stress(at, func(i, j int) float64 { return d.At(i, j) })
			if now > last*(1+1e-9)+1e-12 {
				t.Fatalf("%s: the stress rises from %v to %v", name, last, now)
			}
			if now > last*(1-1e-6) || now == 0 {
				break
			}
			last = now
			majorize(at, d)
		}
	}
	for i, p := range Layout(named(t, "path:6")) {
		if want := math.Abs(float64(i) / 5); math.Min(math.Abs(p.X-want), math.Abs(p.X-(1-want))) > 0.02 || p.Y > 0.05 {
			t.Errorf("node %d of a path is at %v", i, p)
		}
	}
	two, err := graph.New([]string{"a", "b", "c", "d"}, []graph.Edge{{U: 0, V: 1, Weight: 1}, {U: 2, V: 3, Weight: 1}}, false)
	if err != nil {
		t.Fatal(err)
	}
	at := Layout(two)
	if near, far := math.Hypot(at[0].X-at[1].X, at[0].Y-at[1].Y), math.Hypot(at[0].X-at[2].X, at[0].Y-at[2].Y); near > far {
		t.Errorf("two components: %v", at)
	}
}

func stress(at []Point, d func(i, j int) float64) float64 {
	var sum float64
	for i := range at {
		for j := range i {
			by := math.Hypot(at[i].X-at[j].X, at[i].Y-at[j].Y)/d(i, j) - 1
			sum += by * by
		}
	}
	return sum
}

// The picture has a circle a node, with its label, and a line for every pair that shares noise; of no pair at all, too.
func TestSharingPicture(t *testing.T) {
	g := named(t, "star:5")
	noise := &secrets.Noise{Own: []float64{0.2, 1, 1, 0.5, 0}}
	draw := func() string {
		f, err := Sharing(g, noise)
		if err != nil {
			t.Fatal(err)
		}
		var text, again, png bytes.Buffer
		if err := f.WriteAs(&text, "x.svg", Style{}); err != nil {
			t.Fatal(err)
		}
		if err := f.WriteAs(&again, "x.svg", Style{}); err != nil || !bytes.Equal(text.Bytes(), again.Bytes()) {
			t.Fatalf("two pictures of one: %v", err)
		}
		if err := f.WriteAs(&png, "x.png", Style{}); err != nil || png.Len() < 1000 {
			t.Fatalf("%d bytes, %v", png.Len(), err)
		}
		return text.String()
	}
	none := draw()
	noise.Pairs = []secrets.Shared{{Pair: secrets.Pair{U: 0, V: 1}, Deviation: 0.3}, {Pair: secrets.Pair{U: 0, V: 2}},
		{Pair: secrets.Pair{U: 0, V: 3}, Deviation: 31}}
	some := draw()
	for _, label := range g.Labels() {
		if !strings.Contains(some, ">"+label+"</text>") {
			t.Errorf("no label %q", label)
		}
	}
	if !strings.Contains(some, "relies on nobody") || strings.Count(some, "<path") <= strings.Count(none, "<path") {
		t.Errorf("%d paths, and %d without pairs", strings.Count(some, "<path"), strings.Count(none, "<path"))
	}
	if _, err := Sharing(named(t, "star:6"), noise); err == nil {
		t.Error("noise of other nodes")
	}
}
