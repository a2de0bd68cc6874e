package graph

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// readEdgesLineByLine is readEdgeList as its comment says it, one line after the other.
func readEdgesLineByLine(r io.Reader, source string, b *builder) (err error) {
	var e edgeLines
	first := true
	b.lines, err = lines(r, source, func(line string, number int) error {
		if isComment(line) {
			return nil
		}
		u, v, weight, err := e.parse(line, number)
		if err != nil {
			return err
		}
		if first {
			b.plain, first = e.plain, false
		}
		return b.add(u, v, weight, number)
	})
	return err
}

// textOfEdges draws an edge list, right or wrong.
func textOfEdges(t *rapid.T) string {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 33))
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	nodes := 1 + rng.IntN(12)
	label := func() string { return fmt.Sprint(rng.IntN(nodes)) }
	switch rng.IntN(4) {
	case 0:
		label = func() string { return pick("a", "b", "ann", "7", "\u00e9", "é", "x1") }
	case 1:
		label = func() string {
			return pick("0", "00", "7", "007", "99999999", "100000000", "-1", "+2", "70000", "1e3", "18446744073709551615")
		}
	}
	separator := pick(" ", "\t", ",", ";", "  ", ", ")
	weight := func() string { return "" }
	if rng.IntN(3) == 0 {
		weight = func() string { return separator + "1" }
	} else if rng.IntN(2) == 0 {
		weight = func() string {
			return separator + pick("0.5", "2", "1e-3", ".5", "0x1p-2", "3", "3", "1_0", "Inf", "1e999")
		}
	}
	odd, end := pick("", "", "#"), pick("\n", "\n", "\r\n")
	var text strings.Builder
	if rng.IntN(6) == 0 {
		text.WriteString(pick("from"+separator+"to"+weight(), "# SNAP", "", "%") + end)
	}
	for range rng.IntN(40) {
		switch {
		case rng.IntN(12) == 0:
			text.WriteString(pick("", "# x", "%", " ", "\t# y", "\v", "\u00a0"))
		case odd != "" && rng.IntN(30) == 0:
			text.WriteString(pick("1", "1 2 3 4", "1,2 3", "1 2 heavy", "\x00", "\xff 1", "1,,2", "1 \u202e2", "1 2 -1", "1 2 0",
				"1 2 NaN", "3 4", "3 4 5", "1\r2", "1;2,3", "\x1b[0m 1", "\u00851 2", "1 2 00000000000000000000000000000000000001"))
		default:
			text.WriteString(pick("", "", " ", "\t") + label() + separator + label() + weight() + pick("", "", " ", "\r"))
		}
		if text.WriteString(end); rng.IntN(50) == 0 {
			break
		}
	}
	if s := text.String(); rng.IntN(3) > 0 {
		return s
	} else {
		return strings.TrimSuffix(s, end)
	}
}

// Wherever blocks end and however many processors parse them, an edge list becomes the graph, the counts or the error
// that reading it line by line makes of it.
func TestEdgeBlocksAreReadLikeLines(t *testing.T) {
	failures := 0
	rapid.Check(t, func(t *rapid.T) {
		text := textOfEdges(t)
		directed := rapid.Bool().Draw(t, "directed")
		breaks := rapid.SampledFrom([]error{nil, nil, io.ErrUnexpectedEOF, errors.New("a broken disk")}).Draw(t, "breaks")
		read := func(with func(r io.Reader, b *builder) error) (*Graph, *builder, error) {
			var r io.Reader = strings.NewReader(text)
			if breaks != nil {
				r = io.MultiReader(r, iotest.ErrReader(breaks))
			}
			b := newBuilder(directed)
			if err := with(r, b); err != nil {
				return nil, b, err
			}
			g, err := b.graph("g")
			return g, b, err
		}
		want, slow, wantErr := read(func(r io.Reader, b *builder) error { return readEdgesLineByLine(r, "g", b) })
		size := rapid.OneOf(rapid.IntRange(1, 30), rapid.Just(blockSize)).Draw(t, "size")
		got, fast, err := read(func(r io.Reader, b *builder) error {
			if size%2 == 0 {
				r = iotest.HalfReader(r)
			}
			return readEdgeBlocks(r, "g", b, size)
		})
		if !reflect.DeepEqual(got, want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("%q in blocks of %d: %v, %v; want %v, %v", text, size, got, err, want, wantErr)
		}
		if wantErr != nil {
			failures++
		} else if fast.lines != slow.lines || fast.duplicates != slow.duplicates || fast.selfLoops != slow.selfLoops {
			t.Fatalf("%q in blocks of %d: %d lines, %d duplicates, %d self-loops; want %d, %d, %d", text, size, fast.lines,
				fast.duplicates, fast.selfLoops, slow.lines, slow.duplicates, slow.selfLoops)
		}
	})
	if failures == 0 {
		t.Error("no file was wrong: the test says nothing of errors")
	}
}

// A line is refused from the same length on, with an end or without, and whatever is in it.
func TestLongLinesInBlocks(t *testing.T) {
	for _, length := range []int{maxLine - 1, maxLine} {
		for _, line := range []string{"1 2", "#", "a b"} {
			for _, end := range []string{"\n", ""} {
				text := "0 1\n" + line + strings.Repeat(" ", length-len(line)) + end
				slow, fast := newBuilder(false), newBuilder(false)
				want := readEdgesLineByLine(strings.NewReader(text), "g", slow)
				err := readEdgeList(strings.NewReader(text), "g", fast)
				if (want == nil) != (length < maxLine) || fmt.Sprint(err) != fmt.Sprint(want) || len(fast.pairs) != len(slow.pairs) {
					t.Errorf("%d bytes, %q, %q: error %v, want %v", length, line, end, err, want)
				}
			}
		}
	}
}

// An error leaves no goroutine behind that still reads the file.
func TestEdgeBlocksEndWithTheirReader(t *testing.T) {
	before := runtime.NumGoroutine()
	text := "1 2\n3\n" + strings.Repeat("1 2\n", 10_000)
	if err := readEdgeBlocks(strings.NewReader(text), "g", newBuilder(false), 100); err == nil {
		t.Fatal("a line of one node was read")
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines, %d before", after, before)
	}
}
