package figures

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	"mafalda/graph"
	"mafalda/internal/lists"
	"mafalda/secrets"
)

// What pictures of shared noise look like; lengths are relative to the width of the picture.
const (
	largestNode = 0.022 // the radius of a node with noise of variance 1 of its own, where there are few nodes
	widestPair  = 0.016 // the widest line, where there are few pairs
	fewNodes    = 40    // from there on nodes are smaller, so that they cover as much of the picture
	fewPairs    = 40    // from there on lines are thinner
	thinnest    = 0.001 // a line of which nothing can be seen in width
	mostNamed   = 60    // nodes that have room for their labels
	own         = 0.99  // own variance from which a node relies on no other
)

var (
	edgeColour  = color.NRGBA{200, 200, 200, 255}
	pairColour  = color.NRGBA{86, 180, 233, 190}
	leansColour = color.NRGBA{0, 114, 178, 255}
	aloneColour = color.NRGBA{213, 94, 0, 255}
)

// Sharing draws who relies on whom: the nodes of a network, as large as the variance of their own noise, and the pairs
// that share noise, as wide as its standard deviation, the faintest first; the largest twentieth is drawn alike. Edges that
// share nothing are thin.
func Sharing(g *graph.Graph, n *secrets.Noise) (*Figure, error) {
	if g.Nodes() != len(n.Own) {
		return nil, fmt.Errorf("noise of %d nodes on a network of %d", len(n.Own), g.Nodes())
	}
	of, places := sizesOf(n), Layout(g)
	pairs := slices.SortedStableFunc(slices.Values(n.Pairs), func(a, b secrets.Shared) int { return cmp.Compare(a.Deviation, b.Deviation) })
	_, _, low, high := Range(places)
	l := &panel{bare: true, x: axis{low: -0.07, high: 1.07}, y: axis{low: low - 0.1, high: high + 0.1}, tall: math.Max(0.4, math.Min(1, high-low+0.2))}
	l.paint = func(p *page, f frame) {
		line := func(u, v int, deviation float64) {
			of.line(p, deviation, f.at(places[u].X, places[u].Y), f.at(places[v].X, places[v].Y))
		}
		g.Adjacency().DoNonZero(func(i, j int, _ float64) {
			if i < j || i > j && g.Adjacency().At(j, i) == 0 {
				line(i, j, 0)
			}
		})
		for _, pair := range pairs { // where next to nothing is shared the edge, if there is one, shows as much
			if pair.Deviation > 0 && of.wide(pair.Deviation) >= thinnest/3 {
				line(pair.U, pair.V, pair.Deviation)
			}
		}
		for v, place := range places {
			at := f.at(place.X, place.Y)
			bottom := of.node(p, at, n.Own[v])
			if small := 0.75 * p.em; g.Nodes() <= mostNamed {
				half := width(g.Label(v), small) / 2
				middle := math.Max(wider*half, math.Min(p.width-wider*half, at.X))
				p.rect(paper, middle-half, bottom+0.2*small, middle+half, bottom+1.2*small)
				p.write(Point{middle, bottom + small}, 0.5, small, g.Label(v))
			}
		}
	}
	return &Figure{title: "Who relies on whom: own noise of the nodes, shared noise of pairs", panels: []*panel{l}, foot: of.key}, nil
}

// sizes say how large things are drawn.
type sizes struct {
	widest        float64 // deviation of the widest lines
	wider         bool    // there are larger ones, with lines as wide
	nodes, widths float64
}

func sizesOf(n *secrets.Noise) sizes {
	s := sizes{nodes: largestNode, widths: widestPair}
	var deviations []float64
	for _, p := range n.Pairs {
		if p.Deviation > 0 {
			deviations = append(deviations, p.Deviation)
		}
	}
	slices.Sort(deviations)
	pairs := len(deviations)
	if pairs > 0 { // a few pairs may want infinitely much, beside which no other's could be seen
		s.widest = deviations[(pairs-1)*95/100]
		s.wider = deviations[pairs-1] > 1.1*s.widest
	}
	s.nodes *= math.Min(1, math.Sqrt(fewNodes/float64(max(len(n.Own), 1))))
	s.widths = max(2*thinnest, s.widths*math.Min(1, math.Sqrt(fewPairs/float64(max(pairs, 1)))))
	return s
}

// node draws a node, and returns where it ends below.
func (s sizes) node(p *page, at Point, deviation float64) (bottom float64) {
	colour, radius := leansColour, p.width*max(s.nodes*math.Min(deviation, 1.5), 2*thinnest)
	if deviation*deviation >= own {
		colour = aloneColour
	}
	p.disc(colour, at, radius)
	return at.Y + radius
}

// wide returns how wide the line of a pair with shared noise is.
func (s sizes) wide(deviation float64) float64 { return s.widths * math.Min(deviation/s.widest, 1) }

// line draws a pair with shared noise; an edge without any for 0.
func (s sizes) line(p *page, deviation float64, from, to Point) {
	if deviation == 0 {
		p.line(edgeColour, p.width*thinnest, nil, from, to)
		return
	}
	p.line(pairColour, p.width*s.wide(deviation), nil, from, to)
}

// key says what sizes, widths and colours mean.
func (s sizes) key(p *page, left, top, wide float64) (bottom float64) {
	own := lists.Map([]float64{0.1, 0.3, 0.6, 1}, func(variance float64) entry {
		name := fmt.Sprint(variance)
		if variance == 1 {
			name += ": relies on nobody"
		}
		return entry{name, func(p *page, from, to Point) { s.node(p, Point{(from.X + to.X) / 2, from.Y}, math.Sqrt(variance)) }}
	})
	bottom = p.keyBelow(own, left, p.paragraph(left+wide/2, top, wide, p.em, "own variance (1: without secrets)"), wide,
		max(keyLine*p.em, 2.2*s.nodes*p.width))
	var shared []entry
	for _, share := range []float64{1, 0.5, 0.2, 0} {
		name := typeset(fmt.Sprintf("%.2g", share*s.widest))
		switch {
		case share == 0:
			name = "next to none"
		case s.widest == 0:
			continue
		case share == 1 && s.wider:
			name += " and more"
		}
		shared = append(shared, entry{name, func(p *page, from, to Point) { s.line(p, share*s.widest, from, to) }})
	}
	return p.keyBelow(shared, left, p.paragraph(left+wide/2, bottom+0.3*p.em, wide, p.em, "shared deviation"), wide, keyLine*p.em)
}
