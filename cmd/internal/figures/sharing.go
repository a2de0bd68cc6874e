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

// sketch draws in a plot without axes, at places of its coordinates.
type sketch func(c draw.Canvas, at func(plotter.XY) vg.Point)

// Plot draws it.
func (s sketch) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	s(c, func(v plotter.XY) vg.Point { return vg.Point{X: x(v.X), Y: y(v.Y)} })
}

// panel returns the sketch as a plot of an area.
func (s sketch) panel(title string, area plotter.XYs) panel {
	p := bare(title)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = plotter.XYRange(area)
	p.Add(s)
	return panel{Plot: p}
}

// bare is a plot without axes.
func bare(title string) *plot.Plot {
	p := plot.New()
	p.Title.Text = title
	p.HideAxes()
	return p
}

// Sharing draws who relies on whom: the nodes of a network, as large as the variance of their own noise, and the pairs
// that share noise, as wide as its standard deviation, the faintest first; the largest twentieth is drawn alike. Edges that
// share nothing are thin.
func Sharing(g *graph.Graph, n *secrets.Noise) (*Figure, error) {
	if g.Nodes() != len(n.Own) {
		return nil, fmt.Errorf("noise of %d nodes on a network of %d", len(n.Own), g.Nodes())
	}
	of, places := sizesOf(n), Layout(g)
	pairs := slices.SortedStableFunc(slices.Values(n.Pairs), func(a, b secrets.Shared) int { return cmp.Compare(a.Deviation, b.Deviation) })
	nodes := sketch(func(c draw.Canvas, at func(plotter.XY) vg.Point) {
		line := func(u, v int, style draw.LineStyle) {
			a, b := at(places[u]), at(places[v])
			c.StrokeLine2(style, a.X, a.Y, b.X, b.Y)
		}
		g.Adjacency().DoNonZero(func(i, j int, _ float64) {
			if i < j || i > j && g.Adjacency().At(j, i) == 0 {
				line(i, j, of.line(0))
			}
		})
		for _, p := range pairs { // where next to nothing is shared the edge, if there is one, shows as much
			if style := of.line(p.Deviation); p.Deviation > 0 && style.Width >= vg.Points(thinnest)/3 {
				line(p.U, p.V, style)
			}
		}
		for v, place := range places {
			of.node(c, at(place), n.Own[v])
			if g.Nodes() <= mostNamed {
				below := at(place).Add(vg.Point{Y: -of.radius(n.Own[v]) - vg.Points(2)})
				c.FillText(small(draw.XCenter, draw.YTop), below, g.Label(v))
			}
		}
	})
	_, _, low, high := plotter.XYRange(places)
	area := plotter.XYs{{X: -0.07, Y: low - 0.1}, {X: 1.07, Y: high + 0.1}}
	height := vg.Length(math.Max(0.55, math.Min(1, high-low+0.2))) * 8 * vg.Inch
	f := single(nodes.panel("Who relies on whom: own noise of the nodes, shared noise of pairs", area), 8*vg.Inch, height)
	f.columns = append(f.columns, column{[]panel{of.key().panel(" ", plotter.XYs{{}, {X: 1, Y: 1}})}, float64(2.4 * vg.Inch)})
	f.width += 2.4 * vg.Inch
	return f, nil
}

func small(x draw.XAlignment, y draw.YAlignment) text.Style {
	return text.Style{Color: color.Black, Font: font.From(plot.DefaultFont, 9), XAlign: x, YAlign: y, Handler: plot.DefaultTextHandler}
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

// node draws a node.
func (s sizes) node(c draw.Canvas, at vg.Point, deviation float64) {
	style := draw.GlyphStyle{Color: leansColour, Radius: s.radius(deviation), Shape: draw.CircleGlyph{}}
	if deviation*deviation >= own {
		style.Color = aloneColour
	}
	c.DrawGlyph(style, at)
}

// line is what a pair with shared noise looks like; an edge without any for 0.
func (s sizes) line(deviation float64) draw.LineStyle {
	if deviation == 0 {
		return draw.LineStyle{Color: edgeColour, Width: vg.Points(thinnest)}
	}
	return draw.LineStyle{Color: pairColour, Width: s.widths * vg.Length(math.Min(deviation/s.widest, 1))}
}

// key says what sizes, widths and colours mean.
func (s sizes) key() sketch {
	return func(c draw.Canvas, at func(plotter.XY) vg.Point) {
		row := 1.0
		write := func(label string, x float64, offset vg.Length) vg.Point {
			row -= 0.075
			place := at(plotter.XY{X: x, Y: row})
			c.FillText(small(draw.XLeft, draw.YCenter), place.Add(vg.Point{X: offset}), label)
			return place
		}
		write("own variance (1: without secrets)", 0, 0)
		for _, variance := range []float64{0.1, 0.3, 0.6, 1} {
			label := fmt.Sprint(variance)
			if variance == 1 {
				label += ": relies on nobody"
			}
			s.node(c, write(label, 0.15, vg.Points(20)), math.Sqrt(variance))
		}
		write("shared deviation", 0, 0)
		for _, share := range []float64{1, 0.5, 0.2, 0} {
			label := fmt.Sprintf("%.2g", share*s.widest)
			switch {
			case share == 0:
				label = "next to none"
			case s.widest == 0:
				continue
			case share == 1 && s.wider:
				label += " and more"
			}
			place := write(label, 0.15, vg.Points(20))
			c.StrokeLine2(s.line(share*s.widest), place.X-vg.Points(14), place.Y, place.X+vg.Points(14), place.Y)
		}
	}
}
