package npy

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"mafalda/internal/files"
	"mafalda/internal/limits"
)

// Array is an array of any number of dimensions in C order (the last index changes fastest), as float64.
type Array struct {
	Shape []int
	Data  []float64
}

// ErrFormat is wrapped by every error about a file that is not a readable .npy array.
var ErrFormat = errors.New("not a readable .npy array")

const magic = "\x93NUMPY"

// chunk is how many numbers are read or written at a time.
const chunk = 1 << 12

// Read reads one array of at most maxBytes bytes of numbers as stored (numbers of one byte take eight in Array), and
// demands that nothing follows. An error of r is returned as it is, one of limits is what memory does not hold;
// everything else that is wrong wraps ErrFormat.
func Read(r io.Reader, maxBytes int64) (Array, error) {
	br := bufio.NewReaderSize(r, 1<<16)
	h, err := readHeader(br)
	if err != nil {
		return Array{}, err
	}
	count := int64(1)
	for _, d := range h.shape {
		if d != 0 && count > math.MaxInt64/8/int64(d) {
			return Array{}, fmt.Errorf("%w: shape %v overflows", ErrFormat, h.shape)
		}
		count *= int64(d)
	}
	if count*int64(h.dtype.size) > maxBytes {
		return Array{}, fmt.Errorf("%w: truncated: shape %v needs %d bytes of numbers, there are at most %d",
			ErrFormat, h.shape, count*int64(h.dtype.size), maxBytes)
	}
	need := 8 * float64(count)
	if h.fortran {
		need *= 2
	}
	if err := limits.Fits(fmt.Sprintf("an array of shape %v", h.shape), need); err != nil {
		return Array{}, err
	}
	data := make([]float64, count)
	if err := readNumbers(br, h, data); err != nil {
		return Array{}, err
	}
	switch _, err := br.ReadByte(); {
	case err == nil:
		return Array{}, fmt.Errorf("%w: data follow after the %d numbers of shape %v", ErrFormat, count, h.shape)
	case err != io.EOF:
		return Array{}, err
	}
	if h.fortran {
		data = toCOrder(data, h.shape)
	}
	return Array{Shape: h.shape, Data: data}, nil
}

// readNumbers fills data, in the order of the file.
func readNumbers(r io.Reader, h arrayHeader, data []float64) error {
	size := h.dtype.size
	buf := make([]byte, min(chunk, len(data))*size)
	for done := 0; done < len(data); {
		n := min(chunk, len(data)-done)
		got, err := io.ReadFull(r, buf[:n*size])
		if isTruncated(err) {
			return fmt.Errorf("%w: truncated: shape %v promises %d numbers, only %d are there",
				ErrFormat, h.shape, len(data), done+got/size)
		}
		if err != nil {
			return err
		}
		for i := range n {
			if data[done+i], err = h.dtype.decode(buf[i*size:]); err != nil {
				return fmt.Errorf("%w: number %d: %w", ErrFormat, done+i, err)
			}
		}
		done += n
	}
	return nil
}

// isTruncated tells a file that ends too early from one that cannot be read.
func isTruncated(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// ReadFile reads the array of a file.
func ReadFile(path string) (Array, error) {
	f, size, err := files.Open(path)
	if err != nil {
		return Array{}, err
	}
	defer f.Close()
	a, err := Read(f, size)
	if err != nil {
		return Array{}, fmt.Errorf("%s: %w", path, err)
	}
	return a, nil
}

// toCOrder rearranges Fortran order, where the first index changes fastest.
func toCOrder(data []float64, shape []int) []float64 {
	out := make([]float64, len(data))
	for i, v := range data {
		at, stride := 0, len(data)
		for _, n := range shape {
			stride /= n
			at += i % n * stride
			i /= n
		}
		out[at] = v
	}
	return out
}

// Write writes data, of the shape in C order, as little-endian float64. It panics if shape and data do not fit.
func Write(w io.Writer, shape []int, data []float64) error {
	count := 1
	for _, d := range shape {
		count *= d
	}
	if count != len(data) {
		panic(fmt.Sprintf("npy: %d numbers are not of shape %v", len(data), shape))
	}
	if err := WriteHeader(w, shape); err != nil {
		return err
	}
	return WriteNumbers(w, data)
}

// WriteHeader writes what stands before the numbers of an array of the shape. These follow by WriteNumbers, in as many
// pieces as the caller likes.
func WriteHeader(w io.Writer, shape []int) error {
	_, err := w.Write(header(shape))
	return err
}

// WriteNumbers writes numbers of an array whose header has been written.
func WriteNumbers(w io.Writer, data []float64) error {
	buf := make([]byte, 0, 8*min(chunk, len(data)))
	for len(data) > 0 {
		n := min(chunk, len(data))
		buf = buf[:0]
		for _, v := range data[:n] {
			buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(v))
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}
