package figures

import (
	"fmt"
	"image"
	"image/color"
	"math"

	"mafalda/internal/lists"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
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
	f := &Figure{heading: heading, height: 4.6 * vg.Inch, width: vg.Length(4.3*float64(len(matrices))+1.2) * vg.Inch}
	for _, m := range matrices {
		largest := math.Max(mat.Max(m.Values), -mat.Min(m.Values))
		p := plot.New()
		p.Title.Text = fmt.Sprintf("%s, largest magnitude %.3g", m.Name, largest)
		p.X.Label.Text = "column (step of the independent noise)"
		p.Y.Label.Text = "row (step)"
		rows, cols := m.Values.Dims()
		picture := image.NewRGBA(image.Rect(0, 0, cols, rows))
		for i := range rows {
			for j := range cols {
				picture.Set(j, i, signedColour(m.Values.At(i, j)/math.Max(largest, math.SmallestNonzeroFloat64)))
			}
		}
		p.Add(plotter.NewImage(enlarge(picture), 0, 0, float64(cols), float64(rows)))
		p.Y.Tick.Marker = fromTop(rows)
		f.columns = append(f.columns, column{[]panel{{Plot: p}}, 4.3})
	}
	f.columns = append(f.columns, column{[]panel{{Plot: colourBar()}}, 1.2})
	return f
}

// enlarge repeats pixels, so that small matrices are not smoothed away.
func enlarge(picture *image.RGBA) *image.RGBA {
	size := picture.Bounds().Dx()
	factor := max(1, 800/max(size, 1))
	out := image.NewRGBA(image.Rect(0, 0, size*factor, picture.Bounds().Dy()*factor))
	for y := range out.Bounds().Dy() {
		for x := range out.Bounds().Dx() {
			out.SetRGBA(x, y, picture.RGBAAt(x/factor, y/factor))
		}
	}
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

// fromTop labels an axis on which row 0 is on top.
func fromTop(rows int) plot.ConstantTicks {
	return lists.Map(roundTicks(0, float64(rows)), func(t plot.Tick) plot.Tick {
		return plot.Tick{Value: float64(rows) - t.Value, Label: t.Label}
	})
}

func colourBar() *plot.Plot {
	const height = 201
	picture := image.NewRGBA(image.Rect(0, 0, 20, height))
	for y := range height {
		for x := range 20 {
			picture.Set(x, y, signedColour(1-2*float64(y)/(height-1)))
		}
	}
	p := plot.New()
	p.Title.Text = " "
	p.X.Label.Text = " "
	p.Add(plotter.NewImage(picture, 0, -1, 1, 1))
	p.X.Tick.Marker = plot.ConstantTicks{}
	p.X.LineStyle.Width = 0
	p.Y.Label.Text = "share of the largest magnitude"
	return p
}
