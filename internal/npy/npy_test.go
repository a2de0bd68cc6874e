package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(0, 5), 0, 4).Draw(t, "shape")
		count := 1
		for _, d := range shape {
			count *= d
		}
		data := rapid.SliceOfN(rapid.Float64(), count, count).Draw(t, "data")
		var buf bytes.Buffer
		if err := Write(&buf, shape, data); err != nil {
			t.Fatal(err)
		}
		if at := bytes.IndexByte(buf.Bytes(), '\n') + 1; at%64 != 0 {
			t.Fatalf("data start at byte %d", at)
		}
		got, err := Read(&buf, int64(8*count))
		if err != nil {
			t.Fatal(err)
		}
		same := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
		if !slices.Equal(got.Shape, shape) || !slices.EqualFunc(got.Data, data, same) {
			t.Fatalf("%v %v came back as %v", shape, data, got)
		}
	})
}

// file makes a file of version 1.0 with the given dictionary.
func file(dict string, data ...byte) []byte {
	f := append([]byte(magic), 1, 0)
	f = binary.LittleEndian.AppendUint16(f, uint16(len(dict)))
	return append(append(f, dict...), data...)
}

func TestHeaderIsNumpys(t *testing.T) {
	// numpy 2: np.lib.format.write_array of np.zeros((2, 3)) starts with these 128 bytes
	want := "\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }" + strings.Repeat(" ", 58) + "\n"
	if got := string(header([]int{2, 3})); got != want {
		t.Errorf("header %q, want %q", got, want)
	}
}

func TestTypesAndOrders(t *testing.T) {
	for name, tc := range map[string]struct {
		file  []byte
		shape []int
		want  []float64
	}{
		"int64":       {file("{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }", 0xfe, 255, 255, 255, 255, 255, 255, 255), []int{1}, []float64{-2}},
		"int8":        {file("{'descr': '|i1', 'fortran_order': False, 'shape': (2,), }", 0xff, 3), []int{2}, []float64{-1, 3}},
		"uint8":       {file("{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }", 0xff), []int{1}, []float64{255}},
		"bool":        {file("{'descr': '|b1', 'fortran_order': False, 'shape': (1, 2), }", 1, 0), []int{1, 2}, []float64{1, 0}},
		"big endian":  {file("{'descr': '>u2', 'fortran_order': False, 'shape': (1,), }", 1, 2), []int{1}, []float64{258}},
		"float32":     {file("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", 0, 0, 0, 0x40), []int{1}, []float64{2}},
		"scalar":      {file("{'descr': '|u1', 'fortran_order': False, 'shape': (), }", 7), nil, []float64{7}},
		"Fortran":     {file("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", 1, 4, 2, 5, 3, 6), []int{2, 3}, []float64{1, 2, 3, 4, 5, 6}},
		"other order": {file("{ 'shape':(2,),'descr':'|u1','fortran_order':False}", 1, 4), []int{2}, []float64{1, 4}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Read(bytes.NewReader(tc.file), 100)
			if err != nil || !slices.Equal(got.Shape, tc.shape) || !slices.Equal(got.Data, tc.want) {
				t.Errorf("%v, %v; want %v of shape %v", got, err, tc.want, tc.shape)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		file []byte
		say  string
	}{
		"empty":             {nil, "does not start"},
		"text":              {[]byte("0 1\n1 2\n"), "does not start"},
		"version":           {[]byte(magic + "\x09\x00\x00\x00"), "version 9"},
		"cut in the header": {file("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }")[:20], "truncated header"},
		"huge header":       {[]byte(magic + "\x02\x00\xff\xff\xff\xff"), "header of more"},
		"truncated":         {file("{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }", 1, 2), "truncated"},
		"trailing":          {file("{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }", 1, 2), "data follow"},
		"ten gigabytes":     {file("{'descr': '<f8', 'fortran_order': False, 'shape': (1250000000,), }"), "needs 10000000000 bytes"},
		"overflow":          {file("{'descr': '<f8', 'fortran_order': False, 'shape': (3037000500, 3037000500), }"), "overflows"},
		"negative":          {file("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }"), "header"},
		"complex":           {file("{'descr': '<c16', 'fortran_order': False, 'shape': (1,), }"), "c16"},
		"object":            {file("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"), "O"},
		"record":            {file("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }"), "type"},
		"code":              {file("{'descr': '<f8', 'fortran_order': f(), 'shape': (1,), }"), "header"},
		"entry missing":     {file("{'descr': '<f8', 'shape': (1,), }"), "header"},
		"entry twice":       {file("{'descr': '<f8', 'descr': '<f8', 'shape': (1,), }"), "header"},
		"large integer":     {file("{'descr': '<u8', 'fortran_order': False, 'shape': (1,), }", 1, 0, 0, 0, 0, 0, 0, 1), "no exact"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(bytes.NewReader(tc.file), 1000)
			if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), tc.say) {
				t.Errorf("error %v, want one with %q", err, tc.say)
			}
		})
	}
}

func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.npy")
	var buf bytes.Buffer
	if err := Write(&buf, []int{2}, []float64{1, 2}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, buf.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	if a, err := ReadFile(path); err != nil || !slices.Equal(a.Data, []float64{1, 2}) {
		t.Errorf("%v, %v", a, err)
	}
	if err := os.WriteFile(path, buf.Bytes()[:buf.Len()-1], 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("truncated file: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(file("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", 0, 0, 0, 0, 0, 0, 0, 0))
	f.Add(file("{'descr': '|u1', 'fortran_order': True, 'shape': (1, 2), }", 1, 2))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := Read(bytes.NewReader(b), 1<<16)
		count := 1
		for _, d := range a.Shape {
			count *= d
		}
		if err == nil && count != len(a.Data) {
			t.Fatalf("%d numbers of shape %v", len(a.Data), a.Shape)
		}
	})
}
