package figures

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Series is a marker in the legend with a value for some of the rows of Dots.
type Series struct {
	Name   string
	Values map[string]float64 // positive, by row
}

// Dots draws positive values on a logarithmic axis: a line of the picture for each row, from the top, and a marker for
// each series. It is nil if there is no value.
func Dots(title, axis string, rows []string, series []Series) (*Figure, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	p := plot.New()
	p.Title.Text = title
	p.Title.Padding = vg.Points(8)
	p.X.Label.Text = axis
	p.X.Scale = plot.LogScale{}
	labels := slices.Clone(rows)
	slices.Reverse(labels)
	p.NominalY(labels...)
	p.Add(plotter.NewGrid())
	low, high := math.Inf(1), 0.0
	var names []string
	for i, s := range series {
		var points plotter.XYs
		for at, row := range labels {
			if v, ok := s.Values[row]; ok {
				if !(v > 0) || math.IsInf(v, 1) {
					return nil, fmt.Errorf("value %v of %s in %s cannot stand on a logarithmic axis", v, row, s.Name)
				}
				low, high = math.Min(low, v), math.Max(high, v)
				points = append(points, plotter.XY{X: v, Y: float64(at)})
			}
		}
		if len(points) == 0 {
			continue
		}
		scatter, err := plotter.NewScatter(points)
		if err != nil {
			return nil, err
		}
		scatter.GlyphStyle = draw.GlyphStyle{Color: palette[i%len(palette)], Radius: vg.Points(3.5),
			Shape: shapes[i%len(shapes)]}
		p.Add(scatter)
		p.Legend.Add(s.Name, scatter)
		names = append(names, s.Name)
	}
	if low > high {
		return nil, nil
	}
	p.X.Min, p.X.Max = math.Max(low/1.05, math.SmallestNonzeroFloat64), math.Min(high*1.1, math.MaxFloat64)
	p.X.Tick.Marker = plot.ConstantTicks(logLabels(p.X.Min, p.X.Max))
	p.Y.Min, p.Y.Max = -0.6, float64(len(rows))-0.4
	height := vg.Points(float64(90 + 26*max(len(rows), len(series))))
	f := &Figure{columns: []column{{[]*plot.Plot{p}, 1}}, width: 8 * vg.Inch, height: height}
	return f.legendBeside(names), nil
}

// logTicks labels powers of ten, as such, and marks 2 and 5 times these; in short ranges these are labelled, too, all as
// plain numbers.
func logTicks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	for exponent := math.Floor(math.Log10(low)); exponent <= math.Log10(high); exponent++ {
		marks := []float64{1, 2, 5}
		if high/low < 20 {
			marks = []float64{1, 1.5, 2, 3, 4, 5, 7}
		}
		for _, s := range marks {
			v := s * math.Pow(10, exponent)
			if v < low || v > high {
				continue
			}
			t := plot.Tick{Value: v}
			switch {
			case high/low < 100:
				t.Label = strconv.FormatFloat(v, 'g', 2, 64)
				if v >= 10 || v < 1e-3 {
					t.Label = strconv.FormatFloat(v, 'f', max(0, -int(exponent)), 64)
				}
			case s == 1:
				t.Label = power(int(exponent))
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}
