package noise

import (
	"encoding/binary"
	"io"

	"mafalda/internal/enum"
	"mafalda/internal/npy"
	"mafalda/internal/rows"
)

// Format is how rows are written: little-endian numbers, row after row.
type Format int

// The formats.
const (
	NPY   Format = iota // a .npy file of float64
	Raw64               // float64, and nothing else
	Raw32               // float32, and nothing else
)

var formats = enum.Of[Format]("format", "npy", "raw64", "raw32")

// Formats returns the names of all of them.
func Formats() []string { return formats.All() }

// String returns the name of the format.
func (f Format) String() string { return formats.Name(f) }

// ParseFormat is the inverse of String. The error is a fault.Argument about Format.
func ParseFormat(name string) (Format, error) { return formats.ParseField("Format", name) }

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
