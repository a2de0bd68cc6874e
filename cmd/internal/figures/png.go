package figures

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"math"
	"slices"

	"git.sr.ht/~sbinet/gg"
	"golang.org/x/image/draw"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"

	"mafalda/internal/lists"
)

const scale = 300 / 72.0 // pixels a point

// png writes a page as pixels.
func (p *page) png() ([]byte, error) {
	picture := image.NewRGBA(image.Rect(0, 0, int(math.Ceil(p.width*scale)), int(math.Ceil(p.height*scale))))
	c := gg.NewContextForRGBA(picture)
	c.SetColor(color.White)
	c.Clear()
	c.SetLineCapButt()
	c.Scale(scale, scale)
	for _, s := range p.shapes {
		c.SetColor(s.colour)
		switch {
		case s.says != "":
		case s.image != nil:
			pixel := func(at Point) image.Point { return image.Pt(int(math.Round(at.X*scale)), int(math.Round(at.Y*scale))) }
			to := image.Rectangle{Min: pixel(s.points[0]), Max: pixel(s.points[1])}
			draw.NearestNeighbor.Scale(picture, to, s.image, s.image.Rect, draw.Src, nil)
		case s.text != "":
			outline(c, s)
			c.Fill()
		default:
			for _, at := range s.points {
				c.LineTo(at.X, at.Y)
			}
			if s.width == 0 {
				c.Fill()
				continue
			}
			c.SetLineWidth(s.width * scale)
			c.SetDash(lists.Map(s.dashes, func(length float64) float64 { return length * scale })...)
			c.Stroke()
		}
	}
	var file bytes.Buffer
	if err := png.Encode(&file, picture); err != nil {
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

// outline adds the outlines of the letters of a text to the path of a picture.
func outline(c *gg.Context, s shape) {
	c.Push()
	defer c.Pop()
	c.Translate(s.points[0].X, s.points[0].Y)
	if s.upward {
		c.Rotate(-math.Pi / 2)
	}
	em := float64(serif().UnitsPerEm())
	c.Scale(s.size/em, s.size/em)
	for _, r := range s.text {
		segments, err := serif().LoadGlyph(nil, glyph(r), fixed.I(int(em)), nil)
		if err != nil {
			panic(err) // the font is in the program
		}
		for _, of := range segments {
			at := lists.Map(of.Args[:2], func(p fixed.Point26_6) Point { return Point{float64(p.X) / 64, float64(p.Y) / 64} })
			switch of.Op {
			case sfnt.SegmentOpMoveTo:
				c.MoveTo(at[0].X, at[0].Y)
			case sfnt.SegmentOpLineTo:
				c.LineTo(at[0].X, at[0].Y)
			default:
				c.QuadraticTo(at[0].X, at[0].Y, at[1].X, at[1].Y)
			}
		}
		c.Translate(glyphAdvance(glyph(r)), 0)
	}
}
