package document

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
	"mafalda/graph"
	"mafalda/internal/lists"
	"mafalda/internal/rounding"
)

const (
	MostNodes = 1000   // of a map
	MostPairs = 250000 // of an attacker and a victim, on one map
)

// Map is a network on which a node is chosen.
type Map struct {
	Kind      string       `json:"kind"` // account, shared or average
	Labels    []string     `json:"labels"`
	X         []float64    `json:"x"` // places of the nodes from 0 to 1000
	Y         []float64    `json:"y"` // places of the nodes from 0 to height
	Edges     [][2]int     `json:"edges"`
	Attackers []Attacker   `json:"attackers"`
	Shared    [][3]float64 `json:"shared,omitempty"` // node, node, standard deviation
	Own       []float64    `json:"own,omitempty"`
	Delta     string       `json:"delta,omitempty"` // δ of the ε that it says
	Note      string       `json:"note,omitempty"`
	HoldsFor  string       `json:"holds_for,omitempty"` // what the numbers hold for; empty: for all

	places map[string]int // indices of the nodes by label
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

// NewMap returns a map of nodes in order: numbers by value.
func NewMap(kind string, labels []string) *Map {
	m := &Map{Kind: kind, Labels: slices.Clone(labels), Edges: [][2]int{}, Attackers: []Attacker{}, places: map[string]int{}}
	slices.SortFunc(m.Labels, func(a, b string) int {
		x, noX := strconv.ParseInt(a, 10, 64)
		y, noY := strconv.ParseInt(b, 10, 64)
		if noX == nil && noY == nil && x != y {
			return cmp.Compare(x, y)
		}
		return cmp.Compare(a, b)
	})
	for i, label := range m.Labels {
		m.places[label] = i
	}
	return m
}

// Index returns the place of a label in the map's order, and whether it has one.
func (m *Map) Index(label string) (i int, there bool) {
	i, there = m.places[label]
	return i, there
}

// Join adds the edges of a network, each once, whatever their direction, and gives every node its place.
func (m *Map) Join(g *graph.Graph) error {
	seen := map[[2]int]bool{}
	g.Adjacency().DoNonZero(func(i, j int, _ float64) {
		u, v := m.places[g.Label(i)], m.places[g.Label(j)]
		if e := [2]int{min(u, v), max(u, v)}; u != v && !seen[e] {
			seen[e] = true
			m.Edges = append(m.Edges, e)
		}
	})
	return m.Place()
}

// MapNumber is a number rounded up to four digits; -1 stands for infinite.
func MapNumber(v *float64) float64 {
	if v == nil || *v-*v != 0 {
		return -1
	}
	return rounding.Up(*v, 4)
}

// Place gives every node its place, by the edges.
func (m *Map) Place() error {
	const room = 40 // at the edge
	edges := lists.Map(m.Edges, func(e [2]int) graph.Edge { return graph.Edge{U: e[0], V: e[1], Weight: 1} })
	g, err := graph.New(m.Labels, edges, false)
	if err != nil {
		return err
	}
	at := figures.Layout(g) // from 0 to 1, the longer side along x
	_, right, _, top := figures.Range(at)
	fit := func(v, most, size float64) float64 {
		if most == 0 {
			return size / 2
		}
		return math.Round(10*(room+v/most*(size-2*room))) / 10
	}
	for _, p := range at {
		m.X, m.Y = append(m.X, fit(p.X, right, 1000)), append(m.Y, fit(p.Y, top, height))
	}
	return nil
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

// Height returns the height of the map.
func (m *Map) Height() int { return height }

// Choice says what is chosen on the map.
func (m *Map) Choice() string {
	return cmp.Or(map[string]string{"shared": "node", "average": "observer"}[m.Kind], "attacker")
}

// check returns an error unless all numbers are of nodes of the map.
func (m *Map) check() error {
	n := len(m.Labels)
	if n == 0 || n > MostNodes || len(m.X) != n || len(m.Y) != n {
		return fmt.Errorf("the map has %d nodes, and places for %d and %d", n, len(m.X), len(m.Y))
	}
	numbers, nodes := [][]float64{m.Own}, []float64(nil)
	for _, e := range m.Edges {
		nodes = append(nodes, float64(e[0]), float64(e[1]))
	}
	for _, s := range m.Shared {
		nodes = append(nodes, s[0], s[1])
	}
	for _, a := range m.Attackers {
		numbers = append(numbers, a.Mu, a.Epsilon, a.Nats, make([]float64, len(a.Hops)))
		for _, i := range a.Self {
			nodes = append(nodes, float64(i))
		}
	}
	for _, list := range numbers {
		if len(list) != 0 && len(list) != n {
			return fmt.Errorf("the map has %d nodes, and %d numbers of them", n, len(list))
		}
	}
	for _, v := range nodes {
		if v < 0 || v >= float64(n) || v != math.Trunc(v) {
			return fmt.Errorf("the map has %d nodes, and speaks of node %g", n, v)
		}
	}
	return nil
}
