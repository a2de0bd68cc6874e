package graph

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/internal/npy"
)

func TestLoadMatrices(t *testing.T) {
	var npyFile bytes.Buffer
	if err := npy.Write(&npyFile, []int{3, 3}, []float64{5, 1, 0, 1, 0, 2, 0, 2, 0}); err != nil {
		t.Fatal(err)
	}
	const mtx = "%%MatrixMarket matrix "
	for name, tc := range map[string]struct {
		file, content string
		directed      bool
		want          string
	}{
		"npy":                {"g.npy", npyFile.String(), false, "0-1-1\n1-2-2"},
		"coordinates":        {"g.mtx", mtx + "coordinate real general\n% comment\n3 3 2\n1 2 1\n3 2 2\n", false, "1-2-1\n2-3-2"},
		"pattern symmetric":  {"g.mtx", mtx + "coordinate pattern symmetric\n4 4 2\n2 1\n3 2\n", false, "1-2\n2-3\n4-4"}, // node 4 has no edges
		"symmetric directed": {"g.mtx", mtx + "coordinate integer symmetric\n2 2 1\n2 1 1\n", true, "1-2\n2-1"},
		"directed":           {"g.mtx.gz", gzipped(mtx + "coordinate real general\n2 2 1\n2 1 1\n"), true, "2-1"},
		"array":              {"g.mtx", mtx + "array real general\n2 2\n0\n1\n1\n0\n", false, "1-2"},
		"any name":           {"g.txt", "%%matrixmarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n", false, "1-2\n2-3"},
		"capitals":           {"G.MTX", mtx + "coordinate pattern general\n2 2 1\n2 1\n", false, "1-2"},
		"array symmetric":    {"g.mtx", mtx + "array real symmetric\n3 3\n0\n1\n0\n0\n1\n0\n", false, "1-2\n2-3"},
	} {
		t.Run(name, func(t *testing.T) {
			g, _, err := Load(write(t, tc.file, []byte(tc.content)), LoadOptions{Directed: tc.directed})
			if err != nil {
				t.Fatal(err)
			}
			if got := describe(g); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// Any matrix comes back bit by bit, as coordinates and as an array.
func TestMatrixMarketRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "n")
		d := mat.NewDense(n, n, rapid.SliceOfN(rapid.Float64(), n*n, n*n).Draw(t, "entries"))
		check := func(format string, text io.Reader) {
			s, err := readMarket(text, "m")
			if err != nil {
				t.Fatalf("%s: %v", format, err)
			}
			back := mat.NewDense(n, n, nil)
			for _, e := range s.entries {
				back.Set(e.U, e.V, e.Weight)
			}
			if !mat.Equal(back, d) {
				t.Fatalf("%s: %v", format, mat.Formatted(back))
			}
		}
		var coordinates, array bytes.Buffer
		if err := WriteMatrixMarket(&coordinates, NewCSRFromDense(d)); err != nil {
			t.Fatal(err)
		}
		check("coordinates", &coordinates)
		fmt.Fprintf(&array, "%%%%MatrixMarket matrix array real general\n%d %d\n", n, n)
		for j := range n {
			for i := range n {
				fmt.Fprintf(&array, "%.17g\n", d.At(i, j))
			}
		}
		check("array", &array)
	})
}

// The lower triangle of an array stands column by column.
func TestSymmetricArrayOrder(t *testing.T) {
	var places []string
	s, err := readMarket(strings.NewReader("%%MatrixMarket matrix array integer symmetric\n3 3\n1\n2\n3\n4\n5\n6\n"), "m")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range s.entries {
		places = append(places, fmt.Sprintf("%d%d=%v", e.U, e.V, e.Weight))
	}
	if got, want := strings.Join(places, " "), "00=1 10=2 20=3 11=4 21=5 22=6"; got != want {
		t.Errorf("%s; want %s", got, want)
	}
}
