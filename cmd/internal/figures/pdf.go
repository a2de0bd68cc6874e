package figures

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf16"

	"golang.org/x/image/font/sfnt"
)

// Objects of a PDF, by their numbers; images follow.
const (
	pdfCatalog = iota + 1
	pdfPages
	pdfPage
	pdfContent
	pdfFont
	pdfLetters
	pdfDescriptor
	pdfFontFile
	pdfUnicode
	pdfInfo
)

// pdf writes a page whose text is text, in a part of the font that is in the file. Nothing in the file depends on when it was made.
func (p *page) pdf() ([]byte, error) {
	var content strings.Builder
	letters, images, states := map[sfnt.GlyphIndex]rune{0: '\uFFFD'}, "", map[uint8]string{}
	objects := make([]string, pdfInfo)
	fmt.Fprintf(&content, "1 0 0 -1 0 %.2f cm\n", p.height) // the origin is at the bottom
	for _, s := range p.shapes {
		if s.says != "" {
			continue
		}
		at, c := s.points[0], s.colour
		states[c.A] = fmt.Sprintf("/A%d << /ca %.3f /CA %[2]v >> ", c.A, float64(c.A)/255)
		r, g, b := float64(c.R)/255, float64(c.G)/255, float64(c.B)/255
		fmt.Fprintf(&content, "/A%d gs %.3f %.3f %.3f rg %[2]v %[3]v %[4]v RG\n", c.A, r, g, b)
		switch {
		case s.image != nil:
			objects = append(objects, pdfImage(s))
			images += fmt.Sprintf("/I%d %[1]d 0 R ", len(objects))
			fmt.Fprintf(&content, "/A255 gs q %.2f 0 0 %.2f %.2f %.2f cm /I%d Do Q\n", s.points[1].X-at.X, at.Y-s.points[1].Y, at.X, s.points[1].Y, len(objects))
			states[255] = "/A255 << /ca 1 /CA 1 >> "
		case s.text != "":
			turn := "1 0 0 -1"
			if s.upward {
				turn = "0 -1 -1 0"
			}
			fmt.Fprintf(&content, "BT /F %.2f Tf %s %.2f %.2f Tm <", s.size, turn, at.X, at.Y)
			for _, r := range s.text {
				g := glyph(r)
				if _, there := letters[g]; !there {
					letters[g] = r
				}
				fmt.Fprintf(&content, "%04x", g)
			}
			content.WriteString("> Tj ET\n")
		default:
			end := "f"
			if s.width > 0 {
				end = "S"
				fmt.Fprintf(&content, "%.2f w %.4g 0 d\n", s.width, s.dashes)
			}
			for i, at := range s.points {
				fmt.Fprintf(&content, "%.2f %.2f %c ", at.X, at.Y, "ml"[min(i, 1)])
			}
			content.WriteString(end + "\n")
		}
	}
	sorted := slices.Sorted(maps.Keys(letters))
	widths, unicodes := "", ""
	em := float64(serif().UnitsPerEm())
	for _, g := range sorted {
		widths += fmt.Sprintf("%d [%.1f] ", g, glyphAdvance(g)*1000/em)
		unicodes += fmt.Sprintf("<%04x> <%s>\n", g, utf16Hex(string(letters[g])))
	}
	const name = "MAFALD+LiberationSerif"
	of := func(number int, format string, args ...any) { objects[number-1] = fmt.Sprintf(format, args...) }
	of(pdfCatalog, "<< /Type /Catalog /Pages %d 0 R >>", pdfPages)
	of(pdfPages, "<< /Type /Pages /Kids [%d 0 R] /Count 1 >>", pdfPage)
	of(pdfPage, "<< /Type /Page /Parent %d 0 R /MediaBox [0 0 %.2f %.2f] /Contents %d 0 R /Resources << /Font << /F %d 0 R >> /XObject << %s>> /ExtGState << %s>> >> >>",
		pdfPages, p.width, p.height, pdfContent, pdfFont, images, strings.Join(slices.Sorted(maps.Values(states)), ""))
	of(pdfContent, "%s", pdfStream("", []byte(content.String())))
	of(pdfFont, "<< /Type /Font /Subtype /Type0 /BaseFont /%s /Encoding /Identity-H /DescendantFonts [%d 0 R] /ToUnicode %d 0 R >>", name, pdfLetters, pdfUnicode)
	of(pdfLetters, "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /%s /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> "+
		"/FontDescriptor %d 0 R /CIDToGIDMap /Identity /W [%s] >>", name, pdfDescriptor, widths)
	of(pdfDescriptor, "<< /Type /FontDescriptor /FontName /%s /Flags 6 /FontBBox [-544 -303 1341 981] /ItalicAngle 0 /Ascent 891 /Descent -216 "+
		"/CapHeight 662 /StemV 80 /FontFile2 %d 0 R >>", name, pdfFontFile)
	part := partOfFont(sorted)
	of(pdfFontFile, "%s", pdfStream(fmt.Sprintf("/Length1 %d", len(part)), part))
	of(pdfUnicode, "%s", pdfStream("", fmt.Appendf(nil, "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /Letters def /CMapType 2 def\n"+
		"1 begincodespacerange <0000> <ffff> endcodespacerange\n%sendcmap CMapName currentdict /CMap defineresource pop end end", pdfMap(unicodes))))
	of(pdfInfo, "<< /Title <feff%s> /Creator (mafalda) >>", utf16Hex(p.title))

	var file bytes.Buffer
	file.WriteString("%PDF-1.5\n%\xe2\xe3\xcf\xd3\n")
	table := "0000000000 65535 f \n"
	for i, object := range objects {
		table += fmt.Sprintf("%010d 00000 n \n", file.Len())
		fmt.Fprintf(&file, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	start := file.Len()
	fmt.Fprintf(&file, "xref\n0 %d\n%strailer\n<< /Size %[1]d /Root %[3]d 0 R /Info %d 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, table, pdfCatalog, pdfInfo, start)
	return file.Bytes(), nil
}

// pdfMap writes lines of a map of characters, which holds at most a hundred at once.
func pdfMap(lines string) (text string) {
	for part := range slices.Chunk(strings.SplitAfter(strings.TrimSuffix(lines, "\n"), "\n"), 100) {
		text += fmt.Sprintf("%d beginbfchar\n%s\nendbfchar\n", len(part), strings.TrimSuffix(strings.Join(part, ""), "\n"))
	}
	return text
}

func utf16Hex(text string) (hex string) {
	for _, unit := range utf16.Encode([]rune(text)) {
		hex += fmt.Sprintf("%04x", unit)
	}
	return hex
}

// pdfStream is an object of compressed bytes.
func pdfStream(keys string, content []byte) string {
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	z.Write(content) // a buffer takes it
	z.Close()
	return fmt.Sprintf("<< %s /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream", keys, packed.Len(), packed.Bytes())
}

// pdfImage is the object of an image.
func pdfImage(s shape) string {
	var pixels []byte
	for i := 0; i < len(s.image.Pix); i += 4 {
		pixels = append(pixels, s.image.Pix[i:i+3]...)
	}
	size := s.image.Rect.Size()
	return pdfStream(fmt.Sprintf("/Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace /DeviceRGB /BitsPerComponent 8", size.X, size.Y), pixels)
}
