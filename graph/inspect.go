package graph

import (
	"context"
	"errors"
	"math"
	"slices"

	"mafalda/internal/parallel"
)

// MaxExactDiameter is the number of nodes up to which Inspect computes the diameter by a search from every node.
const MaxExactDiameter = 5000

// Inspection is what Inspect finds of a network. What could not be found, or does not exist, is nil.
type Inspection struct {
	Origin
	Components        int      `json:"components"` // components before all but the largest were dropped
	MinDegree         int      `json:"min_degree"`
	MeanDegree        float64  `json:"mean_degree"`
	MaxDegree         int      `json:"max_degree"`
	Weighted          bool     `json:"weighted"`
	StronglyConnected bool     `json:"strongly_connected"`
	Diameter          *int     `json:"diameter,omitempty"` // exact diameter; nil: DiameterLower and DiameterUpper bound it
	DiameterLower     *int     `json:"diameter_lower,omitempty"`
	DiameterUpper     *int     `json:"diameter_upper,omitempty"`
	Symmetric         bool     `json:"symmetric"` // the gossip matrix is symmetric
	DoublyStochastic  bool     `json:"doubly_stochastic"`
	Lambda2           *float64 `json:"second_eigenvalue,omitempty"`       // modulus of the second eigenvalue
	Lambda2Error      *float64 `json:"second_eigenvalue_error,omitempty"` // bound of the error, if the eigenvalue is an estimate
	SpectralGap       *float64 `json:"spectral_gap,omitempty"`            // 1 - the modulus

	Notes []string `json:"-"` // why something is missing, a sentence each
}

// Inspect finds degrees, diameter and spectrum of a network. It looks at ctx between these.
func Inspect(ctx context.Context, n *Network) (Inspection, error) {
	g := n.Graph
	r := Inspection{Origin: n.Origin, Components: n.Components, MinDegree: math.MaxInt, Weighted: g.Weighted(),
		StronglyConnected: g.StronglyConnected(), Symmetric: n.Gossip.Symmetric(),
		DoublyStochastic: n.Gossip.DoublyStochastic()}
	for i := range g.Nodes() {
		d := g.Degree(i)
		r.MinDegree, r.MaxDegree = min(r.MinDegree, d), max(r.MaxDegree, d)
		r.MeanDegree += float64(d) / float64(g.Nodes())
	}
	if err := context.Cause(ctx); err != nil {
		return Inspection{}, err
	}
	switch d := g.Diameter(MaxExactDiameter); {
	case !d.Connected:
	case d.Exact():
		r.Diameter = &d.Lower
	default:
		r.DiameterLower, r.DiameterUpper = &d.Lower, &d.Upper
	}
	if err := context.Cause(ctx); err != nil {
		return Inspection{}, err
	}
	return r, r.addSpectrum(n.Gossip)
}

func (r *Inspection) addSpectrum(w *Gossip) error {
	second, err := w.SecondEigenvalue()
	if errors.Is(err, ErrSpectrum) {
		r.Notes = append(r.Notes, "warning: "+err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	gap := second.Gap()
	r.Lambda2, r.SpectralGap = &second.Modulus, &gap
	if second.Method != "dense" {
		r.Lambda2Error = &second.Error
	}
	return nil
}

// Diameter is the largest distance between two nodes, in edges, or bounds of it.
type Diameter struct {
	Lower, Upper int
	Connected    bool // false: some node does not reach some other, and the numbers mean nothing
}

// Exact reports whether the bounds meet.
func (d Diameter) Exact() bool { return d.Lower == d.Upper }

// Diameter returns the exact diameter if the graph has at most exactUpTo nodes, by a search from every node. Beyond
// that a few searches give bounds: the distance of two far nodes, and twice the eccentricity of a central one. For
// directed graphs distances follow the edges and the bounds come from searches in both directions.
func (g *Graph) Diameter(exactUpTo int) Diameter {
	if !g.StronglyConnected() {
		return Diameter{}
	}
	if g.Nodes() <= exactUpTo {
		d := g.largestEccentricity()
		return Diameter{d, d, true}
	}
	out, in := g.adjacency, g.adjacency
	if g.directed {
		in = g.adjacency.Transpose()
	}
	bounds := Diameter{Lower: 0, Upper: math.MaxInt, Connected: true}
	source := 0
	for range 4 { // double sweeps: from a node to its farthest, then to the middle of the way
		forth, back := Hops(out, []int{source}), Hops(in, []int{source})
		far, eccentricity := farthest(forth)
		_, backward := farthest(back)
		bounds.Lower = max(bounds.Lower, eccentricity, backward)
		bounds.Upper = min(bounds.Upper, eccentricity+backward)
		other := Hops(out, []int{far})
		end, across := farthest(other)
		bounds.Lower = max(bounds.Lower, across)
		source = middle(other, Hops(in, []int{end}), across)
	}
	return bounds
}

func farthest(d []int) (node, distance int) {
	for i, v := range d {
		if v > distance {
			node, distance = i, v
		}
	}
	return node, distance
}

// middle returns a node half way between two ends that are length apart.
func middle(fromStart, toEnd []int, length int) int {
	for i, d := range fromStart {
		if d == length/2 && d+toEnd[i] == length {
			return i
		}
	}
	return 0
}

func (g *Graph) largestEccentricity() int {
	all := make([]int, g.Nodes())
	parallel.For(len(all), func(u int) { _, all[u] = farthest(Hops(g.adjacency, []int{u})) })
	return slices.Max(all)
}
