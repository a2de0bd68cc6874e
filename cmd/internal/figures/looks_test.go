package figures

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/secrets"
)

// An export with five numbers of bands had two curves of one colour, both solid: no two entries of a legend look alike.
func TestLegendsTellCurvesApart(t *testing.T) {
	all := everyFigure(t, 3, kinds()["growing"])
	n, err := graph.LoadNetwork(t.Context(), graph.NetworkOptions{Source: "path:3"})
	if err != nil {
		t.Fatal(err)
	}
	schema, err := participation.NewCyclic(64, 4, 16)
	if err != nil {
		t.Fatal(err)
	}
	exported := &plan.SamplingCurves{Problem: plan.Problem{Network: n, Schema: schema}, Delta: 1e-6}
	for epsilon := range 3 {
		row := plan.SamplingRow{Epsilon: float64(epsilon + 1), Cyclic: 1}
		for bands := 1; bands <= 32; bands *= 2 {
			row.Bands = append(row.Bands, plan.AtPrivacy{Bands: bands, Ratio: 1 / float64(bands)})
		}
		exported.Rows = append(exported.Rows, row)
	}
	f, err := Sampling(exported)
	for _, of := range append(all, made{"sampling of an export", f, err}) {
		if of.figure == nil || of.err != nil {
			continue
		}
		for _, l := range of.figure.panels {
			looks := map[string]string{}
			for _, e := range l.key {
				p := &page{em: 10}
				e.draw(p, Point{}, Point{X: 20})
				look := fmt.Sprint(p.shapes)
				if other, there := looks[look]; there && other != e.name {
					t.Errorf("%s: %q and %q look alike", of.name, other, e.name)
				}
				looks[look] = e.name
			}
		}
	}
}

// Pictures had δ = 1e-06, and hyphens before numbers.
func TestNumbersOfPicturesAreTypeset(t *testing.T) {
	program := regexp.MustCompile(`\d[eE][-+]?\d|^-\d`)
	for _, of := range everyFigure(t, 3, kinds()["decades"]) {
		if of.figure == nil {
			continue
		}
		for _, line := range append(textsOf(t, of.figure, Style{}), of.figure.title) {
			if program.MatchString(line) && !strings.HasPrefix(of.name, "lines") {
				t.Errorf("%s has %q", of.name, line)
			}
		}
	}
	for v, want := range map[float64]string{1e-6: "10⁻⁶", 2e-6: "2·10⁻⁶", 1.5: "1.5", 1e9: "10⁹", 0.01: "0.01"} {
		if got := printed(v); got != want {
			t.Errorf("%v is %q, not %q", v, got, want)
		}
	}
}

// A label with a control character made an SVG that was no XML.
func TestSVGIsXML(t *testing.T) {
	name := "a\x01b\x1b\x00 \uFFFE <&\"'\U0001F600 c"
	f, err := Lines(Axes{Title: name, X: name, Y: name}, []Curve{{Name: name, X: []float64{1, 2}, Y: []float64{1, 2}},
		{Name: name, X: []float64{1, 2}, Y: []float64{3, 4}}})
	if err != nil {
		t.Fatal(err)
	}
	var svg bytes.Buffer
	for _, ext := range Formats() { // the others take all characters, too
		svg.Reset()
		if err := f.WriteAs(&svg, "x"+ext, Style{}); err != nil {
			t.Fatal(err)
		}
	}
	svg.Reset()
	if err := f.WriteAs(&svg, "x.svg", Style{}); err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(&svg); ; {
		switch _, err := d.Token(); {
		case errors.Is(err, io.EOF):
			return
		case err != nil:
			t.Fatal(err)
		}
	}
}

// In a reader without the font, whose letters are wider, exponents were drawn over their bases: they meet where one ends and the
// other begins.
func TestExponentsFollowTheirBases(t *testing.T) {
	p := &page{em: 10}
	p.write(Point{50, 50}, 0.5, 10, "10⁻⁵")
	if len(p.shapes) != 2 || p.shapes[0].align != 1 || p.shapes[1].align != 0 || p.shapes[0].end().X != p.shapes[1].points[0].X {
		t.Errorf("%+v", p.shapes)
	}
}

// pagesOf returns the pages of a figure by style; making it must not fail.
func pagesOf(t *testing.T, f *Figure, err error) map[Style]*page {
	t.Helper()
	pages := map[Style]*page{}
	for _, style := range styles {
		if err == nil {
			pages[style], err = f.page(style)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// Of points near each other, or in one place, some had no label: labels go above, below, and farther away, too.
func TestLabelsFindRoom(t *testing.T) {
	names := []string{"banded b", "toeplitz b", "banded-inverse 4", "blt 4", "tree", "d-mf", "dense", "sr"}
	f, err := Lines(Axes{Title: "t", X: "x", Y: "y", Dots: true}, []Curve{{Name: "a", Labels: names,
		X: []float64{3, 3, 3, 0, 3, 3, 3, 3}, Y: []float64{3, 3.3, 2.7, 6, 3, 3, 3, 3}}})
	for style, p := range pagesOf(t, f, err) {
		checkTexts(t, "labels", p)
		written := map[string]bool{}
		for _, s := range p.shapes {
			written[s.text] = true
		}
		for _, name := range names {
			if !written[name] {
				t.Errorf("%v wide: %q is not there", style.Width, name)
			}
		}
	}
}

// Readers without the font cut titles and names of rows off, as their letters are wider.
func TestTitlesAndRowsLeaveRoom(t *testing.T) {
	d := Dots{Title: strings.Repeat("word ", 40), Axis: "axis"}
	for i := range 5 {
		d.Add("series", fmt.Sprint("a row with a long name ", i), float64(i+1))
	}
	f, err := d.Figure()
	for style, p := range pagesOf(t, f, err) {
		for _, s := range p.shapes {
			if s.text == "" || s.upward {
				continue
			}
			wide := (s.end().X - s.points[0].X) * wider
			left := s.points[0].X + s.align*(s.end().X-s.points[0].X) - s.align*wide
			if strings.Contains(s.text, "word") || strings.Contains(s.text, "row") {
				if left < 0 || left+wide > p.width {
					t.Errorf("%v wide: no room for %q", style.Width, s.text)
				}
			}
		}
	}
}

// The title of one of two matrices took two lines, and the frame beside it began higher.
func TestFramesBesideEachOtherBeginTogether(t *testing.T) {
	one := mat.NewDense(2, 2, []float64{1, 0, -0.5, 1})
	f := Heatmaps("heading", Matrix{"C", one}, Matrix{"a noising matrix whose name takes more than a line", one})
	p, err := f.page(Style{})
	if err != nil {
		t.Fatal(err)
	}
	var tops []float64
	for _, s := range p.shapes {
		if s.image != nil {
			tops = append(tops, s.points[0].Y)
		}
	}
	if len(tops) != 3 || math.Abs(tops[0]-tops[1]) > 1e-9 {
		t.Errorf("images begin at %v", tops)
	}
}

// Without the font, readers cut legends, names of nodes and labels of axes off.
func TestLegendsAndLabelsLeaveRoom(t *testing.T) {
	name := "asymptote of equal gradients (no bound)"
	lines, err := Lines(Axes{X: "numbers that a node keeps for each parameter (one is 8 MB)", Y: "squared error / that of the certified optimum"}, []Curve{
		{Name: name, X: []float64{0, 1}, Y: []float64{1, 2}}, {Name: "short", X: []float64{0, 1}, Y: []float64{1, 1}}})
	if err != nil {
		t.Fatal(err)
	}
	n, err := graph.LoadNetwork(t.Context(), graph.NetworkOptions{Source: "florentine"})
	if err != nil {
		t.Fatal(err)
	}
	own := make([]float64, n.Graph.Nodes())
	sharing, err := Sharing(n.Graph, &secrets.Noise{Own: own})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []*Figure{lines, sharing} {
		for _, style := range styles {
			p, err := f.page(style)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range p.shapes {
				if s.text == "" {
					continue
				}
				length := s.end().X - s.points[0].X
				if s.upward {
					if length = s.points[0].Y - s.end().Y; s.points[0].Y+s.align*length*(wider-1)-wider*length < 0 {
						t.Errorf("%v wide: no room for %q", style.Width, s.text)
					}
					continue
				}
				left := s.points[0].X + s.align*length*(1-wider)
				if left < -1e-9 || left+wider*length > p.width+1e-9 {
					t.Errorf("%v wide: no room for %q", style.Width, s.text)
				}
			}
		}
	}
}

// "noise" was alone in the second line of a label.
func TestLinesOfLabelsAreEven(t *testing.T) {
	for label, want := range map[string]string{
		"above the loss without noise, run by run": "above the loss without\nnoise, run by run",
		"loss":                       "loss",
		"sensitivityoftheothernodes": broken(10, "sensitivityoftheothernodes", 100),
	} {
		wide := 100.0
		if label == "above the loss without noise, run by run" {
			wide = width("above the loss without noise, run by", 10)
		}
		if got := breakEvenly(10, label, wide); got != want {
			t.Errorf("%q is %q", label, got)
		}
	}
}

// Curves with the same points looked like the last of them alone.
func TestHiddenCurvesAreWider(t *testing.T) {
	same := Curve{X: []float64{1, 2}, Y: []float64{1, 2}}
	f, err := Lines(Axes{}, []Curve{same, same, {X: same.X, Y: []float64{1, 3}}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.page(Style{})
	if err != nil {
		t.Fatal(err)
	}
	widths := map[string]float64{}
	for _, s := range p.shapes {
		widths[hex(s.colour)] = s.width
	}
	first, second, other := widths[hex(palette[0])], widths[hex(palette[1])], widths[hex(palette[2])]
	if first <= second || second != other {
		t.Errorf("%v", widths)
	}
}
