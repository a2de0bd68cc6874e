package figures

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"slices"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

const scale = 300 / 72.0 // pixels a point

// bitmap is a picture of pixels.
type bitmap struct{ *image.RGBA }

// png writes a page as pixels.
func (p *page) png() ([]byte, error) {
	b := bitmap{image.NewRGBA(image.Rect(0, 0, int(math.Ceil(p.width*scale)), int(math.Ceil(p.height*scale))))}
	draw.Draw(b.RGBA, b.Rect, image.White, image.Point{}, draw.Src)
	for _, s := range p.shapes {
		switch {
		case s.says != "":
		case s.image != nil:
			b.copy(s)
		case s.text != "":
			b.fill(s.colour, outlines(s))
		case s.width > 0:
			b.fill(s.colour, strokes(s))
		default:
			b.fill(s.colour, [][]Point{s.points})
		}
	}
	var file bytes.Buffer
	if err := png.Encode(&file, b.RGBA); err != nil {
		return nil, err
	}
	return withDensity(file.Bytes()), nil
}

// withDensity returns a PNG file with the chunk, after its first, that says how many pixels a metre has.
func withDensity(file []byte) []byte {
	const first = 33 // bytes of the signature and of the chunk IHDR
	chunk := binary.BigEndian.AppendUint32([]byte("pHYs"), uint32(math.Round(scale*72/0.0254)))
	chunk = append(append(chunk, chunk[4:]...), 1)
	size := binary.BigEndian.AppendUint32(nil, uint32(len(chunk)-4))
	sum := binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(chunk))
	return slices.Concat(file[:first], size, chunk, sum, file[first:])
}

// copy draws an image in its rectangle.
func (b bitmap) copy(s shape) {
	pixel := func(v float64) int { return int(math.Round(v * scale)) }
	to := image.Rect(pixel(s.points[0].X), pixel(s.points[0].Y), pixel(s.points[1].X), pixel(s.points[1].Y))
	size := s.image.Rect.Size()
	for y := range to.Dy() {
		for x := range to.Dx() {
			b.SetRGBA(to.Min.X+x, to.Min.Y+y, s.image.RGBAAt(x*size.X/to.Dx(), y*size.Y/to.Dy()))
		}
	}
}

// fill fills what is inside of polygons. Those that go around in the same direction are filled where they overlap, too.
func (b bitmap) fill(colour color.NRGBA, polygons [][]Point) {
	low, high := Point{math.Inf(1), math.Inf(1)}, Point{math.Inf(-1), math.Inf(-1)}
	for _, of := range polygons {
		for _, at := range of {
			low = Point{math.Min(low.X, at.X), math.Min(low.Y, at.Y)}
			high = Point{math.Max(high.X, at.X), math.Max(high.Y, at.Y)}
		}
	}
	part := image.Rect(int(low.X*scale)-1, int(low.Y*scale)-1, int(high.X*scale)+2, int(high.Y*scale)+2).Intersect(b.Rect)
	if part.Empty() {
		return
	}
	z := vector.NewRasterizer(part.Dx(), part.Dy())
	for _, of := range polygons {
		for i, at := range of {
			x, y := float32(at.X*scale-float64(part.Min.X)), float32(at.Y*scale-float64(part.Min.Y))
			if i == 0 {
				z.MoveTo(x, y)
			} else {
				z.LineTo(x, y)
			}
		}
		z.ClosePath()
	}
	z.Draw(b.RGBA, part, image.NewUniform(colour), image.Point{})
}

// strokes returns polygons that cover a line: a rectangle for each of its parts, and a joint at each corner.
func strokes(s shape) (all [][]Point) {
	for _, points := range dashed(s.points, s.dashes) {
		for i, b := range points {
			if i == 0 {
				continue
			}
			a := points[i-1]
			length := math.Hypot(b.X-a.X, b.Y-a.Y)
			if length == 0 {
				continue
			}
			x, y := (b.Y-a.Y)/length*s.width/2, (a.X-b.X)/length*s.width/2
			all = append(all, []Point{{a.X + x, a.Y + y}, {b.X + x, b.Y + y}, {b.X - x, b.Y - y}, {a.X - x, a.Y - y}})
			if i > 1 {
				all = append(all, polygon(a, s.width/2, 8, 0))
			}
		}
	}
	return all
}

// dashed splits a line into its dashes.
func dashed(points []Point, dashes []float64) (all [][]Point) {
	if dashes == nil {
		return [][]Point{points}
	}
	part, left := 0, dashes[0]
	current := []Point{points[0]}
	for _, b := range points[1:] {
		for {
			a := current[len(current)-1]
			length := math.Hypot(b.X-a.X, b.Y-a.Y)
			if length <= left {
				left -= length
				break
			}
			corner := Point{a.X + (b.X-a.X)*left/length, a.Y + (b.Y-a.Y)*left/length}
			if part%2 == 0 {
				all = append(all, append(current, corner))
			}
			current = []Point{corner}
			part++
			left = dashes[part%len(dashes)]
		}
		current = append(current, b)
	}
	if part%2 == 0 {
		all = append(all, current)
	}
	return all
}

// outlines returns the outlines of the letters of a text, curves as a few straight lines each.
func outlines(s shape) (all [][]Point) {
	em := float64(serif().UnitsPerEm())
	at, size := s.points[0], s.size/em
	begin := 0.0
	for _, r := range s.text {
		g := glyph(r)
		segments, err := serif().LoadGlyph(nil, g, fixed.I(int(em)), nil)
		if err != nil {
			panic(err) // the font is in the program
		}
		place := func(of fixed.Point26_6) Point {
			x, y := (begin+float64(of.X)/64)*size, float64(of.Y)/64*size
			if s.upward {
				return Point{at.X + y, at.Y - x}
			}
			return Point{at.X + x, at.Y + y}
		}
		for _, of := range segments {
			to := place(of.Args[0])
			if of.Op == sfnt.SegmentOpMoveTo {
				all = append(all, []Point{to})
				continue
			}
			last := &all[len(all)-1]
			if of.Op == sfnt.SegmentOpQuadTo {
				const parts = 6
				first, end := (*last)[len(*last)-1], place(of.Args[1])
				for i := 1; i < parts; i++ {
					t := float64(i) / parts
					u := 1 - t
					*last = append(*last, Point{u*u*first.X + 2*u*t*to.X + t*t*end.X, u*u*first.Y + 2*u*t*to.Y + t*t*end.Y})
				}
				to = end
			}
			*last = append(*last, to)
		}
		begin += glyphAdvance(g)
	}
	return all
}
