package figures

import (
	"cmp"
	"math"
	"slices"

	"mafalda/internal/lists"
)

// Dots are positive values on a logarithmic axis: a line of the picture for each row, the one with the least value on top, and
// a marker for each series.
type Dots struct {
	Title, Axis string
	Rows        []string
	series      []Curve
}

// Add adds a value of a series, and the row and the series if they are new.
func (d *Dots) Add(series, row string, value float64) {
	at := slices.Index(d.Rows, row)
	if at < 0 {
		at = len(d.Rows)
		d.Rows = append(d.Rows, row)
	}
	c := curveNamed(&d.series, series)
	c.X, c.Y = append(c.X, value), append(c.Y, float64(at))
}

// Figure draws the dots; nil without any.
func (d *Dots) Figure() (*Figure, error) {
	order := lists.UpTo(len(d.Rows))
	least := slices.Repeat([]float64{math.Inf(1)}, len(d.Rows))
	for _, c := range d.series {
		for i, row := range c.Y {
			least[int(row)] = math.Min(least[int(row)], c.X[i])
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(least[j], least[i]) })
	axes := Axes{Title: d.Title, X: d.Axis, LogX: true, Dots: true}
	for _, row := range order {
		if least[row] < math.Inf(1) {
			axes.Rows = append(axes.Rows, d.Rows[row])
		}
	}
	for _, c := range d.series {
		for i, row := range c.Y {
			c.Y[i] = float64(slices.Index(axes.Rows, d.Rows[int(row)]))
		}
	}
	return Lines(axes, d.series)
}

// curveNamed returns the curve with a name, a new one for a new name.
func curveNamed(curves *[]Curve, name string) *Curve {
	i := slices.IndexFunc(*curves, func(c Curve) bool { return c.Name == name })
	if i < 0 {
		i = len(*curves)
		*curves = append(*curves, Curve{Name: name})
	}
	return &(*curves)[i]
}
