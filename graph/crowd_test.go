package graph

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime/debug"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mafalda/internal/limits"
)

// small returns a builder that looks for duplicates after so many edges.
func small(directed bool, step int) *builder {
	b := newBuilder(directed)
	b.crowd.step, b.crowd.full, b.crowd.sort = step, step, step
	return b
}

// Whether duplicates are dropped while reading or at the end changes nothing: neither graph nor counts nor errors.
func TestDroppingDuplicatesEarly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 4))
		nodes, lines := rapid.IntRange(2, 9).Draw(t, "nodes"), rapid.IntRange(1, 200).Draw(t, "lines")
		odd := rapid.SampledFrom([]int{10, 100, 1e6}).Draw(t, "odd") // one line of so many has another weight
		var text strings.Builder
		if rapid.Bool().Draw(t, "title") {
			text.WriteString("from to 1\n")
		}
		for range lines {
			weight := 1
			if rng.IntN(odd) == 0 {
				weight = 1 + rng.IntN(3)
			}
			fmt.Fprintf(&text, "%d %d %d\n", rng.IntN(nodes), rng.IntN(nodes), weight)
		}
		directed := rapid.Bool().Draw(t, "directed")
		late, early := newBuilder(directed), small(directed, rapid.IntRange(1, 20).Draw(t, "step"))
		read := func(b *builder) (*Graph, error) {
			if err := readEdgeList(strings.NewReader(text.String()), "g", b); err != nil {
				return nil, err
			}
			return b.graph("g")
		}
		want, wantErr := read(late)
		got, err := read(early)
		if !reflect.DeepEqual(got, want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("%s%v\n%v, want %v", text.String(), got, err, wantErr)
		}
		if err == nil && (early.duplicates != late.duplicates || early.selfLoops != late.selfLoops) {
			t.Fatalf("%s%d duplicates and %d self-loops, want %d and %d", text.String(), early.duplicates,
				early.selfLoops, late.duplicates, late.selfLoops)
		}
	})
}

// The same few edges, however often they are there, take the memory of a few.
func TestRepeatedEdgesTakeNoMemory(t *testing.T) {
	for different := 1; different <= 100; different *= 10 {
		b := small(false, 1000)
		for i := range 100_000 {
			if err := b.add("x", fmt.Sprint(i%different), 1, i); err != nil {
				t.Fatal(err)
			}
		}
		if cap(b.pairs) > 5000 {
			t.Errorf("%d different edges are kept in %d places", different, cap(b.pairs))
		}
		if g, err := b.graph("g"); err != nil || g.Edges() != different || b.duplicates != 100_000-different {
			t.Errorf("%d edges and %d duplicates, %v", g.Edges(), b.duplicates, err)
		}
	}
}

// Edges and labels for which there is no memory are refused, with the line.
func TestGraphsBeyondTheMemory(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(2e6))
	var text strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&text, "%d %d\n", i%200, 200+i/200)
	}
	err := readEdgeList(strings.NewReader(text.String()), "g", small(false, 1000))
	if !errors.Is(err, limits.ErrMemory) || !strings.HasPrefix(err.Error(), "g:9000: ") ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v", err)
	}
	labels := strings.NewReader(strings.Repeat("1 "+strings.Repeat("2", 1<<19)+"\n", 3) + "1 3\n")
	if err := readEdgeList(labels, "g", newBuilder(false)); err != nil {
		t.Errorf("one long label, three times: %v", err)
	}
	b := newBuilder(false)
	for i := 0; b.err == nil && i < 1000; i++ {
		b.node(strings.Repeat("x", 1<<19) + fmt.Sprint(i))
	}
	if !errors.Is(b.err, limits.ErrMemory) {
		t.Errorf("labels: error %v", b.err)
	}
}
