package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mafalda/internal/strictjson"
)

// growth is the room, in digits, that NumPy leaves for the first length of a shape, so that a file can grow in place.
const growth = 21

// header returns the header of format version 1.0: magic, version, length, a Python dictionary, room for growth, spaces
// up to a multiple of 64 bytes and a line feed.
func header(shape []int) []byte {
	dims := strings.ReplaceAll(strings.Trim(fmt.Sprint(shape), "[]"), " ", ", ")
	if len(shape) == 1 {
		dims += ","
	}
	dict := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }", dims)
	if len(shape) > 0 {
		dict += strings.Repeat(" ", growth-len(strconv.Itoa(shape[0])))
	}
	const fixed = len(magic) + 4
	padding := 64 - (fixed+len(dict)+1)%64 // a full 64 where none is needed, as NumPy has it
	dict += strings.Repeat(" ", padding) + "\n"
	h := append([]byte(magic), 1, 0)
	h = binary.LittleEndian.AppendUint16(h, uint16(len(dict)))
	return append(h, dict...)
}

type arrayHeader struct {
	dtype   dtype
	fortran bool
	shape   []int
}

const maxHeader = 1 << 16

func readHeader(r io.Reader) (arrayHeader, error) {
	fixed := make([]byte, 8)
	if _, err := io.ReadFull(r, fixed); err != nil && !isTruncated(err) {
		return arrayHeader{}, err
	} else if err != nil || string(fixed[:6]) != magic {
		return arrayHeader{}, fmt.Errorf("%w: it does not start as one", ErrFormat)
	}
	width, known := map[byte]int{1: 2, 2: 4, 3: 4}[fixed[6]]
	if !known {
		return arrayHeader{}, fmt.Errorf("%w: format version %d is not known", ErrFormat, fixed[6])
	}
	b, err := headerBytes(r, width)
	if err != nil {
		return arrayHeader{}, err
	}
	length := binary.LittleEndian.Uint32(append(b, 0, 0))
	if length > maxHeader {
		return arrayHeader{}, fmt.Errorf("%w: header of more than %d bytes", ErrFormat, maxHeader)
	}
	dict, err := headerBytes(r, int(length))
	if err != nil {
		return arrayHeader{}, err
	}
	return parseHeader(string(dict))
}

// headerBytes reads the next n bytes of a header.
func headerBytes(r io.Reader, n int) ([]byte, error) {
	b := make([]byte, n)
	_, err := io.ReadFull(r, b)
	if isTruncated(err) {
		return nil, fmt.Errorf("%w: truncated header", ErrFormat)
	}
	return b, err
}

// maxDims is NumPy's.
const maxDims = 64

var (
	lastComma = regexp.MustCompile(`,\s*([)}])`)
	noTuple   = regexp.MustCompile(`\(\s*\d+\s*\)`) // a number in Python
	jsonOf    = strings.NewReplacer("'", `"`, "(", "[", ")", "]", "True", "true", "False", "false")
)

// parseHeader accepts the three entries of the format in any order, once each, and nothing else: without commas at the
// ends a dictionary of Python is JSON in other brackets.
func parseHeader(dict string) (h arrayHeader, err error) {
	var said struct {
		Descr   string `json:"descr"`
		Fortran *bool  `json:"fortran_order"`
		Shape   *[]int `json:"shape"`
	}
	err = strictjson.Decode([]byte(jsonOf.Replace(lastComma.ReplaceAllString(dict, "$1"))), &said)
	if err == nil && (said.Descr == "" || said.Fortran == nil || said.Shape == nil) {
		err = errors.New("an entry is missing")
	}
	if err == nil && (len(*said.Shape) > maxDims || noTuple.MatchString(dict) ||
		slices.ContainsFunc(*said.Shape, func(n int) bool { return n < 0 })) {
		err = errors.New("not the shape of an array")
	}
	if err != nil {
		return h, fmt.Errorf("%w: header %.80q: %w", ErrFormat, strings.TrimSpace(dict), err)
	}
	h.fortran, h.shape = *said.Fortran, *said.Shape
	h.dtype, err = parseDtype(said.Descr)
	return h, err
}

// dtype is the type of a number in a file.
type dtype struct {
	kind  byte // 'b', 'i', 'u' or 'f'
	size  int
	order binary.ByteOrder
}

var descriptor = regexp.MustCompile(`^[<>|=]?(b1|[iu][1248]|f[48])$`)

func parseDtype(descr string) (dtype, error) {
	m := descriptor.FindStringSubmatch(descr)
	if m == nil {
		return dtype{}, fmt.Errorf("%w: numbers of type %.40q; float64 is best", ErrFormat, descr)
	}
	d := dtype{m[1][0], int(m[1][1] - '0'), binary.LittleEndian}
	if descr[0] == '>' {
		d.order = binary.BigEndian
	}
	return d, nil
}

// decode returns the number at the beginning of b.
func (d dtype) decode(b []byte) (float64, error) {
	var bits uint64
	switch d.size {
	case 1:
		bits = uint64(b[0])
	case 2:
		bits = uint64(d.order.Uint16(b))
	case 4:
		bits = uint64(d.order.Uint32(b))
	case 8:
		bits = d.order.Uint64(b)
	}
	unused := 64 - 8*d.size
	whole := int64(bits<<unused) >> unused
	switch {
	case d.kind == 'f' && d.size == 4:
		return float64(math.Float32frombits(uint32(bits))), nil
	case d.kind == 'f':
		return math.Float64frombits(bits), nil
	case d.kind == 'b' && bits > 1:
		return 0, fmt.Errorf("the bool %d is neither 0 nor 1", bits)
	case d.kind != 'i':
		whole = int64(min(bits, math.MaxInt64))
	}
	if whole > 1<<53 || whole < -1<<53 {
		return 0, fmt.Errorf("the integer %d has no exact float64", whole)
	}
	return float64(whole), nil
}
