package figures

import (
	"encoding/json"
	"fmt"
	"image/color"
)

// shown is what a plot of curves shows, for programs that draw it again: an SVG has it as metadata.
type shown struct {
	Axes
	Curves []Curve `json:"curves"`
}

func hex(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// data returns the plots of curves of a figure as JSON, which has no character that XML would not have; empty without plots.
func (f *Figure) data() (string, error) {
	var plots []*shown
	for _, l := range f.panels {
		if l.shown != nil {
			plots = append(plots, l.shown)
		}
	}
	if plots == nil {
		return "", nil
	}
	text, err := json.Marshal(struct {
		Title string   `json:"title"`
		Plots []*shown `json:"plots"`
	}{f.title, plots})
	return string(text), err
}
