package figures

import (
	"encoding/binary"
	"slices"

	"codeberg.org/go-fonts/liberation/liberationserifregular"
	"golang.org/x/image/font/sfnt"
)

// partOfFont returns the font with the outlines of the given glyphs, and of those that they are made of, alone; all keep their places.
func partOfFont(glyphs []sfnt.GlyphIndex) []byte {
	be, font, tables := binary.BigEndian, liberationserifregular.TTF, map[string][]byte{}
	for i := range int(be.Uint16(font[4:])) {
		entry := font[12+16*i:]
		tables[string(entry[:4])] = font[be.Uint32(entry[8:]):][:be.Uint32(entry[12:])]
	}
	places, count := tables["loca"], int(be.Uint16(tables["maxp"][4:]))
	place := func(g int) int {
		if be.Uint16(tables["head"][50:]) == 0 {
			return 2 * int(be.Uint16(places[2*g:]))
		}
		return int(be.Uint32(places[4*g:]))
	}
	outline := func(g int) []byte { return tables["glyf"][place(g):place(g+1)] }
	wanted := make([]bool, count)
	var want func(g int)
	want = func(g int) {
		of := outline(g)
		if wanted[g] {
			return
		}
		wanted[g] = true
		if len(of) == 0 || int16(be.Uint16(of)) >= 0 {
			return
		}
		const words, scaled, more, scaledTwice, turned = 1 << 0, 1 << 3, 1 << 5, 1 << 6, 1 << 7
		for at, flags := 10, uint16(more); flags&more != 0; {
			flags = be.Uint16(of[at:])
			want(int(be.Uint16(of[at+2:])))
			at += 6
			for flag, size := range map[uint16]int{words: 2, scaled: 2, scaledTwice: 4, turned: 8} {
				if flags&flag != 0 {
					at += size
				}
			}
		}
	}
	for _, g := range glyphs {
		want(int(g))
	}
	var outlines, index []byte
	metrics := slices.Clone(tables["hmtx"])
	for g := range count {
		index = be.AppendUint32(index, uint32(len(outlines)))
		if wanted[g] {
			outlines = append(outlines, outline(g)...)
		} else if g < int(be.Uint16(tables["hhea"][34:])) {
			clear(metrics[4*g : 4*g+4])
		}
	}
	head := slices.Clone(tables["head"])
	be.PutUint16(head[50:], 1) // places have four bytes
	tables["head"], tables["glyf"], tables["hmtx"], tables["loca"] = head, outlines, metrics, be.AppendUint32(index, uint32(len(outlines)))

	names := []string{"cvt ", "fpgm", "glyf", "head", "hhea", "hmtx", "loca", "maxp", "prep"}
	out := []byte{0, 1, 0, 0, 0, byte(len(names)), 0, 128, 0, 3, 0, 16}
	begin := len(out) + 16*len(names)
	var content []byte
	for _, name := range names {
		table := tables[name]
		out = append(out, name...)
		padded := append(slices.Clone(table), make([]byte, (4-len(table)%4)%4)...)
		var sum uint32
		for word := range slices.Chunk(padded, 4) {
			sum += be.Uint32(word)
		}
		for _, v := range []uint32{sum, uint32(begin + len(content)), uint32(len(table))} {
			out = be.AppendUint32(out, v)
		}
		content = append(content, padded...)
	}
	return append(out, content...)
}
