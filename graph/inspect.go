package graph

import (
	"context"
	"errors"
	"math"
)

// MaxExactDiameter is the number of nodes up to which Inspect computes the diameter by a search from every node.
const MaxExactDiameter = 5000

// Inspection is what Inspect finds of a network. What could not be found, or does not exist, is nil.
type Inspection struct {
	Origin
	Components        int      `json:"components"` // before all but the largest were dropped
	MinDegree         int      `json:"min_degree"`
	MeanDegree        float64  `json:"mean_degree"`
	MaxDegree         int      `json:"max_degree"`
	Weighted          bool     `json:"weighted"`
	StronglyConnected bool     `json:"strongly_connected"`
	Diameter          *int     `json:"diameter,omitempty"` // exact, or
	DiameterLower     *int     `json:"diameter_lower,omitempty"`
	DiameterUpper     *int     `json:"diameter_upper,omitempty"`
	Symmetric         bool     `json:"symmetric"` // the gossip matrix
	DoublyStochastic  bool     `json:"doubly_stochastic"`
	Lambda2           *float64 `json:"second_eigenvalue,omitempty"`       // its modulus
	Lambda2Error      *float64 `json:"second_eigenvalue_error,omitempty"` // of an estimate
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
