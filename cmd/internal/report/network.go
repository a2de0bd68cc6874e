package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mafalda/cmd/internal/figures"
	"mafalda/export"
	"mafalda/graph"
	"mafalda/internal/rounding"
)

const (
	mostNodes = 1000   // of a map
	mostPairs = 250000 // of an attacker and a victim, on one map
)

// Map is a network on which a node is chosen.
type Map struct {
	ID        string       `json:"id"`
	Kind      string       `json:"kind"` // account, shared or average
	Labels    []string     `json:"labels"`
	X         []float64    `json:"x"` // from 0 to 1000
	Y         []float64    `json:"y"` // from 0 to height
	Edges     [][2]int     `json:"-"`
	Attackers []Attacker   `json:"attackers"`
	Shared    [][3]float64 `json:"shared,omitempty"` // node, node, standard deviation
	Own       []float64    `json:"own,omitempty"`
	Delta     string       `json:"delta,omitempty"` // of epsilon
	Note      string       `json:"-"`
	HoldsFor  string       `json:"-"` // what the numbers hold for; empty: for all
}

// Attacker is what one learns: numbers of all nodes in the order of the map, rounded up, -1 for infinite.
type Attacker struct {
	Name    string    `json:"name"`
	Self    []int     `json:"self"` // the nodes that it is
	Mu      []float64 `json:"mu,omitempty"`
	Epsilon []float64 `json:"epsilon,omitempty"`
	Nats    []float64 `json:"nats,omitempty"`
	Hops    []int     `json:"hops,omitempty"` // -1: no path
}

// Height of a map; its width is 1000.
const height = 760

// sort puts the labels in order, numbers by value, and notes their places.
func (m *Map) sort(at map[string]int) {
	slices.SortFunc(m.Labels, func(a, b string) int {
		x, noX := strconv.ParseInt(a, 10, 64)
		y, noY := strconv.ParseInt(b, 10, 64)
		if noX == nil && noY == nil && x != y {
			return cmp.Compare(x, y)
		}
		return cmp.Compare(a, b)
	})
	for i, label := range m.Labels {
		at[label] = i
	}
}

// graph is the network without its weights.
func (m *Map) graph() (*graph.Graph, error) {
	var edges []graph.Edge
	for _, e := range m.Edges {
		edges = append(edges, graph.Edge{U: e[0], V: e[1], Weight: 1})
	}
	return graph.New(m.Labels, edges, false)
}

// place gives every node its place: by the edges if they connect all, otherwise on rings around the first attacker.
func (m *Map) place() error {
	g, err := m.graph()
	if err != nil {
		return err
	}
	x, y := make([]float64, len(m.Labels)), make([]float64, len(m.Labels))
	if len(g.Components()) == 1 {
		x, y = figures.Layout(g)
	} else {
		m.rings(x, y)
	}
	m.X, m.Y = fit(x, 1000), fit(y, height)
	return nil
}

// rings puts nodes at their distance from the first attacker.
func (m *Map) rings(x, y []float64) {
	ring := map[int][]int{}
	for i := range x {
		hops := 1
		if len(m.Attackers) > 0 && m.Attackers[0].Hops != nil {
			hops = m.Attackers[0].Hops[i]
		}
		ring[hops] = append(ring[hops], i)
	}
	for hops, nodes := range ring {
		radius := float64(hops)
		if hops < 0 { // no path: outside of all
			radius = float64(len(ring))
		}
		if hops == 0 && len(nodes) > 1 {
			radius = 0.3
		}
		for k, i := range nodes {
			angle := 2 * math.Pi * (float64(k) + 0.25*float64(hops)) / float64(len(nodes))
			x[i], y[i] = radius*math.Sin(angle), -radius*math.Cos(angle)
		}
	}
}

// fit scales places to the map, with room at its edge.
func fit(at []float64, size float64) []float64 {
	const room = 40
	low, high := slices.Min(at), slices.Max(at)
	fitted := make([]float64, len(at))
	for i, v := range at {
		share := 0.5
		if high > low {
			share = (v - low) / (high - low)
		}
		fitted[i] = math.Round(10*(room+share*(size-2*room))) / 10
	}
	return fitted
}

// SVG draws edges, nodes and, if there is room, labels; the script colours them.
func (m *Map) SVG() template.HTML {
	var b strings.Builder
	width := math.Max(0.8, math.Min(2.5, 30/math.Sqrt(float64(len(m.Edges)+1))))
	fmt.Fprintf(&b, `<path class="edges" stroke-width="%.2g" d="`, width)
	for _, e := range m.Edges {
		fmt.Fprintf(&b, "M%g,%gL%g,%g", m.X[e[0]], m.Y[e[0]], m.X[e[1]], m.Y[e[1]])
	}
	b.WriteString(`"/><path class="own"/>`)
	radius := math.Max(5, math.Min(14, 160/math.Sqrt(float64(len(m.Labels)))))
	for i := range m.Labels {
		fmt.Fprintf(&b, `<circle class="node" cx="%g" cy="%g" r="%.3g"/>`, m.X[i], m.Y[i], radius)
	}
	if len(m.Labels) <= 40 {
		for i, label := range m.Labels {
			half := math.Min(500, 4+6*float64(utf8.RuneCountInString(label)))
			x := math.Max(half, math.Min(1000-half, m.X[i]))
			fmt.Fprintf(&b, `<text class="label" x="%g" y="%g">%s</text>`, x, m.Y[i]-radius-5,
				template.HTMLEscapeString(label))
		}
	}
	return template.HTML(b.String())
}

// Height of the map.
func (m *Map) Height() int { return height }

// Choice says what is chosen on the map.
func (m *Map) Choice() string {
	if m.Kind == "shared" {
		return "node"
	}
	if m.Kind == "average" {
		return "observer"
	}
	return "attacker"
}

// sharedMap shows who relies on whom.
func sharedMap(id string, n *export.SharedNoise) (*Map, error) {
	m := &Map{ID: id, Kind: "shared", Labels: n.Labels}
	if len(n.Labels) > mostNodes {
		return nil, nil
	}
	for _, v := range n.Own {
		m.Own = append(m.Own, rounding.Up(v, 4))
	}
	for _, p := range n.Pairs {
		if p.Deviation > 0 {
			m.Edges = append(m.Edges, [2]int{p.U, p.V})
			m.Shared = append(m.Shared, [3]float64{float64(p.U), float64(p.V), rounding.Up(p.Deviation, 4)})
		}
	}
	m.Note = "Lines join nodes whose noise cancels. A node relies on those it shares with: what they give away of their " +
		"secrets no longer protects it. Numbers are standard deviations, in units of the noise's."
	return m, m.place()
}
