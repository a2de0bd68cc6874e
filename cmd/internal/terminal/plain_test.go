package terminal

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"mafalda/internal/text"

	"pgregory.net/rapid"
)

// What a terminal would obey is shown instead, and everything else stays.
func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"│ é ∞ 10⁻⁵\n\ta": "│ é ∞ 10⁻⁵\n\ta", "\x1b[2J": `\u001b[2J`, "a\rb": `a\u000db`, "\u009b1m\x7f": `\u009b1m\u007f`,
		"\u202edas": `\u202edas`, "a\u200f1": `a\u200f1`, "a\xffb": "a\ufffdb", "": "", `\u001b`: `\u001b`,
	} {
		if got := Plain(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := PlainLine("a\nok\tb"); got != `a\u000aok\u0009b` {
		t.Errorf("%q", got)
	}
}

// However a text is cut into writes, the writer writes the same Plain text, and JSON with the same meaning.
func TestPlainWriter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		said := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).
			Draw(t, "text")
		var out bytes.Buffer
		p := newPlainWriter(&out)
		for rest := said; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "part")
			if wrote, err := io.WriteString(p, rest[:n]); wrote != n || err != nil {
				t.Fatalf("%d of %d, %v", wrote, n, err)
			}
			rest = rest[n:]
		}
		p.end()
		if got := out.String(); got != Plain(said) || strings.ContainsFunc(strings.NewReplacer("\n", "", "\t", "").Replace(got),
			text.ControlsTerminal) {
			t.Fatalf("%q: %q", said, got)
		}
		out.Reset()
		var back string
		err := WriteJSON(newTextWriter(p, func() int { return 60 }), said)
		if err != nil || json.Unmarshal(out.Bytes(), &back) != nil || utf8.ValidString(said) && back != said {
			t.Fatalf("%q came back as %q, %v", said, back, err)
		}
	})
}

// Bytes that are no text pass as they are.
func TestRaw(t *testing.T) {
	var out bytes.Buffer
	w, end := wrappingWriter(&out)
	if _, err := Raw(w).Write([]byte{0x1b, 0xff}); err != nil {
		t.Fatal(err)
	}
	end()
	if !bytes.Equal(out.Bytes(), []byte{0x1b, 0xff}) {
		t.Errorf("%q", out.Bytes())
	}
}
