package figures

import (
	"cmp"
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
	largestNode = 13   // points: the radius of a node with noise of variance 1 of its own, where there are few nodes
	widestPair  = 9    // points: the widest line, where there are few pairs
	fewNodes    = 40   // from there on nodes are smaller, so that they cover as much of the picture
	fewPairs    = 40   // from there on lines are thinner
	thinnest    = 0.6  // points: a line of which nothing can be seen in width
	mostNamed   = 60   // nodes that have room for their labels
	own         = 0.99 // own variance from which a node relies on nobody
)

var (
	edgeColour  = color.RGBA{200, 200, 200, 255}
	pairColour  = color.NRGBA{86, 180, 233, 190}
	leansColour = color.RGBA{0, 114, 178, 255}
	aloneColour = color.RGBA{213, 94, 0, 255}
)

// Sharing draws who relies on whom: the nodes of a network, as large as the variance of their own noise, and the pairs
// that share noise, as wide as its standard deviation; the
// largest twentieth is drawn alike. Edges that share nothing are thin.
func Sharing(g *graph.Graph, n *secrets.Noise) (*Figure, error) {
	if g.Nodes() != len(n.Own) {
		return nil, fmt.Errorf("noise of %d nodes on a network of %d", len(n.Own), g.Nodes())
	}
	s := sharingPlot{Plot: bare("Who relies on whom: own noise of the nodes, shared noise of pairs"), sizes: sizesOf(n)}
	at := Layout(g)
	s.addEdges(g, at)
	s.addPairs(n, at)
	s.addCircles(at, n.Own)
	if g.Nodes() <= mostNamed { // labels below the nodes
		for v, label := range g.Labels() {
			s.addText(at[v], label, vg.Point{Y: -s.radius(n.Own[v]) - vg.Points(2)}, draw.XCenter)
		}
	}
	_, _, low, high := plotter.XYRange(at)
	s.X.Min, s.X.Max, s.Y.Min, s.Y.Max = -0.07, 1.07, low-0.1, high+0.1
	key := sharingKey(s.sizes)
	height := vg.Length(math.Max(0.55, math.Min(1, high-low+0.2))) * 8 * vg.Inch
	return &Figure{columns: []column{{[]panel{{s.Plot, ""}}, 8}, {[]panel{{key.Plot, ""}}, 2.4}}, width: 10.4 * vg.Inch,
		height: height}, cmp.Or(s.err, key.err)
}

// sizes say how large things are drawn.
type sizes struct {
	widest        float64 // deviation of the widest lines
	wider         bool    // there are larger ones, with lines as wide
	nodes, widths vg.Length
}

func sizesOf(n *secrets.Noise) sizes {
	s := sizes{nodes: vg.Points(largestNode), widths: vg.Points(widestPair)}
	var deviations []float64
	for _, p := range n.Pairs {
		if p.Deviation > 0 {
			deviations = append(deviations, p.Deviation)
		}
	}
	slices.Sort(deviations)
	pairs := len(deviations)
	if pairs > 0 { // a few pairs may want infinitely much, beside which nobody else's could be seen
		s.widest = deviations[(pairs-1)*95/100]
		s.wider = deviations[pairs-1] > 1.1*s.widest
	}
	s.nodes *= vg.Length(math.Min(1, math.Sqrt(fewNodes/float64(max(len(n.Own), 1)))))
	s.widths = max(vg.Points(2*thinnest), s.widths*vg.Length(math.Min(1, math.Sqrt(fewPairs/float64(max(pairs, 1))))))
	return s
}

// radius returns the radius at which a node is drawn.
func (s sizes) radius(deviation float64) vg.Length {
	return max(s.nodes*vg.Length(math.Min(deviation, 1.5)), vg.Points(1.2))
}

func (s sizes) node(deviation float64) draw.GlyphStyle {
	style := draw.GlyphStyle{Color: leansColour, Radius: s.radius(deviation), Shape: draw.CircleGlyph{}}
	if deviation*deviation >= own {
		style.Color = aloneColour
	}
	return style
}

// sharingPlot is a plot with things of these sizes.
type sharingPlot struct {
	*plot.Plot
	sizes
	err error // the first one of drawing something
}

// bare is a plot without axes.
func bare(title string) *plot.Plot {
	p := plot.New()
	p.Title.Text = title
	p.HideAxes()
	return p
}

func (p *sharingPlot) addLine(a, b plotter.XY, width vg.Length, c color.Color) {
	line, err := plotter.NewLine(plotter.XYs{a, b})
	if p.err = cmp.Or(p.err, err); err == nil {
		line.LineStyle = draw.LineStyle{Color: c, Width: width}
		p.Add(line)
	}
}

// addEdges draws the edges of the network.
func (p *sharingPlot) addEdges(g *graph.Graph, at plotter.XYs) {
	g.Adjacency().DoNonZero(func(i, j int, _ float64) {
		if i < j || i > j && g.Adjacency().At(j, i) == 0 {
			p.addLine(at[i], at[j], vg.Points(thinnest), edgeColour)
		}
	})
}

// addPairs draws those that share noise, the faintest first.
func (p *sharingPlot) addPairs(n *secrets.Noise, at plotter.XYs) {
	pairs := slices.Clone(n.Pairs)
	slices.SortStableFunc(pairs, func(a, b secrets.Shared) int { return cmp.Compare(a.Deviation, b.Deviation) })
	for _, s := range pairs {
		width := p.widths * vg.Length(math.Min(s.Deviation/p.widest, 1))
		if s.Deviation > 0 && width >= vg.Points(thinnest)/3 { // otherwise the edge, if there is one, shows as much
			p.addLine(at[s.U], at[s.V], width, pairColour)
		}
	}
}

func (p *sharingPlot) addCircles(at plotter.XYs, deviations []float64) {
	circles, err := plotter.NewScatter(at)
	if p.err = cmp.Or(p.err, err); err == nil {
		circles.GlyphStyleFunc = func(i int) draw.GlyphStyle { return p.node(deviations[i]) }
		p.Add(circles)
	}
}

func (p *sharingPlot) addText(at plotter.XY, label string, offset vg.Point, align draw.XAlignment) {
	labels, err := plotter.NewLabels(plotter.XYLabels{XYs: plotter.XYs{at}, Labels: []string{label}})
	if p.err = cmp.Or(p.err, err); err != nil {
		return
	}
	vertical := draw.YTop
	if align == draw.XLeft {
		vertical = draw.YCenter
	}
	labels.Offset = offset
	labels.TextStyle[0] = text.Style{Color: color.Black, Font: font.From(plot.DefaultFont, 9), XAlign: align,
		YAlign: vertical, Handler: plot.DefaultTextHandler}
	p.Add(labels)
}

// sharingKey says what sizes, widths and colours mean.
func sharingKey(of sizes) *sharingPlot {
	p := &sharingPlot{Plot: bare(" "), sizes: of}
	row := 1.0
	write := func(label string, x float64, offset vg.Length) {
		p.addText(plotter.XY{X: x, Y: row}, label, vg.Point{X: offset}, draw.XLeft)
	}
	heading := func(label string) { row -= 0.075; write(label, 0, 0) }
	circle := func(label string, variance float64) {
		row -= 0.075
		p.addCircles(plotter.XYs{{X: 0.15, Y: row}}, []float64{math.Sqrt(variance)})
		write(label, 0.15, vg.Points(20))
	}
	line := func(label string, width vg.Length, c color.Color) {
		row -= 0.075
		p.addLine(plotter.XY{X: 0.07, Y: row}, plotter.XY{X: 0.23, Y: row}, width, c)
		write(label, 0.15, vg.Points(20))
	}
	heading("own variance (1: without secrets)")
	circle("0.1", 0.1)
	circle("0.3", 0.3)
	circle("0.6", 0.6)
	circle("1: relies on nobody", 1)
	heading("shared deviation")
	if of.widest > 0 {
		for _, share := range []float64{1, 0.5, 0.2} {
			label := fmt.Sprintf("%.2g", share*of.widest)
			if share == 1 && of.wider {
				label += " and more"
			}
			line(label, of.widths*vg.Length(share), pairColour)
		}
	}
	line("next to none", vg.Points(thinnest), edgeColour)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, 1
	return p
}
