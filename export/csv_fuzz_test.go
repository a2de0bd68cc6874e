package export

import (
	"strconv"
	"strings"
	"testing"
)

// A .csv is a T×T matrix of finite numbers that is written as it was read, or refused in a line that names the file.
func FuzzParseCSV(f *testing.F) {
	for _, text := range []string{"1,0\n0.5,1\n", "1,0\r\n0.5, 1", "1,0\n\n", "1\n", "1,0\n0.5,nan\n", "1e400,0\n0,1\n", "1,,0\n", "\xef\xbb\xbf1,0\n0,1\n",
		"0x1p-2,1_0\n0,1\n"} {
		f.Add(text, 2)
	}
	f.Add("", 1<<20)
	f.Fuzz(func(t *testing.T, text string, steps int) {
		if steps < 1 || steps > MaxSteps {
			return // ReadManifest refuses these
		}
		m, err := parseCSV("C.csv", strings.NewReader(text), int64(len(text)), steps)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "C.csv:") || strings.Contains(err.Error(), "\n") {
				t.Fatalf("error %q", err)
			}
			return
		}
		if r, c := m.Dims(); r != steps || c != steps {
			t.Fatalf("%d×%d numbers for %d steps", r, c, steps)
		}
		var again strings.Builder
		if err := CSV("C.csv", m).Write(&again); err != nil {
			t.Fatal(err)
		}
		fields := strings.FieldsFunc(again.String(), func(r rune) bool { return r == ',' || r == '\n' })
		for i, v := range m.RawMatrix().Data {
			if x, err := strconv.ParseFloat(fields[i], 64); err != nil || x != v {
				t.Fatalf("%v is written as %s", v, fields[i])
			}
		}
	})
}
