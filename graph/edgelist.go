package graph

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// readEdgeList reads lines of two labels and perhaps a weight, separated by white space, commas or semicolons; empty lines
// and lines that start with # or % do not count. Line ends may be Windows'.
func readEdgeList(r io.Reader, source string, b *builder) (err error) {
	var fields []string
	b.lines, err = lines(r, source, func(line string, number int) (err error) {
		if isComment(line) {
			return nil
		}
		if strings.IndexByte(line, 0) >= 0 || !utf8.ValidString(line) {
			return errors.New("not text; an edge list has lines like \"17 42\"")
		}
		if fields, err = splitEdge(line, fields[:0]); err != nil {
			return err
		}
		weight := 1.0
		switch len(fields) {
		case 2:
		case 3:
			if weight, err = parseWeight(fields[2]); err != nil {
				return err
			}
		default:
			return fmt.Errorf("%d fields in %.60q: an edge has two nodes and perhaps a weight", len(fields), line)
		}
		b.add(fields[0], fields[1], weight, number)
		return nil
	})
	return err
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
		return append(fields, strings.Fields(line)...), nil
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

// WriteEdges writes g as an edge list of labels, separated by tabs, with weights if it has any, that Load reads as the same
// graph: a node without edges becomes a self-loop. Labels that Load would not read back, such as those with white space,
// commas or semicolons, are an error.
func WriteEdges(w io.Writer, g *Graph) error {
	touched := make([]bool, g.Nodes())
	g.adjacency.DoNonZero(func(u, v int, _ float64) { touched[u], touched[v] = true, true })
	bw := bufio.NewWriter(w)
	write := func(u, v int, weight float64) {
		switch {
		case !g.directed && v < u:
		case g.weighted:
			fmt.Fprintf(bw, "%s\t%s\t%.17g\n", g.labels[u], g.labels[v], weight)
		default:
			fmt.Fprintf(bw, "%s\t%s\n", g.labels[u], g.labels[v])
		}
	}
	for u, l := range g.labels {
		if !isWritable(l) {
			return fmt.Errorf("label %q cannot stand in an edge list", l)
		}
		if !touched[u] {
			write(u, u, 1)
		}
		g.adjacency.DoRowNonZero(u, write)
	}
	return bw.Flush()
}

// isWritable reports whether the reader finds label twice in a line of twice the label, and at the start of a file.
func isWritable(label string) bool {
	if isComment(label) || strings.ContainsAny(label, "\x00\n\r") || strings.HasPrefix(label, byteOrderMark) || !utf8.ValidString(label) {
		return false
	}
	fields, err := splitEdge(strings.TrimSpace(label+"\t"+label), nil)
	return err == nil && slices.Equal(fields, []string{label, label})
}
