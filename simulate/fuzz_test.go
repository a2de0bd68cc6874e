package simulate

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode"
)

// Data that are read are finite, or refused in a line.
func FuzzHousing(f *testing.F) {
	f.Add(houses(10))
	f.Add(houses(11) + "1,2,3,4,5,6,0,8,9\n")
	f.Add(strings.Repeat("1,2,3,4,5,6,7,8,9\n", 10) + "1,2,3,1e308,5,6,1e-308,8,9")
	f.Add(houses(10) + "1,2,3,\x1b[1m,5,6,7,8,9\n")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := parseHousing(strings.NewReader(text))
		if err != nil {
			if !errors.Is(err, ErrData) || strings.ContainsFunc(err.Error(), unicode.IsControl) {
				t.Fatalf("%q: error %q", text, err)
			}
			return
		}
		if d.Len() < 10 || len(d.Inputs) != d.Len()*housingFeatures {
			t.Fatalf("%d records of %d numbers", d.Len(), len(d.Inputs))
		}
		if err := NewLinear(housingFeatures).Check(d); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
	})
}

// What is read of an IDX file has as many bytes as its dimensions say, and is what is written of it.
func FuzzIDX(f *testing.F) {
	f.Add(idx(idxImages, []uint32{1, 2, 2}, []byte{1, 2, 3, 4}), true)
	f.Add(idx(idxLabels, []uint32{2}, []byte{1, 2}), false)
	f.Add(zip(idx(idxLabels, []uint32{2}, []byte{1, 2})), false)
	f.Add(idx(idxImages, []uint32{1 << 31, 1 << 31, 0}, nil), true)
	f.Add([]byte{0x1f, 0x8b, 8}, false)
	f.Fuzz(func(t *testing.T, content []byte, images bool) {
		magic := uint32(idxLabels)
		if images {
			magic = idxImages
		}
		data, shape, err := parseIDX(bytes.NewReader(content), magic)
		if err != nil {
			return
		}
		size := 1
		var dimensions []uint32
		for _, d := range shape {
			size *= d
			dimensions = append(dimensions, uint32(d))
		}
		if len(shape) != int(magic&0xff) || size != len(data) {
			t.Fatalf("%d bytes of dimensions %v", len(data), shape)
		}
		again, _, err := parseIDX(bytes.NewReader(idx(magic, dimensions, data)), magic)
		if err != nil || !bytes.Equal(again, data) {
			t.Fatalf("%v came back as %v, %v", data, again, err)
		}
	})
}
