package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
)

// versioned makes a file of version 2.0 or 3.0 with the given dictionary.
func versioned(version byte, dict string, data ...byte) []byte {
	f := append([]byte(magic), version, 0)
	f = binary.LittleEndian.AppendUint32(f, uint32(len(dict)))
	return append(append(f, dict...), data...)
}

func TestHeaderIsNumpys(t *testing.T) {
	// numpy 2: np.lib.format.write_array of np.zeros((2, 3)) starts with these 128 bytes
	want := "\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }" +
		strings.Repeat(" ", 58) + "\n"
	if got := string(header([]int{2, 3})); got != want {
		t.Errorf("header %q, want %q", got, want)
	}
	// This one is a multiple of 64 without spaces, and NumPy 2.4 adds 64.
	if got := len(header(slices.Repeat([]int{1}, 36))); got != 256 {
		t.Errorf("header of %d bytes, want 256", got)
	}
	// With room for the first length to grow to 21 digits these do not fit into 128 bytes, as NumPy 2.4 has them.
	long := slices.Repeat([]int{100}, 10)
	if got := len(header(long)); got != 192 {
		t.Errorf("header of %d bytes, want 192", got)
	}
}

func TestTypesAndOrders(t *testing.T) {
	for name, tc := range map[string]struct {
		file  []byte
		shape []int
		want  []float64
	}{
		"int64": {file("{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }", 0xfe, 255, 255, 255, 255,
			255, 255, 255), []int{1}, []float64{-2}},
		"int8": {file("{'descr': '|i1', 'fortran_order': False, 'shape': (2,), }", 0xff, 3), []int{2},
			[]float64{-1, 3}},
		"uint8": {file("{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }", 0xff), []int{1},
			[]float64{255}},
		"bool": {file("{'descr': '|b1', 'fortran_order': False, 'shape': (1, 2), }", 1, 0), []int{1, 2},
			[]float64{1, 0}},
		"big endian": {file("{'descr': '>u2', 'fortran_order': False, 'shape': (1,), }", 1, 2), []int{1},
			[]float64{258}},
		"float32": {file("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", 0, 0, 0, 0x40), []int{1},
			[]float64{2}},
		"scalar": {file("{'descr': '|u1', 'fortran_order': False, 'shape': (), }", 7), nil, []float64{7}},
		"Fortran": {file("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", 1, 4, 2, 5, 3, 6),
			[]int{2, 3}, []float64{1, 2, 3, 4, 5, 6}},
		"no numbers": {file("{'descr': '<f8', 'fortran_order': True, 'shape': (3, 0), }"), []int{3, 0}, []float64{}},
		"2⁵³": {file("{'descr': '>i8', 'fortran_order': False, 'shape': (1,), }", 0, 0x20, 0, 0, 0, 0, 0, 0),
			[]int{1}, []float64{1 << 53}},
		"big float32": {file("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", 0x40, 0, 0, 0), []int{1},
			[]float64{2}},
		"version 2": {versioned(2, "{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }", 9), []int{1},
			[]float64{9}},
		"version 3": {versioned(3, "{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }", 9), []int{1},
			[]float64{9}},
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
		"empty":   {nil, "does not start"},
		"text":    {[]byte("0 1\n1 2\n"), "does not start"},
		"version": {[]byte(magic + "\x09\x00\x00\x00"), "version 9"},
		"cut in the header": {file("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }")[:20],
			"truncated header"},
		"huge header": {[]byte(magic + "\x02\x00\xff\xff\xff\xff"), "header of more"},
		"truncated":   {file("{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }", 1, 2), "truncated"},
		"trailing":    {file("{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }", 1, 2), "data follow"},
		"ten gigabytes": {file("{'descr': '<f8', 'fortran_order': False, 'shape': (1250000000,), }"),
			"needs 10000000000 bytes"},
		"overflow": {file("{'descr': '<f8', 'fortran_order': False, 'shape': (3037000500, 3037000500), }"),
			"overflows"},
		"negative":          {file("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }"), "header"},
		"complex":           {file("{'descr': '<c16', 'fortran_order': False, 'shape': (1,), }"), "c16"},
		"object":            {file("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"), "O"},
		"record":            {file("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }"), "descr must be a string"},
		"number as shape":   {file("{'descr': '|u1', 'fortran_order': False, 'shape': (1), }", 1), "shape"},
		"L as shape":        {file("{'descr': '|u1', 'fortran_order': False, 'shape': (L), }", 1), "shape"},
		"L in shape":        {file("{'descr': '|u1', 'fortran_order': False, 'shape': (1,L), }", 1), "shape"},
		"two commas":        {file("{'descr': '|u1', 'fortran_order': False, 'shape': (1,,), }", 1), "shape"},
		"space in a number": {file("{'descr': '|u1', 'fortran_order': False, 'shape': (1 1,), }", 1), "shape"},
		"length overflows": {file("{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999999999999,), }", 1),
			"shape"},
		"1,000 dimensions": {file("{'descr': '|u1', 'fortran_order': False, 'shape': ("+
			strings.Repeat("1,", 1000)+"), }", 1), "shape"},
		"float16":   {file("{'descr': '<f2', 'fortran_order': False, 'shape': (1,), }", 0, 0), "f2"},
		"bool of 2": {file("{'descr': '|b1', 'fortran_order': False, 'shape': (1,), }", 2), "neither 0 nor 1"},
		"negative integer": {file("{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }", 0, 0, 0, 0, 0, 0, 0,
			0x80), "no exact"},
		"code":          {file("{'descr': '<f8', 'fortran_order': f(), 'shape': (1,), }"), "header"},
		"entry missing": {file("{'descr': '<f8', 'shape': (1,), }"), "header"},
		"entry twice":   {file("{'descr': '<f8', 'descr': '<f8', 'shape': (1,), }"), "header"},
		"large integer": {file("{'descr': '<u8', 'fortran_order': False, 'shape': (1,), }", 1, 0, 0, 0, 0, 0, 0,
			1), "no exact"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(bytes.NewReader(tc.file), 1000)
			if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), tc.say) {
				t.Errorf("error %v, want one with %q", err, tc.say)
			}
		})
	}
}
