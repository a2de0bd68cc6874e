package export

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	_ "mafalda/internal/seeded"
)

// Text keeps every bit of every number.
func TestCSVKeepsBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.Float64(), 4, 4).Draw(t, "data")
		for i, v := range data {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				data[i] = 0
			}
		}
		var buf bytes.Buffer
		if err := CSV("C.csv", mat.NewDense(2, 2, data)).Write(&buf); err != nil {
			t.Fatal(err)
		}
		got, err := parseCSV("C.csv", &buf, int64(buf.Len()), 2)
		if err != nil || !slices.Equal(got.RawMatrix().Data, data) {
			t.Fatalf("%v came back as %v, %v", data, got, err)
		}
	})
}

// So do the bytes, and both formats are the same matrix whatever its type.
func TestNPYKeepsBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.Float64Range(-1e300, 1e300), 16, 16).Draw(t, "data")
		large := mat.NewDense(4, 4, data)
		lower := mat.NewTriDense(4, mat.Lower, data)
		for name, m := range map[string]mat.Matrix{"dense": large, "a part": large.Slice(1, 3, 0, 2), "transposed": large.T(), "triangle": lower} {
			var buf bytes.Buffer
			if err := NPY("C.npy", m).Write(&buf); err != nil {
				t.Fatal(err)
			}
			rows, _ := m.Dims()
			got, err := parseNPY("C.npy", &buf, int64(buf.Len()), manifest(rows))
			if err != nil || len(got) != 1 || !mat.Equal(got[0], m) {
				t.Fatalf("%s: %v came back as %v, %v", name, mat.Formatted(m), got, err)
			}
		}
	})
}

func TestParseCSVRefuses(t *testing.T) {
	for name, tc := range map[string]struct{ text, say string }{
		"empty":         {"", "x.csv: 0×2 numbers for 2 steps"},
		"a word":        {"1,2\n3,four\n", "x.csv:2: \"four\" is not a number"},
		"short line":    {"1,2\n3\n", "x.csv:2: not 2 numbers"},
		"long line":     {"1,2,3\n", "x.csv:1: not 2 numbers"},
		"a line less":   {"1,2\n", "1×2 numbers for 2 steps"},
		"a line more":   {"1,2\n3,4\n5,6\n", "x.csv:3: more than 2 lines"},
		"a blank line":  {"1,2\n\n3,4\n", "x.csv:2: \"\" is not a number"},
		"infinity":      {"1,inf\n3,4\n", "entry (0,1) is +Inf"},
		"binary":        {"\x93NUMPY", "x.csv:1:"},
		"beyond floats": {"1,1e999\n3,4\n", "not a number"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parseCSV("x.csv", strings.NewReader(tc.text), int64(len(tc.text)), 2)
			if err == nil || !strings.Contains(err.Error(), tc.say) {
				t.Errorf("error %v, want one with %q", err, tc.say)
			}
		})
	}
	if _, err := parseCSV("x.csv", strings.NewReader("1,2"), 3, MaxSteps); err == nil { // 8 TB if it were believed
		t.Error("three bytes were read as a matrix of a million steps")
	}
	if m, err := parseCSV("x.csv", strings.NewReader("1, 2\r\n3,4"), 10, 2); err != nil || m.At(0, 1) != 2 || m.At(1, 1) != 4 {
		t.Errorf("Windows line ends, no last line feed: %v, %v", m, err)
	}
}
