package figures

import "slices"

// Series is a marker in the legend with a value for some of the rows of Dots.
type Series struct {
	Name   string
	Values map[string]float64 // positive, by row
}

// Dots draws positive values on a logarithmic axis: a line of the picture for each row, from the top, and a marker for
// each series. It is nil if there is no value.
func Dots(title, axis string, rows []string, series []Series) (*Figure, error) {
	axes := Axes{Title: title, X: axis, LogX: true, Dots: true, Rows: slices.Clone(rows)}
	slices.Reverse(axes.Rows)
	var curves []Curve
	for _, s := range series {
		c := Curve{Name: s.Name}
		for at, row := range axes.Rows {
			if v, ok := s.Values[row]; ok {
				c.X, c.Y = append(c.X, v), append(c.Y, float64(at))
			}
		}
		curves = append(curves, c)
	}
	return Lines(axes, curves)
}
