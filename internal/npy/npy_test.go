package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	_ "mafalda/internal/seeded"
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

// What the disk or the network says is passed on, and is no statement about the format.
func TestReadPassesErrorsOn(t *testing.T) {
	whole := file("{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }", 1, 2, 3)
	broken := errors.New("input/output error")
	for n := range len(whole) + 1 {
		_, err := Read(io.MultiReader(bytes.NewReader(whole[:n]), iotest.ErrReader(broken)), 100)
		if !errors.Is(err, broken) || errors.Is(err, ErrFormat) {
			t.Errorf("after %d bytes: error %v", n, err)
		}
	}
	full := errors.New("no space left on device")
	for n := range 3 {
		if err := Write(&failing{n, full}, []int{chunk + 1}, make([]float64, chunk+1)); !errors.Is(err, full) {
			t.Errorf("write %d: error %v", n, err)
		}
	}
}

// failing accepts so many writes.
type failing struct {
	left int
	err  error
}

func (f *failing) Write(p []byte) (int, error) {
	if f.left--; f.left < 0 {
		return 0, f.err
	}
	return len(p), nil
}

// Every cut of a file is found, and named as one.
func TestTruncation(t *testing.T) {
	var buf bytes.Buffer
	if err := Write(&buf, []int{2, 2}, []float64{1, 2, 3, 4}); err != nil {
		t.Fatal(err)
	}
	for n := len(magic) + 2; n < buf.Len(); n++ {
		if _, err := Read(bytes.NewReader(buf.Bytes()[:n]), 32); !errors.Is(err, ErrFormat) ||
			!strings.Contains(err.Error(), "truncated") {
			t.Errorf("%d bytes: error %v", n, err)
		}
	}
	_, err := Read(bytes.NewReader(buf.Bytes()[:128+20]), 32)
	if err == nil || !strings.Contains(err.Error(), "promises 4 numbers, only 2 are there") {
		t.Errorf("error %v", err)
	}
}

// Fortran order is the transpose, in any number of dimensions.
func TestFortranOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(1, 4), 1, 4).Draw(t, "shape")
		reversed := slices.Clone(shape)
		slices.Reverse(reversed)
		count := 1
		for _, d := range shape {
			count *= d
		}
		data := rapid.SliceOfN(rapid.Float64(), count, count).Draw(t, "data")
		there := toCOrder(data, shape)
		back := toCOrder(there, reversed)
		same := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
		if !slices.EqualFunc(back, data, same) {
			t.Fatalf("%v of shape %v is %v in C order, and %v back", data, shape, there, back)
		}
	})
}

func TestWriteRefusesAnotherShape(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("three numbers were written as 2×2")
		}
	}()
	_ = Write(io.Discard, []int{2, 2}, []float64{1, 2, 3})
}

func BenchmarkRead(b *testing.B) {
	for _, steps := range []int{380, 2000} {
		b.Run(fmt.Sprintf("T=%d", steps), func(b *testing.B) {
			var buf bytes.Buffer
			if err := Write(&buf, []int{steps, steps}, make([]float64, steps*steps)); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(buf.Len()))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Read(bytes.NewReader(buf.Bytes()), int64(buf.Len())); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add(file("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", 0, 0, 0, 0, 0, 0, 0, 0))
	f.Add(file("{'descr': '|u1', 'fortran_order': True, 'shape': (1, 2), }", 1, 2))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := Read(bytes.NewReader(b), 1<<16)
		if err != nil {
			return
		}
		count := 1
		for _, d := range a.Shape {
			count *= d
		}
		if count != len(a.Data) {
			t.Fatalf("%d numbers of shape %v", len(a.Data), a.Shape)
		}
		var buf bytes.Buffer
		if err := Write(&buf, a.Shape, a.Data); err != nil {
			t.Fatal(err)
		}
		again, err := Read(&buf, int64(8*count))
		same := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
		if err != nil || !slices.Equal(again.Shape, a.Shape) || !slices.EqualFunc(again.Data, a.Data, same) {
			t.Fatalf("%v came back as %v, %v", a, again, err)
		}
	})
}
