package graph

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mafalda/internal/npy"
)

func write(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func gzipped(s string) string {
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	_, _ = z.Write([]byte(s))
	_ = z.Close()
	return buf.String()
}

// describe lists the edges of g by label.
func describe(g *Graph) string {
	var buf bytes.Buffer
	if err := WriteEdges(&buf, g); err != nil {
		return err.Error()
	}
	return strings.ReplaceAll(strings.TrimSpace(buf.String()), "\t", "-")
}

func TestLoadRefuses(t *testing.T) {
	matrix := func(shape []int, data ...float64) string {
		var buf bytes.Buffer
		if err := npy.Write(&buf, shape, data); err != nil {
			t.Fatal(err)
		}
		return buf.String()
	}
	const mtx = "%%MatrixMarket matrix coordinate real general\n"
	for name, tc := range map[string]struct{ file, content, say string }{
		"empty":                {"g", "", "empty"},
		"comments only":        {"g", "# nothing\n", "empty"},
		"one node":             {"g", "1 1\n", "no edges"},
		"one column":           {"g", "1 2\n3\n", `:2: "3" is no edge`},
		"header line":          {"g.csv", "source,target\n1,2\n2,3\n", `:1: "source" and "target" look like`},
		"four columns":         {"g", "1 2 3 4\n", `:1: "1 2 3 4" is no edge`},
		"empty field":          {"g", "1,,2\n", ":1: an empty field"},
		"comma and space":      {"g", "1 2\n1,2 0.5\n", `:2: both "," and white space`},
		"comma and tab":        {"g", "Smith,J\tDoe\n", `:1: both "," and white space`},
		"weight is text":       {"g", "1 2 heavy\n", `:1: weight "heavy"`},
		"weight is NaN":        {"g", "1 2\n2 3 NaN\n", ":2: weight NaN"},
		"weight is infinite":   {"g", "1 2 inf\n", ":1: weight inf"},
		"weight is negative":   {"g", "1 2 -1\n", ":1: weight -1"},
		"weight is zero":       {"g", "1 2 0\n", ":1: weight 0"},
		"conflicting weights":  {"g", "1 2 3\n3 4 1\n2 1 4\n", ":3: edge 1 2 has the weight 4, but 3 in line 1"},
		"binary":               {"g", "\x00\x01\x02", ":1: not text"},
		"not UTF-8":            {"g", "\xff\xfe1 2\n", ":1: not text"},
		"endless line":         {"g", "1 2\n" + strings.Repeat("1", 2<<20), ":2: a line of more than a megabyte"},
		"broken gzip":          {"g.gz", gzipped("1 2\n2 3\n")[:25], "truncated: the compressed"},
		"gzip of half a line":  {"g.gz", gzipped("1 2\n2 3\n")[:17], ":2: truncated: the compressed"},
		"gzip of no header":    {"g.gz", gzipped("1 2\n2 3\n")[:5], "truncated: the compressed"},
		"npy truncated":        {"g.npy", matrix([]int{2, 2}, 0, 1, 1, 0)[:140], "truncated"},
		"npy not square":       {"g.npy", matrix([]int{1, 2}, 0, 1), "shape [1 2]"},
		"npy one-dimensional":  {"g.npy", matrix([]int{2}, 0, 1), "shape [2]"},
		"npy empty":            {"g.npy", matrix([]int{0, 0}), "empty"},
		"npy not symmetric":    {"g.npy", matrix([]int{2, 2}, 0, 1, 0, 0), "so the graph is directed"},
		"npy negative":         {"g.npy", matrix([]int{2, 2}, 0, -1, -1, 0), "(0,1) is -1"},
		"npy without edges":    {"g.npy", matrix([]int{2, 2}, 1, 0, 0, 1), "no edges"},
		"npy is text":          {"g.npy", "1 2\n", "does not start"},
		"mtx empty":            {"g.mtx", "", "empty"},
		"mtx without header":   {"g.mtx", "3 3 1\n1 2 1\n", ":1: not MatrixMarket"},
		"mtx complex":          {"g.mtx", "%%MatrixMarket matrix coordinate complex general\n", "complex"},
		"mtx truncated":        {"g.mtx", mtx + "3 3 2\n1 2 1\n", "truncated: 1 entries of 2"},
		"mtx without size":     {"g.mtx", mtx, "truncated"},
		"mtx too long":         {"g.mtx", mtx + "3 3 1\n1 2 1\n2 3 1\n", ":4: more than"},
		"mtx out of range":     {"g.mtx", mtx + "3 3 1\n1 4 1\n", ":3: entry"},
		"mtx not square":       {"g.mtx", mtx + "3 4 1\n", "3×4"},
		"mtx lies about rows":  {"g.mtx", mtx + "999999999 999999999 1\n1 2 1\n", "only 1 entries"},
		"mtx huge":             {"g.mtx", mtx + "99999999999 99999999999 1\n", "at most"},
		"mtx bad size":         {"g.mtx", mtx + "3 x 1\n", ":2: size line"},
		"mtx upper symmetric":  {"g.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 1\n1 2 1\n", "above the diagonal"},
		"mtx array asymmetric": {"g.mtx", "%%MatrixMarket matrix array real general\n2 2\n0\n1\n0\n0\n", "so the graph is directed"},
		"mtx value is NaN":     {"g.mtx", mtx + "2 2 1\n1 2 NaN\n", ":3: weight NaN"},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, tc.file, []byte(tc.content))
			_, _, err := Load(path, LoadOptions{})
			if err == nil || !strings.Contains(err.Error(), tc.say) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line with the path and %q", err, tc.say)
			}
		})
	}
	if _, _, err := Load(filepath.Join(t.TempDir(), "missing"), LoadOptions{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if _, _, err := Load(t.TempDir(), LoadOptions{}); err == nil || !strings.Contains(err.Error(), "folder") {
		t.Errorf("folder: %v", err)
	}
}
