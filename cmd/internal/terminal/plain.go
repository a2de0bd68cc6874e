package terminal

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"mafalda/internal/text"
)

// Plain returns a text with everything escaped that a terminal would obey instead of showing it (text.ControlsTerminal), as
// \u001b stands for ESC; ends of lines and tabs stay. JSON stays the same JSON.
func Plain(text string) string { return escaped(text, "\n\t") }

// PlainLine is Plain for what has to stay in its line, such as a text that a file of a folder holds.
func PlainLine(text string) string { return escaped(text, "") }

func escaped(said, but string) string {
	steers := func(r rune) bool { return text.ControlsTerminal(r) && !strings.ContainsRune(but, r) }
	if utf8.ValidString(said) && !strings.ContainsFunc(said, steers) {
		return said
	}
	var b strings.Builder
	for _, r := range said { // what is not UTF-8 is U+FFFD
		if steers(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// changingWriter writes changed text. What is not whole yet waits for the rest.
type changingWriter struct {
	mu     sync.Mutex
	to     io.Writer
	change func(text string) string
	whole  func(text []byte) int // how many bytes from the beginning can be changed
	begun  []byte
	err    error // the first one of writing
}

func (w *changingWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := append(w.begun, b...)
	whole := w.whole(text)
	w.begun = slices.Clone(text[whole:])
	if whole == 0 {
		return len(b), nil
	}
	if err := w.put(text[:whole]); err != nil {
		return 0, err
	}
	return len(b), nil
}

// put writes changed text.
func (w *changingWriter) put(text []byte) error {
	_, err := io.WriteString(w.to, w.change(string(text)))
	w.err = cmp.Or(w.err, err)
	return err
}

// end writes what was not whole, and returns the first error of writing.
func (w *changingWriter) end() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.put(w.begun)
	w.begun = nil
	return w.err
}

// plainWriter writes Plain text: all that a program says goes through one, but for Raw bytes.
type plainWriter struct{ changingWriter }

// newPlainWriter returns a writer of whole characters.
func newPlainWriter(to io.Writer) *plainWriter {
	return &plainWriter{changingWriter{to: to, change: Plain, whole: func(text []byte) int {
		for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
			if c := text[len(text)-i]; utf8.RuneStart(c) {
				if !utf8.FullRune(text[len(text)-i:]) {
					return len(text) - i
				}
				break
			}
		}
		return len(text)
	}}}
}

// Raw returns the writer for bytes that are no text, or a script to be run: nothing in them is escaped.
func Raw(w io.Writer) io.Writer {
	if p, ok := Verbatim(w).(*plainWriter); ok {
		return p.to
	}
	return w
}
