package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"mafalda/export"
	"mafalda/internal/rounding"
)

const (
	mostNodes = 2000   // of a map
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

// neighbours of every node.
func neighbours(n int, edges [][2]int) [][]int {
	near := make([][]int, n)
	for _, e := range edges {
		near[e[0]], near[e[1]] = append(near[e[0]], e[1]), append(near[e[1]], e[0])
	}
	return near
}

// hopsFrom returns the distances from a node; -1 where there is no path.
func hopsFrom(u int, near [][]int) []int {
	hops := slices.Repeat([]int{-1}, len(near))
	hops[u] = 0
	for queue := []int{u}; len(queue) > 0; queue = queue[1:] {
		for _, v := range near[queue[0]] {
			if hops[v] < 0 {
				hops[v] = hops[queue[0]] + 1
				queue = append(queue, v)
			}
		}
	}
	return hops
}

func connected(n int, edges [][2]int) bool {
	return n > 0 && !slices.Contains(hopsFrom(0, neighbours(n, edges)), -1)
}

// place gives every node its place: by the edges if they connect all, otherwise on rings around the first attacker.
func (m *Map) place(byEdges bool) {
	n := len(m.Labels)
	x, y := make([]float64, n), make([]float64, n)
	if byEdges {
		stress(x, y, neighbours(n, m.Edges))
	} else {
		m.rings(x, y)
	}
	m.X, m.Y = fit(x, 1000), fit(y, height)
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

// stress places nodes so that distances on the page are like those on the graph, by stochastic gradient descent
// (Zheng, Pawar & Goodman 2018, "Graph Drawing by Stochastic Gradient Descent"). The same graph has always the same
// drawing.
func stress(x, y []float64, near [][]int) {
	const rounds = 30
	type pair struct {
		u, v     int
		distance float64
	}
	random := rand.New(rand.NewPCG(1, 2))
	var pairs []pair
	longest := 1.0
	for u := range x {
		x[u], y[u] = random.Float64(), random.Float64()
		for v, hops := range hopsFrom(u, near)[:u] {
			longest = math.Max(longest, float64(hops))
			pairs = append(pairs, pair{u, v, float64(hops)})
		}
	}
	first, last := longest*longest, 0.1
	for r := range rounds {
		rate := first * math.Pow(last/first, float64(r)/(rounds-1))
		random.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
		for _, p := range pairs {
			move := math.Min(1, rate/(p.distance*p.distance))
			dx, dy := x[p.u]-x[p.v], y[p.u]-y[p.v]
			length := math.Max(math.Hypot(dx, dy), 1e-9)
			share := move * (length - p.distance) / 2 / length
			x[p.u], y[p.u] = x[p.u]-share*dx, y[p.u]-share*dy
			x[p.v], y[p.v] = x[p.v]+share*dx, y[p.v]+share*dy
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
	b.WriteString(`<path class="edges" d="`)
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
			fmt.Fprintf(&b, `<text class="label" x="%g" y="%g">%s</text>`, m.X[i], m.Y[i]-radius-5,
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
func sharedMap(id string, n *export.SharedNoise) *Map {
	m := &Map{ID: id, Kind: "shared", Labels: n.Labels}
	if len(n.Labels) > mostNodes {
		return nil
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
	m.place(connected(len(n.Labels), m.Edges))
	return m
}
