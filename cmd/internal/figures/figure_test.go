package figures

import (
	"bytes"
	"compress/zlib"
	"image/color"
	"image/png"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

func TestFiguresAreWritten(t *testing.T) {
	d := Dots{Title: "title", Axis: "axis"}
	d.Add("x", "a", 1)
	d.Add("x", "b", 3)
	d.Add("y", "b", 40)
	dots, err := d.Figure()
	if err != nil {
		t.Fatal(err)
	}
	falling, err := Lines(Axes{Title: "title", LogY: true},
		[]Curve{{Name: "a", X: []float64{0, 1, 2}, Y: []float64{1, 1e-5, 1e-9}},
			{Name: "b", X: []float64{0, 2}, Y: []float64{3, 0.1}, Dashed: true}})
	if err != nil {
		t.Fatal(err)
	}
	band, err := Lines(Axes{LogX: true}, []Curve{{Name: "a", X: []float64{0.1, 1, 20}, Y: []float64{1, 2, 3},
		Low: []float64{0.5, 1, 2}, High: []float64{3, 4, 5}}})
	if err != nil {
		t.Fatal(err)
	}
	cloud, err := Lines(Axes{X: "x", Dots: true}, []Curve{{Name: "a", X: []float64{0, 1, 2}, Y: []float64{1, -5, 3}}})
	if err != nil {
		t.Fatal(err)
	}
	panels, err := stacked("both", Axes{Title: "all"}, []Curve{{X: []float64{1, 2}, Y: []float64{1, 2}}}, Axes{Title: "part"}, []Curve{{X: []float64{1, 2}, Y: []float64{1, 2}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]*Figure{"falling": falling, "band": band, "two panels": panels, "cloud": cloud,
		"dots": dots, "heatmaps": Heatmaps("heading", Matrix{"C", mat.NewDense(2, 2, []float64{1, 0, -0.5, 1})})} {
		var picture, svg bytes.Buffer
		if err := f.WriteAs(&picture, "x.png", Style{}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		decoded, err := png.Decode(&picture)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		colours := map[color.Color]bool{}
		for y := range decoded.Bounds().Dy() {
			for x := range decoded.Bounds().Dx() {
				colours[decoded.At(x, y)] = true
			}
		}
		if len(colours) < 10 {
			t.Errorf("%s: %d colours", name, len(colours))
		}
		if err := f.WriteAs(&svg, "x.svg", Style{}); err != nil || !strings.Contains(svg.String(), "<svg") {
			t.Errorf("%s: %v", name, err)
		}
		if strings.Contains(svg.String(), "image/jpg") || strings.Contains(svg.String(), ":Liberation Serif;") {
			t.Errorf("%s: an SVG that strict readers do not show, or with fonts that they may not have", name)
		}
		var pdf, again bytes.Buffer
		if err := f.WriteAs(&pdf, "x.pdf", Style{}); err != nil || !strings.HasPrefix(pdf.String(), "%PDF") ||
			!strings.Contains(pdf.String(), "/FontFile2") {
			t.Errorf("%s: %v", name, err)
		}
		if err := f.WriteAs(&again, "x.pdf", Style{}); err != nil || !bytes.Equal(pdf.Bytes(), again.Bytes()) {
			t.Errorf("%s: another file the second time, %v", name, err)
		}
		if err := f.WriteAs(&svg, "x.eps", Style{}); err == nil {
			t.Errorf("%s: an unknown format was written", name)
		}
	}
}

func TestSignedColours(t *testing.T) {
	for v, want := range map[float64]color.RGBA{0: {255, 255, 255, 255}, 1: {178, 24, 43, 255},
		-1: {33, 102, 172, 255}} {
		if got := signedColour(v); got != want {
			t.Errorf("%v is %v, want %v", v, got, want)
		}
	}
}

func TestLinesRefuse(t *testing.T) {
	for name, curve := range map[string]Curve{
		"beyond the top": {X: []float64{1}, Y: []float64{9}},
		"half a band":    {X: []float64{1}, Y: []float64{1}, Low: []float64{1}},
		"a place more":   {X: []float64{1, 2}, Y: []float64{1}},
		"zero on a log":  {X: []float64{1}, Y: []float64{0}},
		"not a number":   {X: []float64{1}, Y: []float64{math.NaN()}},
		"beyond numbers": {X: []float64{1}, Y: []float64{math.Inf(1)}},
	} {
		if _, err := Lines(Axes{LogY: true, MaxY: 8}, []Curve{curve}); err == nil {
			t.Errorf("%s was drawn", name)
		}
	}
}

func TestRoundTicks(t *testing.T) {
	for _, tc := range []struct {
		low, high float64
		first     float64
		count     int
	}{{0, 29, 0, 6}, {0, 380, 0, 4}, {0, 1, 0, 6}, {1, 15, 5, 3}, {-0.3, 0.9, -0.2, 6}} {
		ticks := roundTicks(tc.low, tc.high, 6)
		if len(ticks) != tc.count || math.Abs(ticks[0].value-tc.first) > 1e-12 {
			t.Errorf("from %v to %v: %v", tc.low, tc.high, ticks)
		}
	}
}

// The square root of two was labelled 1.42, and there were halves of steps.
func TestTicksSayTheirPlaces(t *testing.T) {
	for want, a := range map[string]axis{
		"1 1.41 2": {low: 1, high: 2, measured: []float64{1, math.Sqrt2, 2}},
		"0 1 2":    {high: 2, whole: true},
	} {
		var labels []string
		for _, tick := range a.ticks(500, func(string) float64 { return 10 }) {
			labels = append(labels, tick.label)
		}
		if got := strings.Join(labels, " "); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

func TestDotsRefuse(t *testing.T) {
	var d Dots
	d.Add("x", "a", 0)
	if _, err := d.Figure(); err == nil {
		t.Error("zero was drawn on a logarithmic axis")
	}
}

// Room above curves near the largest number made an axis without an end, and ticks for ever.
func TestLogarithmicAxesEnd(t *testing.T) {
	curves := make([]Curve, 6)
	for i := range curves {
		curves[i] = Curve{Name: "huge", X: []float64{0, 1}, Y: []float64{1e305, 1e-5}}
	}
	if _, err := Lines(Axes{LogY: true}, curves); err != nil {
		t.Error(err)
	}
}

// Bands are in the frame, and a log axis over a short range has labels.
func TestBandsAreWhole(t *testing.T) {
	curve := Curve{Name: "mean", X: []float64{1, 2}, Y: []float64{0.56, 0.55}, Low: []float64{0.5, 0.52}, High: []float64{0.6, 0.61}}
	for _, axes := range []Axes{{}, {LogY: true}} {
		f, err := Lines(axes, []Curve{curve})
		if err != nil {
			t.Fatal(err)
		}
		y := f.panels[0].y
		if y.low >= 0.5 || y.high <= 0.61 {
			t.Errorf("%+v: from %v to %v", axes, y.low, y.high)
		}
		if ticks := y.ticks(200, func(string) float64 { return 10 }); len(ticks) < 3 {
			t.Errorf("%+v: %d ticks", axes, len(ticks))
		}
	}
}

// "Test loss against ε" had no number on its axis of losses: every axis has two, whatever its values are.
func TestAxesHaveTwoNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := math.Exp(rapid.Float64Range(-30, 30).Draw(t, "log"))
		high := low * math.Exp(rapid.SampledFrom([]float64{0, 1e-6, 0.1, 0.5, 1, 3, 30}).Draw(t, "log of the ratio"))
		for _, log := range []bool{false, true} {
			var y axis
			y.scale(low, high, log)
			labels := map[string]bool{}
			for _, tick := range y.ticks(200, func(string) float64 { return 10 }) {
				if tick.value < y.low*(1-1e-9) || tick.value > y.high*(1+1e-9) {
					t.Errorf("%v is outside of the axis from %v to %v", tick.value, y.low, y.high)
				}
				labels[tick.label] = true
			}
			if delete(labels, ""); len(labels) < 2 || len(labels) > 20 {
				t.Fatalf("from %v to %v, log %v: %v", low, high, log, labels)
			}
		}
	})
}

// The points of a curve say where they are, rounded up, and those of a bound down; labels and markup are text.
func TestPointsSayTheirNumbers(t *testing.T) {
	curves := []Curve{{Name: "a<b", X: []float64{2, 4}, Y: []float64{1.23451, 2}}, {Name: "bound", Bound: true, Lower: true, X: []float64{2}, Y: []float64{1.23459}},
		{Name: "own", X: []float64{3}, Y: []float64{2}, Says: []string{"its words"}}}
	f, err := Lines(Axes{Title: "title", X: "steps", Marks: true}, curves)
	if err != nil {
		t.Fatal(err)
	}
	var svg bytes.Buffer
	if err := f.WriteAs(&svg, "x.svg", Style{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<title>title</title>", "<title>a&lt;b, steps 2: 1.235</title>", "<title>bound, steps 2: 1.234</title>",
		"<title>its words</title>", ">2</text>", ">3</text>", ">4</text>"} {
		if !strings.Contains(svg.String(), want) {
			t.Errorf("no %s in %s", want, svg.String())
		}
	}
}

// A PDF's text is text, Greek letters and exponents, too.
func TestTextOfPDF(t *testing.T) {
	f, err := Lines(Axes{Title: "privacy ε", X: "sens²", Y: "y", LogY: true}, []Curve{{Name: "a", X: []float64{1, 2}, Y: []float64{1e-9, 1}}})
	if err != nil {
		t.Fatal(err)
	}
	var pdf, text bytes.Buffer
	if err := f.WriteAs(&pdf, "x.pdf", Style{}); err != nil {
		t.Fatal(err)
	}
	for _, part := range bytes.Split(pdf.Bytes(), []byte("\nstream\n"))[1:] {
		if r, err := zlib.NewReader(bytes.NewReader(part)); err == nil {
			_, _ = io.Copy(&text, r)
		}
	}
	for _, want := range []string{"privacy ε", "sens", "2", "10", "−8"} {
		said := "("
		for _, unit := range utf16.Encode([]rune(want)) {
			said += string([]byte{byte(unit >> 8), byte(unit)})
		}
		if !strings.Contains(text.String(), said+") Tj") {
			t.Errorf("no %q", want)
		}
	}
}

// A figure is as wide as asked, in letters of the size asked; without a title its file still says what it is.
func TestStyles(t *testing.T) {
	f, err := Lines(Axes{Title: "its title", X: "steps", Y: "y"}, []Curve{{Name: "a", X: []float64{1, 2}, Y: []float64{1, 2}}})
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, ext := range Formats() {
		var out strings.Builder
		if err := f.WriteAs(&out, "x"+ext, Style{Width: 3.4, Letters: 8, Bare: true}); err != nil {
			t.Fatal(err)
		}
		files[ext] = out.String()
	}
	for _, want := range []string{`width="244.80pt"`, `viewBox="0 0 244.80 `, `font-size="8"`, "<title>its title</title>", "<desc>", ">steps</text>"} {
		if !strings.Contains(files[".svg"], want) {
			t.Errorf("no %s in %s", want, files[".svg"])
		}
	}
	if strings.Contains(files[".svg"], ">its title</text>") {
		t.Error("a title")
	}
	if !strings.Contains(files[".pdf"], "/MediaBox [0 0 244.80 ") {
		t.Error("a page of another size")
	}
	picture, err := png.Decode(strings.NewReader(files[".png"]))
	if err != nil || picture.Bounds().Dx() != 1020 {
		t.Errorf("%v, %v", picture.Bounds(), err)
	}
	if lines := textsOf(t, f, Style{}); !slices.Contains(lines, "its title") {
		t.Errorf("%q", lines)
	}
}
