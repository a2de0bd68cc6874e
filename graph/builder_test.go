package graph

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mafalda/internal/files"
	"mafalda/internal/limits"
	"mafalda/internal/lists"
)

// Nodes stand in the order of their labels, and edges between the nodes of their labels, whether labels are small
// integers, long ones, with leading zeros, or words.
func TestRank(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		label := rapid.OneOf(rapid.SampledFrom([]string{"0", "00", "7", "07", "70000", "9999999", "10000000", "x", "-1", "1e3"}),
			rapid.Map(rapid.IntRange(0, 20000), strconv.Itoa))
		drawn := rapid.SliceOfNDistinct(label, 1, 60, rapid.ID).Draw(t, "labels")
		b := newBuilder(false)
		var want [][2]string
		for i, v := range drawn {
			u := drawn[i/2]
			if err := b.join(u, v, 1, i); err != nil {
				t.Fatal(err)
			}
			if u != v {
				want = append(want, [2]string{u, v})
			}
		}
		labels := b.rank()
		if !slices.Equal(labels, lists.Map(labelOrder(drawn), func(i int) string { return drawn[i] })) {
			t.Fatalf("%q became %q", drawn, labels)
		}
		if got := lists.Map(b.edges, func(e located) [2]string { return [2]string{labels[e.U], labels[e.V]} }); !slices.Equal(got, want) {
			t.Fatalf("edges %q, want %q", got, want)
		}
	})
}

// Edges and labels for which there is no memory are refused while they are read, with the line.
func TestGraphsBeyondTheMemory(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(2e7))
	last := (roomStep-2*(labelBytes+1))/edgeBytes + 1 // beside the labels
	err := readEdgeList(strings.NewReader(strings.Repeat("1 2\n", 2*last)), "g", newBuilder(false))
	if want := fmt.Sprintf("g:%d: ", last); !errors.Is(err, limits.ErrMemory) || !strings.HasPrefix(err.Error(), want) ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v, want %s", err, want)
	}
	b := newBuilder(false)
	long := strings.Repeat("x", 1<<19)
	for range 200 {
		if _, err := b.node(long); err != nil {
			t.Errorf("one long label, often: %v", err)
		}
	}
	err = nil
	for i := 0; err == nil && i < 1000; i++ {
		_, err = b.node(long + fmt.Sprint(i))
	}
	if !errors.Is(err, limits.ErrMemory) {
		t.Errorf("labels: error %v", err)
	}
}

// A line is refused from files.MaxLine bytes on, with an end or without, and whatever is in it.
func TestLongLines(t *testing.T) {
	for _, line := range []string{"1 2", "#", "a b"} {
		for _, end := range []string{"\n", ""} {
			for _, length := range []int{files.MaxLine - 1, files.MaxLine} {
				text := "0 1\n" + line + strings.Repeat(" ", length-len(line)) + end
				err := readEdgeList(strings.NewReader(text), "g", newBuilder(false))
				if (err == nil) != (length < files.MaxLine) || err != nil && err.Error() != "g:2: "+files.ErrLongLine.Error() {
					t.Errorf("%d bytes, %q, %q: error %v", length, line, end, err)
				}
			}
		}
	}
}
