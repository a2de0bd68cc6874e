package terminal

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"mafalda/internal/runes"
)

// Plain returns a text with everything escaped that a terminal would obey instead of showing it (runes.ControlsTerminal), as
// \u001b stands for ESC; ends of lines and tabs stay. JSON stays the same JSON.
func Plain(text string) string { return escaped(text, "\n\t") }

// PlainLine is Plain for what has to stay in its line, such as a text that a file of a folder holds.
func PlainLine(text string) string { return escaped(text, "") }

func escaped(text, but string) string {
	steers := func(r rune) bool { return runes.ControlsTerminal(r) && !strings.ContainsRune(but, r) }
	if utf8.ValidString(text) && !strings.ContainsFunc(text, steers) {
		return text
	}
	var b strings.Builder
	for _, r := range text { // what is not UTF-8 is U+FFFD
		if steers(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// plainWriter writes Plain text: all that a program says goes through one, but for Raw bytes.
type plainWriter struct {
	mu    sync.Mutex
	to    io.Writer
	begun []byte // of a character
}

func (p *plainWriter) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := append(p.begun, b...)
	whole := len(text)
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if c := text[len(text)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(text[len(text)-i:]) {
				whole -= i
			}
			break
		}
	}
	p.begun = append([]byte(nil), text[whole:]...)
	if _, err := io.WriteString(p.to, Plain(string(text[:whole]))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// end writes a character that has not ended.
func (p *plainWriter) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = io.WriteString(p.to, Plain(string(p.begun)))
	p.begun = nil
}

// Raw returns the writer for bytes that are no text, or a script that somebody will run: nothing in them is escaped.
func Raw(w io.Writer) io.Writer {
	if p, ok := Verbatim(w).(*plainWriter); ok {
		return p.to
	}
	return w
}
