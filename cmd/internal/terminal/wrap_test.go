package terminal

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"pgregory.net/rapid"
)

// Values hang below values, prose a little further in, and tables stay.
func TestWrapLine(t *testing.T) {
	for name, tc := range map[string]struct {
		line, want string
		width      int
	}{
		"fits":        {"a b", "a b", 3},
		"no terminal": {"a b", "a b", 0},
		"value": {"privacy        mu = 0.4483, that is (2, 1e-06)-DP against everybody",
			"privacy        mu = 0.4483, that is (2,\n               1e-06)-DP against\n               everybody", 40},
		"goes on":     {"               and so on and so on", "               and so on and\n               so on", 30},
		"two columns": {"ok      loss   three words more words", "ok      loss   three words\n               more words", 30},
		"prose":       {"mafalda: one two three", "mafalda: one\n  two three", 14},
		"a long word": {"see /a/very/long/path for more", "see\n  /a/very/long/path\n  for more", 12},
		"command":     {"    mafalda optimize --graph g.edges --T 380 -o out", "    mafalda optimize --graph \\\n        g.edges --T 380 -o out", 32},
		"quotes":      {"    mafalda report 'a b' -o 'c d.html'", "    mafalda report 'a b' -o 'c d.html'", 20},
		"table":       {"│ one two three │", "│ one two three │", 8},
		"wide":        {"who  東京都 see messages", "who  東京都\n     see\n     messages", 14},
		"not far":     {"a long text that has no column  but a gap", "a long text that has\n  no column  but a\n  gap", 20},
	} {
		if got := wrapLine(tc.line, tc.width); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// At every width no word is lost, no line is too wide that has more than one word, and what is written in pieces comes
// out like what is written at once.
func TestWrappingKeepsWords(t *testing.T) {
	word := rapid.StringMatching(`[a-zµ=.,()0-9]{1,12}`)
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.SampledFrom([]int{60, 80, 100, 120}).Draw(t, "width")
		label := rapid.SampledFrom([]string{"", "privacy        ", "               ", "ok      loss         ", "  "}).Draw(t, "label")
		line := label + strings.Join(rapid.SliceOfN(word, 1, 60).Draw(t, "words"), " ")
		text := wrapLine(line, width)
		if got, want := strings.Join(strings.Fields(text), " "), strings.Join(strings.Fields(line), " "); got != want {
			t.Fatalf("%q became %q", want, got)
		}
		for part := range strings.SplitSeq(text, "\n") {
			if utf8.RuneCountInString(part) > width {
				t.Fatalf("%q is wider than %d", part, width)
			}
		}
		var out bytes.Buffer
		w := newTextWriter(&out, func() int { return width })
		whole := line + "\n" + line
		for whole != "" {
			n := rapid.IntRange(1, len(whole)).Draw(t, "piece")
			if _, err := w.Write([]byte(whole[:n])); err != nil {
				t.Fatal(err)
			}
			whole = whole[n:]
		}
		if w.end(); out.String() != text+"\n"+text {
			t.Fatalf("%q, want %q twice", out.String(), text)
		}
	})
}

// Paragraphs are filled again, and lists keep their lines.
func TestReflowed(t *testing.T) {
	const text = "one two three\nfour\n\n  a list\n  of lines\n          that go on\n\nend"
	if got, want := reflowed(text, 12), "one two\nthree four\n\n  a list\n  of lines\n    that go\n    on\n\nend"; got != want {
		t.Errorf("%q", got)
	}
}

// A shell reads a wrapped example as it was.
func TestWrapExamples(t *testing.T) {
	const text = "  mafalda optimize --graph florentine --T 380 -o out   # the best\n  mafalda verify out   # fast"
	const want = "  # the best\n  mafalda optimize --graph \\\n      florentine --T 380 -o \\\n      out\n  mafalda verify out   # fast"
	if got := wrapExamples(text, 30); got != want {
		t.Errorf("%s", got)
	}
}

// No line of a script is broken, on whatever terminal.
func TestCompletionIsNotWrapped(t *testing.T) {
	script := func(wrapped bool) string {
		var out bytes.Buffer
		root := &cobra.Command{Use: "mafalda", Run: func(*cobra.Command, []string) {}}
		root.AddCommand(&cobra.Command{Use: "verify", Run: func(*cobra.Command, []string) {}})
		root.SetOut(&out)
		if wrapped {
			root.SetOut(newTextWriter(&out, func() int { return 60 }))
		}
		root.SetArgs([]string{"completion", "bash"})
		strict(root)
		if err := root.Execute(); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if text := script(true); text == "" || text != script(false) {
		t.Errorf("%q", text)
	}
}
