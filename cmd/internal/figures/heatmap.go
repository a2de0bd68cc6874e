package figures

import (
	"fmt"
	"image"
	"image/color"
	"math"

	"golang.org/x/image/draw"
	"gonum.org/v1/gonum/mat"
)

// Matrix is a matrix to be drawn, and its name.
type Matrix struct {
	Name   string
	Values mat.Matrix
}

// Heatmaps draws matrices side by side in signed colours, row 0 on top, with a bar that explains them. The colours are
// of the signed square root, so that small entries show; the darkest stand for the largest magnitude of each matrix,
// which its title gives. The heading is above all. Matrices have entries.
func Heatmaps(heading string, matrices ...Matrix) *Figure {
	f := &Figure{title: heading, beside: true, foot: colourBar}
	for _, m := range matrices {
		largest := math.Max(mat.Max(m.Values), -mat.Min(m.Values))
		rows, cols := m.Values.Dims()
		picture := image.NewRGBA(image.Rect(0, 0, cols, rows))
		for i := range rows {
			for j := range cols {
				picture.Set(j, i, signedColour(m.Values.At(i, j)/math.Max(largest, math.SmallestNonzeroFloat64)))
			}
		}
		picture = enlarge(picture, max(1, 800/cols)) // small matrices are not smoothed away
		f.panels = append(f.panels, &panel{title: m.Name + ", largest magnitude " + typeset(fmt.Sprintf("%.3g", largest)), tall: 0.85,
			x: axis{label: "column (step)", high: float64(cols), whole: true},
			y: axis{label: "row (step)", high: float64(rows), downward: true, whole: true},
			paint: func(p *page, f frame) {
				p.picture(picture, f.left, f.top, f.right, f.bottom)
			}})
	}
	return f
}

// enlarge repeats pixels.
func enlarge(picture *image.RGBA, times int) *image.RGBA {
	out := image.NewRGBA(image.Rectangle{Max: picture.Rect.Max.Mul(times)})
	draw.NearestNeighbor.Scale(out, out.Rect, picture, picture.Rect, draw.Src, nil)
	return out
}

// signedColour goes from blue (-1) over white to red (1), by the signed square root.
func signedColour(v float64) color.RGBA {
	share := math.Min(math.Sqrt(math.Abs(v)), 1)
	end := [3]float64{178, 24, 43}
	if v < 0 {
		end = [3]float64{33, 102, 172}
	}
	mix := func(to float64) uint8 { return uint8(math.Round(255 + (to-255)*share)) }
	return color.RGBA{mix(end[0]), mix(end[1]), mix(end[2]), 255}
}

// colourBar draws what the colours mean.
func colourBar(p *page, left, top, wide float64) (bottom float64) {
	const steps = 201
	picture := image.NewRGBA(image.Rect(0, 0, steps, 1))
	for x := range steps {
		picture.Set(x, 0, signedColour(2*float64(x)/(steps-1)-1))
	}
	from, to := left+wide/4, left+3*wide/4
	bottom = top + p.em
	p.picture(picture, from, top, to, bottom)
	x := axis{label: "share of the largest magnitude", low: -1, high: 1}
	p.axisX(&frame{left: from, top: bottom, right: to, bottom: bottom, x: x})
	return p.paragraph(left+wide/2, bottom+1.5*p.em, wide, p.em, x.label)
}
