package figures

import "slices"

// Dots are positive values on a logarithmic axis: a line of the picture for each row, from the top, and a marker for each series.
type Dots struct {
	Title, Axis string
	Rows        []string
	series      []Curve
}

// Add adds a value of a series, whose row and series are new if nobody knows them.
func (d *Dots) Add(series, row string, value float64) {
	at := slices.Index(d.Rows, row)
	if at < 0 {
		at = len(d.Rows)
		d.Rows = append(d.Rows, row)
	}
	c := curveNamed(&d.series, series)
	c.X, c.Y = append(c.X, value), append(c.Y, float64(at))
}

// Figure draws the dots; nil if there is none.
func (d *Dots) Figure() (*Figure, error) {
	axes := Axes{Title: d.Title, X: d.Axis, LogX: true, Dots: true, Rows: slices.Clone(d.Rows)}
	slices.Reverse(axes.Rows)
	for _, c := range d.series {
		for i, at := range c.Y {
			c.Y[i] = float64(len(d.Rows)-1) - at
		}
	}
	return Lines(axes, d.series)
}

// curveNamed returns the curve with a name: a new one if there is none.
func curveNamed(curves *[]Curve, name string) *Curve {
	i := slices.IndexFunc(*curves, func(c Curve) bool { return c.Name == name })
	if i < 0 {
		i = len(*curves)
		*curves = append(*curves, Curve{Name: name})
	}
	return &(*curves)[i]
}
