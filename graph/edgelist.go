package graph

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// readEdgeList reads lines of two labels and perhaps a weight, separated by white space, commas or semicolons; empty lines
// and lines that start with # or % do not count. Line ends may be Windows'.
func readEdgeList(r io.Reader, source string, b *builder) error {
	var fields []string
	return lines(r, source, func(line string, number int) error {
		if line == "" || line[0] == '#' || line[0] == '%' {
			return nil
		}
		if strings.IndexByte(line, 0) >= 0 || !utf8.ValidString(line) {
			return fmt.Errorf("not text; an edge list has lines like \"17 42\"")
		}
		fields = splitEdge(line, fields[:0])
		weight := 1.0
		switch len(fields) {
		case 2:
		case 3:
			w, err := parseWeight(fields[2])
			if err != nil {
				return err
			}
			weight = w
		default:
			return fmt.Errorf("%d fields in %.60q: an edge has two nodes and perhaps a weight", len(fields), line)
		}
		b.add(fields[0], fields[1], weight, number)
		return nil
	})
}

// splitEdge splits at commas or semicolons if there are any, at white space otherwise.
func splitEdge(line string, fields []string) []string {
	separator := ","
	if !strings.Contains(line, ",") {
		separator = ";"
	}
	if !strings.Contains(line, separator) {
		return append(fields, strings.Fields(line)...)
	}
	for f := range strings.SplitSeq(line, separator) {
		if f = strings.TrimSpace(f); f == "" {
			return nil // "a,,b" has no meaning
		}
		fields = append(fields, f)
	}
	return fields
}

// WriteEdges writes g as an edge list of labels, separated by tabs, with weights if it has any. Labels with white space,
// commas or semicolons, or that start like a comment, cannot be written.
func WriteEdges(w io.Writer, g *Graph) error {
	for _, l := range g.Labels() {
		if strings.ContainsAny(l, " \t,;") || strings.HasPrefix(l, "#") || strings.HasPrefix(l, "%") {
			return fmt.Errorf("label %q cannot stand in an edge list", l)
		}
	}
	bw := bufio.NewWriter(w)
	g.adjacency.DoNonZero(func(u, v int, weight float64) {
		switch {
		case !g.directed && v < u:
		case g.weighted:
			fmt.Fprintf(bw, "%s\t%s\t%.17g\n", g.labels[u], g.labels[v], weight)
		default:
			fmt.Fprintf(bw, "%s\t%s\n", g.labels[u], g.labels[v])
		}
	})
	return bw.Flush()
}
