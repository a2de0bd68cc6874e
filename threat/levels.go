package threat

import (
	"cmp"
	"math"
	"slices"

	"mafalda/accounting"
	"mafalda/export"
	"mafalda/graph"
	"mafalda/internal/lists"
	"mafalda/internal/rounding"
)

// OwnLevel is the noise of one node, where every node has a privacy level of its own.
//
// The algebra is in units of every node's own noise. Let node v's noise have standard deviation w_v, its Part, times the
// largest. Divided by w_v, what node v sends, holds and adds is
//
//	m'_v = x'_v + g_v/w_v + ξ_v,     x' = D⁻¹WD m',     D = diag(w),
//
// with noise ξ of one variance at all nodes: the same run over the mixing matrix D⁻¹WD, whose attackers see and know
// the same. Where nodes share noise, Part is of the noise that would protect a node alone; what it shares is divided
// likewise. A class of steps |Δstep − ρΔθ| ≤ κ|Δθ| of single nodes stays the same class, and nothing in the accounting
// or in package reaction needs rows of a mixing matrix to sum to one. So M of the scaled run is M in units of the
// victim's own noise, and μ = √sens² / Sigma of the victim.
type OwnLevel struct {
	Sigma float64 // standard deviation of the node's noise over what one of its records can move its sum by, rounded down
	Part  float64 // standard deviation of the node's noise over the largest, at most 1
}

// widestLevels is how many times more noise one node may have than another in the direct method, which takes it for
// rounding beyond (ErrUnclear).
const widestLevels = 1e3

// withLevels returns the algorithm with the privacy levels of an export's nodes; the same if all have one.
func (a Algorithm) withLevels(e *export.Export) (Algorithm, error) {
	m := e.Manifest
	if m.Budgets == nil {
		return a, nil
	}
	if err := m.CheckPrivacy(); err != nil {
		return a, err
	}
	adjacency, err := accounting.ParseAdjacency(m.Privacy.Adjacency)
	if err != nil {
		return a, err
	}
	for i, weight := range export.LevelWeights(m.Budgets) {
		l := m.PrivacyOf(i)
		a.levels = append(a.levels, OwnLevel{Part: math.Sqrt(weight),
			Sigma: -rounding.DivUp(-l.NoiseStd*m.Part(l), adjacency.Contribution(l.Clip))})
	}
	return a, nil
}

// Levels returns the noise of every node, nil where all have one level.
func (a Algorithm) Levels() []OwnLevel { return a.levels }

// Sigma returns the standard deviation of a node's noise over what one of its records can move its sum by: its own level,
// or else the one of all nodes.
func (a Algorithm) Sigma(node int, all float64) float64 {
	if a.levels == nil {
		return all
	}
	return a.levels[node].Sigma
}

// leastSigma returns the least Sigma, which the node with the least privacy has.
func (a Algorithm) leastSigma(all float64) float64 {
	if a.levels == nil {
		return all
	}
	return slices.Min(lists.Map(a.levels, func(l OwnLevel) float64 { return l.Sigma }))
}

// part returns OwnLevel.Part of a node, 1 where all have one level.
func (a Algorithm) part(node int) float64 {
	if a.levels == nil {
		return 1
	}
	return a.levels[node].Part
}

// inOwnUnits returns the scenario in units of every node's own noise, in which all nodes have one level.
func (s Scenario) inOwnUnits() Scenario {
	a := s.Algorithm
	if a.levels == nil || a.inUnits {
		return s
	}
	w := s.Gossip.ToDense()
	for u := range s.nodes() {
		for v := range s.nodes() {
			w.Set(u, v, w.At(u, v)*(a.part(v)/a.part(u)))
		}
	}
	s.Gossip = graph.NewCSRFromDense(w)
	s.Algorithm.inUnits = true
	return s
}

// checkLevels refuses levels of other nodes, and runs in which they are not accounted for.
func (s Scenario) checkLevels() error {
	levels, spec := s.Algorithm.levels, s.Algorithm.Training().Spec
	return cmp.Or(
		errorIf(levels != nil && len(levels) != s.nodes(), ErrStrategy, "privacy levels of %d nodes for %d", len(levels), s.nodes()),
		errorIf(levels != nil && (!spec.IsStatic() || spec.MissedSteps > 0), ErrStrategy, "privacy levels of single nodes are "+
			"accounted for on networks that stay as they are, with all nodes in every step"),
	)
}

// tooWide reports whether levels are too far apart for a method whose rounding is not followed.
func (a Algorithm) tooWide() bool {
	return slices.ContainsFunc(a.levels, func(l OwnLevel) bool { return l.Part*widestLevels < 1 })
}
