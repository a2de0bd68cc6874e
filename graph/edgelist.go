package graph

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"mafalda/internal/files"
)

// readEdgeList reads lines of two labels and perhaps, all or none of them, a weight, separated by white space, commas
// or semicolons; empty lines and lines that start with # or % do not count. Line ends may be Windows'.
func readEdgeList(r io.Reader, source string, b *labelled) error {
	var e edgeLines
	_, err := files.Lines(r, source, func(line string, number int) error {
		if isComment(line) {
			return nil
		}
		u, v, weight, err := e.parse(line, number)
		if err != nil {
			return err
		}
		return b.join(u, v, weight, number)
	})
	return err
}

// edgeLines reads the lines of an edge list.
type edgeLines struct {
	fields    []string
	firstLine int  // the first line with an edge; 0: none yet
	plain     bool // the first line with an edge has no weight
}

// parse reads a line that is no comment. It refuses an edge with a weight after one without, and one without after one
// with a weight.
func (e *edgeLines) parse(line string, number int) (u, v string, weight float64, err error) {
	if strings.IndexByte(line, 0) >= 0 || !utf8.ValidString(line) {
		return "", "", 0, errors.New("not text; an edge list has lines like \"17 42\"")
	}
	if e.fields, err = splitEdge(line, e.fields[:0]); err != nil {
		return "", "", 0, err
	}
	plain := len(e.fields) == 2
	if !plain && len(e.fields) != 3 {
		return "", "", 0, fmt.Errorf("%.60q is no edge, which has two nodes and perhaps a weight", line)
	}
	weight = 1.0
	if !plain {
		if weight, err = parseWeight(e.fields[2]); err != nil {
			return "", "", 0, err
		}
	}
	if e.firstLine == 0 {
		e.firstLine, e.plain = number, plain
	}
	if plain != e.plain {
		return "", "", 0, fmt.Errorf("this edge has %s, that of line %d has %s: give all edges a weight, or none",
			weights(plain), e.firstLine, weights(e.plain))
	}
	return e.fields[0], e.fields[1], weight, nil
}

func weights(none bool) string {
	if none {
		return "no weight"
	}
	return "a weight"
}

func isComment(line string) bool { return line == "" || line[0] == '#' || line[0] == '%' }

// splitEdge splits at commas or semicolons if there are any, at white space otherwise. Labels between commas may have
// spaces, but what looks like two ways of separating at once is an error: "1,2 0.5" is no edge from 1 to "2 0.5".
func splitEdge(line string, fields []string) ([]string, error) {
	separator := ","
	if !strings.Contains(line, ",") {
		separator = ";"
	}
	if !strings.Contains(line, separator) {
		return slices.AppendSeq(fields, strings.FieldsSeq(line)), nil
	}
	for f := range strings.SplitSeq(line, separator) {
		if f = strings.TrimSpace(f); f == "" {
			return nil, fmt.Errorf("an empty field in %.60q", line)
		}
		if strings.Contains(f, "\t") || areNumbers(f) {
			return nil, fmt.Errorf("both %q and white space separate the fields of %.60q: use one", separator, line)
		}
		fields = append(fields, f)
	}
	return fields, nil
}

// areNumbers reports whether f is several words and each an integer or a weight.
func areNumbers(f string) bool {
	if !strings.Contains(f, " ") {
		return false
	}
	words := strings.Fields(f)
	for _, w := range words {
		_, err := parseWeight(w)
		if _, ok := parseInteger(w); !ok && err != nil {
			return false
		}
	}
	return len(words) > 1
}

// WriteEdges writes g as an edge list of labels, with weights if it has any, that Load reads as the same graph: a node
// without edges becomes a self-loop. Labels are separated by tabs, or by commas if some have white space or semicolons.
// Every graph that Load returns can be written; other labels that Load would not read back, such as those with commas,
// are an error.
func WriteEdges(w io.Writer, g *Graph) error {
	separator, err := g.separator()
	if err != nil {
		return err
	}
	bw := bufio.NewWriter(w)
	var bad error
	write := func(u, v int, weight float64) {
		a, b := g.labels[u], g.labels[v]
		if isComment(a) && !g.directed {
			a, b = b, a
		}
		if isComment(a) && bad == nil {
			bad = fmt.Errorf("label %q cannot start a line of an edge list", a)
		}
		if g.weighted {
			fmt.Fprintf(bw, "%s%s%s%s%.17g\n", a, separator, b, separator, weight)
		} else {
			fmt.Fprintf(bw, "%s%s%s\n", a, separator, b)
		}
	}
	touched := make([]bool, g.Nodes())
	g.adjacency.DoNonZero(func(u, v int, _ float64) { touched[u], touched[v] = true, true })
	title := g.likeTitle()
	for _, last := range []bool{false, true} {
		for u := range g.labels {
			if !touched[u] && !last {
				write(u, u, 1)
			}
			g.adjacency.DoRowNonZero(u, func(u, v int, weight float64) {
				if (g.directed || u <= v) && (title[u] && title[v]) == last {
					write(u, v, weight)
				}
			})
		}
	}
	return errors.Join(bad, bw.Flush())
}

// separator returns what can stand between labels.
func (g *Graph) separator() (string, error) {
	separator := "\t"
	for _, l := range g.labels {
		if separator == "\t" && !isWritable(l, separator) {
			separator = ","
		}
	}
	for _, l := range g.labels {
		if !isWritable(l, separator) {
			return "", fmt.Errorf("label %q cannot stand in an edge list", l)
		}
	}
	return separator, nil
}

// likeTitle returns the only two nodes whose labels are no integers, if there are two: an edge between them, in the
// first line, would look like the names of columns.
func (g *Graph) likeTitle() map[int]bool {
	words := map[int]bool{}
	for u, l := range g.labels {
		if _, ok := parseInteger(l); !ok {
			if words[u] = true; len(words) > 2 {
				return nil
			}
		}
	}
	if len(words) < 2 {
		return nil
	}
	return words
}

// isWritable reports whether the reader finds label twice in a line of twice the label.
func isWritable(label, separator string) bool {
	if label == "" || strings.ContainsAny(label, "\x00\n\r") || !utf8.ValidString(label) || CheckLabel(label) != nil {
		return false
	}
	fields, err := splitEdge(strings.TrimSpace(label+separator+label), nil)
	return err == nil && slices.Equal(fields, []string{label, label})
}
