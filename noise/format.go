package noise

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"

	"mafalda/internal/npy"
	"mafalda/internal/rows"
)

// Format is how rows are written: little-endian numbers, row after row.
type Format string

// The formats.
const (
	NPY   Format = "npy"   // a .npy file of float64
	Raw64 Format = "raw64" // float64, and nothing else
	Raw32 Format = "raw32" // float32, and nothing else
)

// Formats returns the names of all of them.
func Formats() []string { return []string{string(NPY), string(Raw64), string(Raw32)} }

// ParseFormat returns the format of this name.
func ParseFormat(name string) (Format, error) {
	names := Formats()
	if slices.Contains(names, name) {
		return Format(name), nil
	}
	last := len(names) - 1
	return "", fmt.Errorf("format %q: must be %s or %s", name, strings.Join(names[:last], ", "), names[last])
}

// header writes what is before rows×dim numbers.
func (f Format) header(w io.Writer, rows, dim int) error {
	if f != NPY {
		return nil
	}
	return npy.WriteHeader(w, []int{rows, dim})
}

// oneRow is a row on its way out, in single precision too if that is wanted.
type oneRow struct {
	stream  *Stream
	numbers []float64
	single  []float32
}

func newRow(s *Stream, f Format) *oneRow {
	r := &oneRow{stream: s, numbers: rows.Make(s.Dim())}
	if f == Raw32 {
		r.single = make([]float32, s.Dim())
	}
	return r
}

func (r *oneRow) draw(next func(dst []float64) error) error {
	if err := next(r.numbers); err != nil || r.single == nil {
		return err
	}
	return r.stream.Single(r.single, r.numbers)
}

func (r *oneRow) write(w io.Writer) error {
	if r.single != nil {
		return binary.Write(w, binary.LittleEndian, r.single)
	}
	return npy.WriteNumbers(w, r.numbers)
}
