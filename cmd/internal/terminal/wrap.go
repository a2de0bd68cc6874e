package terminal

import (
	"bytes"
	"cmp"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"golang.org/x/term"
)

// leastWidth is the least width of a terminal in which wrapped text can be read.
const leastWidth = 60

// terminalWidth returns the columns of the terminal that a writer writes to; 0 if that is none.
func terminalWidth(w io.Writer) int {
	if f, ok := FileOf(w); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			return width
		}
	}
	return 0
}

// FileOf returns the file that a writer of a command writes to, if it is one.
func FileOf(w io.Writer) (*os.File, bool) {
	f, is := Raw(w).(*os.File)
	return f, is
}

// Verbatim returns the writer for what no line may be broken of, even on a terminal: JSON, scripts, keys, addresses.
func Verbatim(w io.Writer) io.Writer {
	if t, ok := w.(*textWriter); ok {
		return t.to
	}
	return w
}

// textWriter breaks lines of text at the width of a terminal.
type textWriter struct{ changingWriter }

// newTextWriter returns a writer of whole lines.
func newTextWriter(to io.Writer, width func() int) *textWriter {
	return &textWriter{changingWriter{to: to, change: func(text string) string { return wrapLines(text, width()) },
		whole: func(text []byte) int { return bytes.LastIndexByte(text, '\n') + 1 }}}
}

// wrappingWriter returns a writer of plain text that wraps it, if w writes to a terminal; and what ends the last line, and returns the
// first error of writing, so that half an output is not taken for a whole one.
func wrappingWriter(w io.Writer) (io.Writer, func() error) {
	p := newPlainWriter(w)
	if terminalWidth(w) == 0 {
		return p, p.end
	}
	t := newTextWriter(p, func() int { return max(terminalWidth(w), leastWidth) })
	return t, func() error { return cmp.Or(t.end(), p.end()) }
}

// wrapLines breaks the lines of a text that are wider, between words.
func wrapLines(text string, width int) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = wrapLine(line, width)
	}
	return strings.Join(lines, "\n")
}

// wrapLine breaks a line that is wider than that between words. What follows is indented like the column of values, if
// the line has one, else by a little more than the line; commands of this program are broken as a shell takes them.
// Lines of tables stay.
func wrapLine(line string, width int) string {
	if width <= 0 || displaywidth.String(line) <= width || strings.ContainsAny(line, "│┌├└") {
		return line
	}
	if blanks := len(line) - len(strings.TrimLeft(line, " ")); strings.HasPrefix(line[blanks:], "mafalda ") {
		return brokenCommand(line, width, blanks+4)
	}
	return broken(line, width, hanging(line, width/2))
}

// brokenCommand breaks a command line so that it can still be copied; one with quotes, which may hold blanks, stays.
func brokenCommand(line string, width, indent int) string {
	if strings.ContainsAny(line, "'\"`") {
		return line
	}
	return strings.ReplaceAll(broken(strings.TrimRight(line, " "), width-2, indent), "\n", " \\\n")
}

// broken breaks a line between words, and indents what follows; there is no break before that column.
func broken(line string, width, indent int) string {
	words := strings.TrimLeft(line, " ")
	column := len(line) - len(words)
	var out strings.Builder
	out.WriteString(line[:column])
	for gap := ""; words != ""; {
		word, rest, _ := strings.Cut(words, " ")
		n := displaywidth.String(word)
		if column > indent && column+len(gap)+n > width {
			out.WriteString("\n" + strings.Repeat(" ", indent))
			column, gap = indent, ""
		}
		out.WriteString(gap + word)
		column += len(gap) + n
		words = strings.TrimLeft(rest, " ")
		gap = strings.Repeat(" ", 1+len(rest)-len(words))
	}
	return out.String()
}

var columnGap = regexp.MustCompile(`\S {2,}`)

// hanging returns where the last column of a line begins that is set off by two blanks or more, at most as far as that;
// two columns more than where the line begins, without such a column.
func hanging(line string, most int) int {
	indent := len(line) - len(strings.TrimLeft(line, " "))
	if indent < 8 { // else it goes on with a value
		indent += 2
	}
	for _, at := range columnGap.FindAllStringIndex(line, -1) {
		if column := displaywidth.String(line[:at[1]]); column <= most {
			indent = column
		}
	}
	return min(indent, most)
}

// goesOn is what stands between the lines of an entry of a list.
var goesOn = regexp.MustCompile(`\n {8,}`)

// reflowed fills the paragraphs of a text whose lines were broken elsewhere; those with indented lines are lists, an
// entry a line.
func reflowed(text string, width int) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		if strings.Contains("\n"+p, "\n ") {
			paragraphs[i] = wrapLines(goesOn.ReplaceAllString(p, " "), width)
		} else {
			paragraphs[i] = broken(strings.ReplaceAll(p, "\n", " "), width, 0)
		}
	}
	return strings.Join(paragraphs, "\n\n")
}
