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

// header returns the header of format version 1.0: magic, version, length, a Python dictionary, spaces up to a multiple
// of 64 bytes and a line feed.
func header(shape []int) []byte {
	var dims strings.Builder
	for i, d := range shape {
		if i > 0 {
			dims.WriteString(", ")
		}
		dims.WriteString(strconv.Itoa(d))
	}
	if len(shape) == 1 {
		dims.WriteByte(',')
	}
	dict := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }", dims.String())
	const fixed = len(magic) + 4
	padding := (64 - (fixed+len(dict)+1)%64) % 64
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
	if _, err := io.ReadFull(r, fixed); err != nil || string(fixed[:6]) != magic {
		return arrayHeader{}, fmt.Errorf("%w: it does not start as one", ErrFormat)
	}
	var length int
	switch fixed[6] {
	case 1:
		var b [2]byte
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return arrayHeader{}, fmt.Errorf("%w: truncated header", ErrFormat)
		}
		length = int(binary.LittleEndian.Uint16(b[:]))
	case 2, 3:
		var b [4]byte
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return arrayHeader{}, fmt.Errorf("%w: truncated header", ErrFormat)
		}
		length = int(min(binary.LittleEndian.Uint32(b[:]), maxHeader+1))
	default:
		return arrayHeader{}, fmt.Errorf("%w: format version %d is not known", ErrFormat, fixed[6])
	}
	if length > maxHeader {
		return arrayHeader{}, fmt.Errorf("%w: header of more than %d bytes", ErrFormat, maxHeader)
	}
	dict := make([]byte, length)
	if _, err := io.ReadFull(r, dict); err != nil {
		return arrayHeader{}, fmt.Errorf("%w: truncated header", ErrFormat)
	}
	return parseHeader(string(dict))
}

var (
	entry      = `'descr'\s*:\s*('[^']*'|\[.*\])|'fortran_order'\s*:\s*(True|False)|'shape'\s*:\s*\(([0-9,\sL]*)\)`
	dictionary = regexp.MustCompile(`^\{\s*(?:` + entry + `)\s*,\s*(?:` + entry + `)\s*,\s*(?:` + entry + `)\s*,?\s*\}\s*$`)
)

// parseHeader accepts the three entries of the format in any order, once each, and nothing else.
func parseHeader(dict string) (arrayHeader, error) {
	var h arrayHeader
	var err error
	groups := dictionary.FindStringSubmatch(dict)
	if groups == nil {
		return h, fmt.Errorf("%w: header %.80q", ErrFormat, strings.TrimSpace(dict))
	}
	var seen [3]bool
	for i, name := range []string{"'descr'", "'fortran_order'", "'shape'"} {
		seen[i] = strings.Count(dict, name) == 1
	}
	if seen != [3]bool{true, true, true} {
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

func parseShape(s string) ([]int, error) {
	var shape []int
	fields := strings.Split(s, ",")
	for i, f := range fields {
		f = strings.TrimSuffix(strings.TrimSpace(f), "L")
		if f == "" && i == len(fields)-1 {
			break // "(3,)" and "()"
		}
		d, err := strconv.Atoi(f)
		if err != nil || d < 0 {
			return nil, fmt.Errorf("%w: shape (%s)", ErrFormat, s)
		}
		shape = append(shape, d)
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
	if bits > 1<<53 {
		return 0, fmt.Errorf("the integer %d has no exact float64", bits)
	}
	return float64(bits), nil
}
