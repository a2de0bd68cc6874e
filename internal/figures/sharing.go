package figures

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"mafalda/graph"
	"mafalda/secrets"
)

// What pictures of shared noise look like.
const (
	largestNode = 13   // points: the radius of a node with noise of variance 1 of its own
	widestPair  = 9    // points: the line of the largest deviation
	mostNamed   = 60   // nodes that have room for their labels
	own         = 0.99 // own variance from which a node relies on nobody
)

var (
	edgeColour  = color.RGBA{200, 200, 200, 255}
	pairColour  = color.RGBA{86, 180, 233, 255}
	leansColour = color.RGBA{0, 114, 178, 255}
	aloneColour = color.RGBA{213, 94, 0, 255}
)

// Sharing draws who relies on whom: the nodes of a network, as large as the variance of their own noise, and the pairs
// that share noise, as wide as its standard deviation. Edges that share nothing are thin.
func Sharing(g *graph.Graph, n *secrets.Noise) (*Figure, error) {
	if g.Nodes() != len(n.Own) {
		return nil, fmt.Errorf("noise of %d nodes on a network of %d", len(n.Own), g.Nodes())
	}
	p := bare("Who relies on whom: own noise of the nodes, shared noise of pairs")
	at := layoutOf(g)
	if err := addEdges(p, g, at); err != nil {
		return nil, err
	}
	widest, err := addPairs(p, n, at)
	if err != nil {
		return nil, err
	}
	if err := addNodes(p, n, at); err != nil {
		return nil, err
	}
	if g.Nodes() <= mostNamed {
		if err := addNames(p, g, n, at); err != nil {
			return nil, err
		}
	}
	var low, high float64
	for _, v := range at {
		low, high = math.Min(low, v.y), math.Max(high, v.y)
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -0.07, 1.07, low-0.1, high+0.1
	key, err := sharingKey(widest)
	if err != nil {
		return nil, err
	}
	height := vg.Length(math.Max(0.55, math.Min(1, high-low+0.2))) * 8 * vg.Inch
	return &Figure{plots: []*plot.Plot{p, key}, widths: []float64{8, 2.4}, width: 10.4 * vg.Inch, height: height}, nil
}

// bare is a plot without axes.
func bare(title string) *plot.Plot {
	p := plot.New()
	p.Title.Text = title
	p.HideAxes()
	return p
}

func addLine(p *plot.Plot, a, b position, width vg.Length, c color.Color) error {
	line, err := plotter.NewLine(plotter.XYs{{X: a.x, Y: a.y}, {X: b.x, Y: b.y}})
	if err != nil {
		return err
	}
	line.LineStyle = draw.LineStyle{Color: c, Width: width}
	p.Add(line)
	return nil
}

// addEdges draws those of the network.
func addEdges(p *plot.Plot, g *graph.Graph, at []position) (err error) {
	g.Adjacency().DoNonZero(func(i, j int, _ float64) {
		if i < j || i > j && g.Adjacency().At(j, i) == 0 {
			if e := addLine(p, at[i], at[j], vg.Points(0.6), edgeColour); e != nil {
				err = e
			}
		}
	})
	return err
}

// addPairs draws those that share noise, the faintest first, and returns the largest deviation.
func addPairs(p *plot.Plot, n *secrets.Noise, at []position) (widest float64, err error) {
	pairs := slices.Clone(n.Pairs)
	slices.SortStableFunc(pairs, func(a, b secrets.Shared) int {
		switch {
		case a.Deviation < b.Deviation:
			return -1
		case a.Deviation > b.Deviation:
			return 1
		}
		return 0
	})
	if len(pairs) > 0 {
		widest = pairs[len(pairs)-1].Deviation
	}
	for _, s := range pairs {
		width := vg.Length(s.Deviation/widest) * vg.Points(widestPair)
		if width < vg.Points(0.6) { // the edge, if there is one, shows as much
			continue
		}
		if err := addLine(p, at[s.U], at[s.V], width, pairColour); err != nil {
			return 0, err
		}
	}
	return widest, nil
}

// radius returns that of a node.
func radius(deviation float64) vg.Length {
	return max(vg.Points(largestNode)*vg.Length(math.Min(deviation, 1.5)), vg.Points(1.2))
}

func nodeStyle(deviation float64) draw.GlyphStyle {
	style := draw.GlyphStyle{Color: leansColour, Radius: radius(deviation), Shape: draw.CircleGlyph{}}
	if deviation*deviation >= own {
		style.Color = aloneColour
	}
	return style
}

func addNodes(p *plot.Plot, n *secrets.Noise, at []position) error {
	return addCircles(p, at, n.Own)
}

func addCircles(p *plot.Plot, at []position, deviations []float64) error {
	var points plotter.XYs
	for _, v := range at {
		points = append(points, plotter.XY{X: v.x, Y: v.y})
	}
	circles, err := plotter.NewScatter(points)
	if err != nil {
		return err
	}
	circles.GlyphStyleFunc = func(i int) draw.GlyphStyle { return nodeStyle(deviations[i]) }
	p.Add(circles)
	return nil
}

// addNames writes labels below the nodes.
func addNames(p *plot.Plot, g *graph.Graph, n *secrets.Noise, at []position) error {
	for v, label := range g.Labels() {
		if err := addText(p, at[v], label, vg.Point{Y: -radius(n.Own[v]) - vg.Points(2)}, draw.XCenter); err != nil {
			return err
		}
	}
	return nil
}

func addText(p *plot.Plot, at position, label string, offset vg.Point, align draw.XAlignment) error {
	labels, err := plotter.NewLabels(plotter.XYLabels{XYs: plotter.XYs{{X: at.x, Y: at.y}}, Labels: []string{label}})
	if err != nil {
		return err
	}
	vertical := draw.YTop
	if align == draw.XLeft {
		vertical = draw.YCenter
	}
	labels.Offset = offset
	for i := range labels.TextStyle {
		labels.TextStyle[i] = text.Style{Color: color.Black, Font: font.From(plot.DefaultFont, 9), XAlign: align,
			YAlign: vertical, Handler: plot.DefaultTextHandler}
	}
	p.Add(labels)
	return nil
}

// sharingKey says what sizes, widths and colours mean.
func sharingKey(widest float64) (*plot.Plot, error) {
	p := bare(" ")
	row := 0.93
	next := func() position { row -= 0.075; return position{0.15, row + 0.075} }
	write := func(at position, label string) error {
		return addText(p, at, label, vg.Point{X: vg.Points(20)}, draw.XLeft)
	}
	heading := func(label string) error { return addText(p, position{0, next().y}, label, vg.Point{}, draw.XLeft) }
	if err := heading("own variance (1: without secrets)"); err != nil {
		return nil, err
	}
	for _, variance := range []float64{0.1, 0.3, 0.6} {
		at := next()
		if err := addCircles(p, []position{at}, []float64{math.Sqrt(variance)}); err != nil {
			return nil, err
		}
		if err := write(at, fmt.Sprint(variance)); err != nil {
			return nil, err
		}
	}
	at := next()
	if err := addCircles(p, []position{at}, []float64{1}); err != nil {
		return nil, err
	}
	if err := write(at, "1: relies on nobody"); err != nil {
		return nil, err
	}
	if err := heading("shared deviation"); err != nil {
		return nil, err
	}
	for _, share := range []float64{1, 0.5, 0.2} {
		if widest == 0 {
			break
		}
		at := next()
		if err := addLine(p, position{0.07, at.y}, position{0.23, at.y}, vg.Length(share)*vg.Points(widestPair),
			pairColour); err != nil {
			return nil, err
		}
		if err := write(at, fmt.Sprintf("%.2g", share*widest)); err != nil {
			return nil, err
		}
	}
	at = next()
	if err := addLine(p, position{0.07, at.y}, position{0.23, at.y}, vg.Points(0.6), edgeColour); err != nil {
		return nil, err
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, 1
	return p, write(at, "next to none")
}
