package npy

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
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
	entry      = `'descr'\s*:\s*('[^']*'|\[.*\])|'fortran_order'\s*:\s*(True|False)|'shape'\s*:\s*\(([0-9,\sL]*)\)`
	dictionary = regexp.MustCompile(`^\{\s*(?:` + entry + `)\s*,\s*(?:` + entry + `)\s*,\s*(?:` + entry +
		`)\s*,?\s*\}\s*$`)
)

// parseHeader accepts the three entries of the format in any order, once each, and nothing else.
func parseHeader(dict string) (arrayHeader, error) {
	var h arrayHeader
	var err error
	groups := dictionary.FindStringSubmatch(dict)
	once := func(name string) bool { return strings.Count(dict, name) == 1 }
	if groups == nil || !once("'descr'") || !once("'fortran_order'") || !once("'shape'") {
		return h, fmt.Errorf("%w: header %.80q", ErrFormat, strings.TrimSpace(dict))
	}
	for g := 1; g < len(groups); g += 3 {
		descr, order, shape := groups[g], groups[g+1], groups[g+2]
		switch {
		case descr != "":
			if h.dtype, err = parseDtype(descr); err != nil {
				return h, err
			}
		case order != "":
			h.fortran = order == "True"
		default:
			if h.shape, err = parseShape(shape); err != nil {
				return h, err
			}
		}
	}
	return h, nil
}

// parseShape parses what stands between the parentheses of a Python tuple: "", "3," or "2, 3", with or without a last
// comma.
func parseShape(s string) ([]int, error) {
	if strings.TrimSpace(s) == "" {
		return nil, nil // a scalar
	}
	fields := strings.Split(s, ",")
	if len(fields) == 1 || len(fields) > maxDims+1 { // "(3)" is a number in Python, not a tuple
		return nil, fmt.Errorf("%w: shape (%.80s)", ErrFormat, s)
	}
	if strings.TrimSpace(fields[len(fields)-1]) == "" {
		fields = fields[:len(fields)-1]
	}
	shape := make([]int, len(fields))
	for i, f := range fields {
		d, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(f), "L")) // Python 2 wrote 3L
		if err != nil {
			return nil, fmt.Errorf("%w: shape (%.80s)", ErrFormat, s)
		}
		shape[i] = d
	}
	return shape, nil
}

// dtype is the type of a number in a file.
type dtype struct {
	kind  byte // 'b', 'i', 'u' or 'f'
	size  int
	order binary.ByteOrder
}

var descriptor = regexp.MustCompile(`^'([<>|=])?([biuf])([1248])'$`)

func parseDtype(descr string) (dtype, error) {
	m := descriptor.FindStringSubmatch(descr)
	if m == nil || (m[2] == "b" && m[3] != "1") || (m[2] == "f" && m[3] < "4") {
		return dtype{}, fmt.Errorf("%w: numbers of type %.40s; float64 is best", ErrFormat, descr)
	}
	d := dtype{kind: m[2][0], size: int(m[3][0] - '0'), order: binary.LittleEndian}
	if m[1] == ">" {
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
	switch {
	case d.kind == 'f' && d.size == 4:
		return float64(math.Float32frombits(uint32(bits))), nil
	case d.kind == 'f':
		return math.Float64frombits(bits), nil
	case d.kind == 'i':
		v := int64(bits<<(64-8*d.size)) >> (64 - 8*d.size)
		if v > 1<<53 || v < -1<<53 {
			return 0, fmt.Errorf("the integer %d has no exact float64", v)
		}
		return float64(v), nil
	}
	if d.kind == 'b' && bits > 1 {
		return 0, fmt.Errorf("the bool %d is neither 0 nor 1", bits)
	}
	if bits > 1<<53 {
		return 0, fmt.Errorf("the integer %d has no exact float64", bits)
	}
	return float64(bits), nil
}
