package figures

import (
	"bytes"
	"fmt"
	"image/png"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/benchmarks"
	"mafalda/export"
	"mafalda/graph"
	"mafalda/measure"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/protocols"
	"mafalda/protocols/averaging"
	"mafalda/protocols/dpps"
	"mafalda/protocols/gossip"
	"mafalda/protocols/ppac"
	"mafalda/secrets"
	"mafalda/simulate"
	"mafalda/strategy"
	"mafalda/threat"
	"mafalda/verify"
)

// made is what a constructor has made.
type made struct {
	name   string
	figure *Figure
	err    error
}

// everyFigure calls every constructor of the package with this number of points of such values, all positive.
func everyFigure(t *testing.T, points int, value func(i int) float64) (all []made) {
	t.Helper()
	add := func(name string, f *Figure, err error) { all = append(all, made{name, f, err}) }
	addAll := func(p Pictures) {
		if p.Err != nil || len(p.All) == 0 {
			add("a list", nil, p.Err)
		}
		for _, of := range p.All {
			add(of.Name, of.Figure, nil)
		}
	}
	values, squares, indices := make([]float64, points), make([]float64, points), make([]float64, points)
	for i := range points {
		values[i], squares[i], indices[i] = value(i), value(i)*value(i), float64(i+1)
	}
	network := func(source string) *graph.Network {
		n, err := graph.LoadNetwork(t.Context(), graph.NetworkOptions{Source: source})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	n := network("path:3")
	schema, err := participation.NewCyclic(max(points, 1), max(points, 1), 1)
	if err != nil {
		t.Fatal(err)
	}

	// exports
	m := &export.Manifest{Steps: points, Graph: &n.Origin}
	for i := range points {
		m.History = append(m.History, export.Point{Loss: value(i), LowerBound: value(i) * float64(i) / float64(points)})
	}
	f, err := Convergence(m)
	add("convergence", f, err)
	f, err = Spectrum(m, values)
	add("spectrum", f, err)
	f, err = StepErrors(m, 3, []verify.MethodErrors{{Method: "mafalda", Squared: squares},
		{Method: "d-mf", Squared: squares}})
	add("errors", f, err)
	if points > 0 {
		diagonal := mat.NewTriDense(points, mat.Lower, nil)
		for i := range points {
			diagonal.SetTri(i, i, value(i))
		}
		c, err := strategy.NewDense(diagonal)
		if err != nil {
			t.Fatal(err)
		}
		f, err := Strategy(c, Setting(m), " of node a")
		add("matrices", f, err)
		add("zeros", Heatmaps("heading", Matrix{"O", mat.NewDense(points, points, nil)}), nil)
		ring := network(fmt.Sprintf("path:%d", points)).Graph
		own := slices.Repeat([]float64{1}, points)
		f, err = Sharing(ring, &secrets.Noise{Own: own})
		add("sharing nothing", f, err)
		if points > 1 {
			pairs := []secrets.Shared{{Pair: secrets.Pair{U: 0, V: 1}, Deviation: value(0)}}
			f, err = Sharing(ring, &secrets.Noise{Own: own, Pairs: pairs})
			add("sharing", f, err)
		}
	}

	// batches
	curves := &plan.SamplingCurves{Problem: plan.Problem{Network: n, Schema: schema}, Delta: 1e-6}
	front := &plan.MemoryFront{Problem: curves.Problem, Budget: plan.Budget{Dim: 10, Memory: math.Inf(1)},
		Options: plan.Options{Privacy: &plan.Privacy{}}}
	compared := &plan.Comparison{Case: plan.Case{Problem: curves.Problem}}
	trained := &plan.Comparison{Case: plan.Case{Problem: curves.Problem, Training: &measure.Training{Rate: 1, X: values, Directions: values,
		Distances: values}}}
	for i := range points {
		half := plan.AtPrivacy{Ratio: 0.5, Bands: 1}
		curves.Rows = append(curves.Rows, plan.SamplingRow{Epsilon: values[i], Cyclic: 1, Best: &half, Bands: []plan.AtPrivacy{half}})
		compared.Ways = append(compared.Ways, plan.Way{PerNode: i == 1, Ranked: i == 0, Price: plan.Price{ErrorAtPrivacy: value(i)}})
		e := plan.RateExcess{Rate: value(i), Excess: measure.Excess{Bias: value(i)}}
		trained.Ways = append(trained.Ways, plan.Way{Ranked: i == 0, Prospect: &plan.Prospect{RateExcess: e, Curve: []plan.RateExcess{e}}})
		front.Choices = append(front.Choices, plan.Choice{Front: true,
			Price: plan.Price{NodeCost: strategy.NodeCost{Floats: i}, ErrorAtPrivacy: value(i)}})
	}
	f, err = Sampling(curves)
	add("sampling", f, err)
	f, err = MemoryFront(front)
	add("memory", f, err)
	f, err = Advice(compared)
	add("advice", f, err)
	f, err = Rates(trained)
	add("rates", f, err)

	// benchmarks
	kb := benchmarks.KB{K: 2, B: 3}
	var rows []benchmarks.Row
	var workloads []benchmarks.Row
	for i := range points {
		rows = append(rows, benchmarks.Row{Graph: "path:3", K: 2, B: 3, Strategy: benchmarks.OfLoss()[1+i],
			Ratio: 1 + value(i), MemoryFloats: i})
		workloads = append(workloads, benchmarks.Row{Graph: "path:3", K: 2, B: 3, Workload: strconv.Itoa(i),
			PlainExcess: value(i), CentralizedExcess: value(i)})
	}
	f, err = Excess(rows, kb)
	add("excess", f, err)
	f, err = Memory(rows, kb, plan.Privacies{Epsilons: []float64{1}, Delta: 1e-6})
	add("kept", f, err)
	f, err = Workloads(workloads, kb)
	add("workloads", f, err)

	// attackers
	var reports []threat.Report
	var growth []threat.GrowthRow
	for i := range points {
		hops, v := i+1, value(i)
		pair := threat.Pair{Distance: &hops, SensSquared: &v, Mu: &v, Cyffers: &v}
		reports = append(reports, threat.Report{Pairs: []threat.Pair{pair}})
		growth = append(growth, threat.GrowthRow{Steps: hops, Neighbours: &v, Others: &v, Asymptote: &v})
	}
	f, err = Exposure(reports, ExposureOptions{Algorithm: "dp-d-sgd", Graph: "g", Schema: schema, Local: value(0), Sigma: 1,
		Alpha: 2})
	add("exposure", f, err)
	f, err = Growth(growth, threat.Condition)
	add("growth", f, err)

	// averaging
	run := averaging.Run{Graph: "path:3", Errors: values}
	f, err = GossipErrors(&gossip.Result{Run: run})
	add("gossip", f, err)
	pushed := &dpps.Result{Graph: "path:3", Errors: values, Estimate: "practical"}
	partial := simulate.PartPSPCurves{Network: "path:3", Methods: []string{"all"}, Rounds: [][]dpps.Report{nil}}
	for i := range points {
		pushed.Rounds = append(pushed.Rounds, dpps.Report{Round: i, Estimated: value(i), Real: value(i)})
		partial.Rounds[0] = append(partial.Rounds[0], dpps.Report{Round: i, Estimated: value(i), Real: value(i)})
	}
	addAll(DPPS(pushed))
	addAll(PartPSP([]simulate.PartPSPCurves{partial}))
	a := &ppac.Averaging{Problem: averaging.Problem{Network: n}, Result: ppac.Result{Run: run, Floor: 1},
		Run: &ppac.Run{Trace: averaging.Trace{Mean: 1}}}
	for i := range points {
		a.Run.Values = append(a.Run.Values, []float64{value(i), value(i), value(i)})
	}
	s := &ppac.Sweep{Noises: values, Errors: make([][]float64, points), Rounds: indices, Bounds: indices, Worst: values,
		Mean: values}
	for i := range points {
		s.Errors[i] = values
	}
	addAll(PPAC(a, s))
	cycle := ppac.CycleLeakage{Nodes: 3, Noises: values, Leakages: values, Floor: value(0)}
	f, err = PPACCycles([]ppac.CycleLeakage{cycle})
	add("cycles", f, err)
	if points > 0 {
		addAll(Papers(&protocols.Papers{Example: a, Swept: s, Cycles: []ppac.CycleLeakage{cycle},
			Sensitivity: []*dpps.Result{pushed}}))
	}
	c := &protocols.Comparison{Problem: averaging.Problem{Network: n}}
	f, err = Compared(c, slices.Repeat([]protocols.Outcome{{Plain: &protocols.PlainResult{Errors: values}}}, 4))
	add("compared", f, err)

	// training: as many steps with losses, and as many levels
	study, err := simulate.NewStudy(n, simulate.Config{Task: simulate.LinearTask(60, 2), Schema: schema},
		simulate.StudyOptions{Methods: []string{simulate.None, "dp-d-sgd"}, Mus: []float64{1, 2}, Delta: 1e-6, Seeds: 2})
	if err != nil {
		t.Fatal(err)
	}
	steps := make([]int, points)
	for i := range points {
		steps[i] = i + 1
	}
	var cells []simulate.Cell
	var runs []simulate.Result
	for seed := range uint64(2) {
		for level := range points + 1 { // the first is without noise
			cell, loss := simulate.Cell{Method: simulate.None, Seed: seed}, value(0)
			if level > 0 {
				cell.Method, cell.Mu = "dp-d-sgd", float64(level)
				loss = value(level-1) * (1.5 + 0.1*float64(seed))
			}
			cells = append(cells, cell)
			runs = append(runs, simulate.Result{Steps: steps, Losses: values, Mean: &loss, Full: &loss})
		}
	}
	grid := simulate.NewGrid(cells, runs)
	f, err = PrivacyUtility(study, grid)
	add("privacy-utility", f, err)
	for _, level := range append(grid.Levels, 7) {
		f, err = Losses(study, grid, level)
		add("losses", f, err)
	}

	// the drawing itself
	for _, axes := range []Axes{{}, {LogX: true}, {LogY: true}, {LogX: true, LogY: true, Dots: true}} {
		axes.Title, axes.X, axes.Y = "title", "x", "y"
		f, err = Lines(axes, []Curve{{Name: "a", X: values, Y: values, Low: values, High: values}})
		add(fmt.Sprintf("lines %+v", axes), f, err)
		f, err = linesWithLowest(axes, slices.Repeat([]Curve{{Name: "a", X: values, Y: values}}, min(points, 2)))
		add("with lowest", f, err)
	}
	dots := Dots{Title: "title", Axis: "axis"}
	for i := range points {
		dots.Add("series", fmt.Sprint("row ", i), value(i))
	}
	f, err = dots.Figure()
	add("dots", f, err)
	return all
}

// kinds are values of points.
func kinds() map[string]func(i int) float64 {
	return map[string]func(i int) float64{
		"growing":  func(i int) float64 { return float64(i + 1) },
		"constant": func(int) float64 { return 3 },
		"one":      func(int) float64 { return 1 },
		"decades":  func(i int) float64 { return math.Pow(10, float64(2*i-9)) },
		"falling":  func(i int) float64 { return 7e-5 / float64(i+1) },
		"close":    func(i int) float64 { return 5 + 1e-9*float64(i) },
	}
}

// "sampling" with one ε of at most 1 panicked, and others would have: every figure of no, one, two and three points is
// drawn in every format, or is nil, of no points; axes have at least two labels. No text is cut off or drawn over another, at
// the widths of journals.
func TestEveryFigureOfFewPoints(t *testing.T) {
	for kind, value := range kinds() {
		for points := range 4 {
			for _, of := range everyFigure(t, points, value) {
				name := fmt.Sprintf("%s of %d points, %s", of.name, points, kind)
				if of.err != nil {
					t.Errorf("%s: %v", name, of.err)
					continue
				}
				if of.figure == nil {
					may := []string{"convergence", "losses", "privacy-utility", "workloads"} // have nothing to show
					if points > 1 && !slices.Contains(may, of.name) {
						t.Errorf("%s: none", name)
					}
					continue
				}
				for _, style := range styles {
					p, err := of.figure.page(style)
					if err != nil {
						t.Errorf("%s: %v", name, err)
						continue
					}
					checkTexts(t, name, p)
					checkAxes(t, name, of.figure, p)
				}
			}
		}
	}
	for _, of := range everyFigure(t, 1, kinds()["one"]) {
		for _, ext := range Formats() {
			if of.figure == nil {
				continue
			}
			if err := of.figure.WriteAs(&bytes.Buffer{}, "x"+ext, styles[1]); err != nil {
				t.Errorf("%s of one point%s: %v", of.name, ext, err)
			}
		}
	}
}

// styles are those of journals with one column and two, and the usual one.
var styles = []Style{{}, {Width: 3.4, Letters: 8}, {Width: 7, Letters: 9, Bare: true}}

// checkTexts finds texts that are not whole in the picture, or drawn over each other.
func checkTexts(t *testing.T, name string, p *page) {
	t.Helper()
	type box struct {
		shape
		left, top, right, bottom float64
	}
	var boxes []box
	for _, s := range p.shapes {
		if s.text == "" {
			continue
		}
		at, end := s.points[0], s.end()
		b := box{s, at.X, at.Y - 0.6*s.size, end.X, at.Y}
		if s.upward {
			b = box{s, at.X - 0.6*s.size, end.Y, at.X, at.Y}
		}
		if b.left < 0 || b.top < 0 || b.right > p.width || b.bottom > p.height {
			t.Errorf("%s, %v wide: %q is cut off", name, p.width, s.text)
		}
		for _, o := range boxes {
			if b.left < o.right-0.1 && o.left < b.right-0.1 && b.top < o.bottom-0.1 && o.top < b.bottom-0.1 && !strings.Contains(name, "sharing") {
				t.Errorf("%s, %v wide: %q is drawn over %q", name, p.width, s.text, o.text)
			}
		}
		boxes = append(boxes, b)
	}
}

// checkAxes finds axes with fewer than two labels that can be told apart.
func checkAxes(t *testing.T, name string, f *Figure, p *page) {
	t.Helper()
	for _, l := range f.panels {
		for _, a := range []axis{l.x, l.y} {
			labels := map[string]bool{}
			for _, tick := range a.ticks(0.3*p.width, func(label string) float64 { return width(label, p.em) }) {
				if tick.label != "" && tick.value >= a.low && tick.value <= a.high {
					labels[tick.label] = true
				}
			}
			if len(labels) < 2 && !l.bare && a.names == nil {
				t.Errorf("%s: an axis from %v to %v has the labels %v", name, a.low, a.high, labels)
			}
		}
	}
}

// textsOf returns the texts of a figure.
func textsOf(t *testing.T, f *Figure, s Style) (lines []string) {
	t.Helper()
	p, err := f.page(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range p.shapes {
		if s.text != "" {
			lines = append(lines, s.text)
		}
	}
	return lines
}

// lettered is a figure of a text alone.
func lettered(text string) *Figure {
	return &Figure{foot: func(p *page, left, top, _ float64) float64 {
		p.write(Point{left, top + 20}, 0, 12, text)
		return top + 30
	}}
}

// 10⁻⁵ was read as 10⁵ in PNG and PDF: the font has no ⁻, and no ⁰. Every character that figures use has a shape of its
// own, in every format.
func TestEveryCharacterIsDrawn(t *testing.T) {
	used := map[rune]bool{}
	for _, r := range "⁰¹²³⁴⁵⁶⁷⁸⁹⁻0123456789.e+-" { // of axes
		used[r] = true
	}
	for _, value := range kinds() {
		for _, of := range everyFigure(t, 3, value) {
			if of.figure == nil {
				continue
			}
			for _, line := range textsOf(t, of.figure, Style{}) {
				for _, r := range line {
					used[r] = r != ' '
				}
			}
		}
	}
	for _, r := range "C⁻¹ ε δ μ ≤ ‖v‖₂ ± sens² ∞ é" {
		used[r] = r != ' '
	}
	blank := map[string][]byte{}
	written := func(text, ext string) []byte {
		var out bytes.Buffer
		if err := lettered(text).WriteAs(&out, "x"+ext, Style{Width: 1}); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	for _, ext := range Formats() {
		blank[ext] = written(" ", ext)
	}
	shapes := map[string]rune{}
	for r, drawn := range used {
		if !drawn {
			continue
		}
		run := texts(Point{}, 12, string(r), false)[0]
		if glyph([]rune(run.text)[0]) == 0 || width(string(r), 12) <= 0 {
			t.Errorf("%q is not in the font", r)
		}
		shape := string(written(string(r), ".png"))
		if other, there := shapes[shape]; there {
			t.Errorf("%q and %q look alike", r, other)
		}
		shapes[shape] = r
		for _, ext := range Formats() {
			if bytes.Equal(written(string(r), ext), blank[ext]) {
				t.Errorf("%q is not drawn in %s", r, ext)
			}
		}
	}
	if len(shapes) < 60 {
		t.Errorf("only %d characters", len(shapes))
	}
}

// Exponents have a minus: the picture of 10⁻⁵ has more ink than the picture of 10⁵, as wide as the minus is.
func TestExponentsHaveTheirSign(t *testing.T) {
	negative, positive, minus := width(power(-5), 12), width(power(5), 12), width("⁻", 12)
	if math.Abs(negative-positive-minus) > 1e-9 || minus < 3 {
		t.Errorf("%v and %v: the minus is %v wide", negative, positive, minus)
	}
	ink := func(label string) (dark int) {
		var out bytes.Buffer
		if err := lettered(label).WriteAs(&out, "x.png", Style{Width: 1}); err != nil {
			t.Fatal(err)
		}
		picture, err := png.Decode(&out)
		if err != nil {
			t.Fatal(err)
		}
		for y := range picture.Bounds().Dy() {
			for x := range picture.Bounds().Dx() {
				if r, _, _, _ := picture.At(x, y).RGBA(); r < 0x8000 {
					dark++
				}
			}
		}
		return dark
	}
	if with, without := ink(power(-5)), ink(power(5)); with < without+4 {
		t.Errorf("%d dark pixels with the minus, %d without", with, without)
	}
}

// Labels of nodes can be of any script: what the font has not is a frame in PNG and PDF, and the reader's in SVG.
func TestLettersOfOtherScripts(t *testing.T) {
	f, err := Lines(Axes{Title: "节点"}, []Curve{{Name: "a", X: []float64{1, 2}, Y: []float64{1, 2}}})
	if err != nil {
		t.Fatal(err)
	}
	var svg bytes.Buffer
	if err := f.WriteAs(&svg, "x.svg", Style{}); err != nil || !strings.Contains(svg.String(), ">节点</text>") {
		t.Errorf("%v", err)
	}
	for _, ext := range Formats() {
		if err := f.WriteAs(&svg, "x"+ext, Style{}); err != nil {
			t.Error(err)
		}
	}
}

// No text lies outside of the picture, however long it is.
func TestTextIsWithinThePicture(t *testing.T) {
	long := strings.Repeat("a rather long name of a graph, ", 12) + strings.Repeat("x", 300)
	curves := []Curve{{Name: "a", X: []float64{1, 2}, Y: []float64{1, 2}},
		{Name: "b", X: []float64{1, 2}, Y: []float64{1, 200}}}
	f, err := linesWithLowest(Axes{Title: long, X: long[:150],
		Y: "root mean square over the nodes, for sens = 1 and unit noise"}, curves)
	if err != nil {
		t.Fatal(err)
	}
	for _, style := range append(styles, Style{Width: 2, Letters: 12}) {
		p, err := f.page(style)
		if err != nil {
			t.Fatal(err)
		}
		checkTexts(t, "long", p)
	}
}
