package export

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"mafalda/accounting"
	"mafalda/internal/rounding"
	"mafalda/secrets"
)

// NodeLevel is the privacy level of one node, where every node has its own. Its noise has standard deviation NoiseStd,
// for sums of gradients clipped to Clip, and is Mu-GDP. Where nodes share noise all have one NoiseStd, the unit of
// own rows and pairs' rows: these are what makes one node's noise larger than another's. The block
// "privacy" of the manifest is then a level that is strict enough for every node: the least μ with the largest clip,
// and so no less noise than any node's. Whoever reads that block alone protects every node.
type NodeLevel struct {
	Node     string   `json:"node"` // its label; in the order of nodes.csv
	Mu       float64  `json:"mu"`
	Epsilon  *float64 `json:"epsilon,omitempty"`
	Delta    *float64 `json:"delta,omitempty"`
	Clip     float64  `json:"clip"`
	NoiseStd float64  `json:"noise_std"`
}

// LevelWeights returns how much the noise of every node counts: its variance over that of the block "privacy", (clip/μ)²
// over (the largest clip / the least μ)², at most 1.
func LevelWeights(levels []NodeLevel) []float64 {
	clip, mu := strictest(levels)
	weights := make([]float64, len(levels))
	for i, l := range levels {
		root := math.Min(l.Clip/clip*(mu/l.Mu), 1)
		weights[i] = root * root
	}
	return weights
}

// strictest returns the largest clip and the least μ.
func strictest(levels []NodeLevel) (clip, mu float64) {
	mu = math.Inf(1)
	for _, l := range levels {
		clip, mu = math.Max(clip, l.Clip), math.Min(mu, l.Mu)
	}
	return clip, mu
}

// PrivacyOf returns the level of node i (see nodes.csv): its own, or the one that all nodes have; nil for none.
func (m *Manifest) PrivacyOf(i int) *Privacy {
	if m.Budgets == nil || i >= len(m.Budgets) {
		return m.Privacy
	}
	l := m.Budgets[i]
	return &Privacy{Mu: l.Mu, Sigma: rounding.DivUp(1, l.Mu), Epsilon: l.Epsilon, Delta: l.Delta, Clip: l.Clip,
		Adjacency: m.Privacy.Adjacency, NoiseStd: l.NoiseStd}
}

// Part returns which part of a node's noise_std would protect it as well if the node shared no noise, for its level p,
// rounded down: 1 but where nodes share noise and have levels of their own.
func (m *Manifest) Part(p *Privacy) float64 {
	if m.Space == nil || m.Budgets == nil {
		return 1
	}
	return math.Min(p.Clip/m.Privacy.Clip*(m.Privacy.Mu/p.Mu), 1) * (1 - 0x1p-48)
}

// Attackers returns the coalitions of a space for nodes with these labels, in the order of nodes.csv. What they learn
// of a node is weighed by its budget, where nodes have their own: LevelWeights, rounded up. It fails as
// Coalitions.Attackers does.
func (m *Manifest) Attackers(labels []string) (*secrets.Attackers, error) {
	a, err := m.Space.Coalitions.Attackers(labels)
	if err != nil || m.Budgets == nil {
		return a, err
	}
	return a.Weighing(SharedWeights(m.Budgets))
}

// SharedWeights returns LevelWeights rounded up, for noise that nodes share.
func SharedWeights(levels []NodeLevel) []float64 {
	weights := LevelWeights(levels)
	for i := range weights {
		weights[i] *= 1 + 0x1p-48
	}
	return weights
}

// ErrLevels is wrapped by the errors of those who know one privacy level for all nodes alone.
var ErrLevels = errors.New("every node has a privacy level of its own")

// checkLevelRange refuses levels that nothing could be made of.
func (m *Manifest) checkLevelRange() error {
	switch {
	case m.Budgets == nil && m.OneLevelLoss != 0:
		return errors.New("one_level_loss is for budgets")
	case m.Budgets == nil:
		return nil
	case m.Privacy == nil || m.Graph == nil || len(m.Budgets) != m.Graph.Nodes:
		return fmt.Errorf("there are %d budgets, which need a privacy block and a graph of as many nodes", len(m.Budgets))
	case m.Sampled() || m.OneLevelLoss < 0:
		return errors.New("budgets are for batches in turn")
	case m.Space != nil && m.OneLevelLoss != 0:
		return errors.New("one_level_loss is for nodes that share no noise")
	}
	for i, l := range m.Budgets {
		if err := m.PrivacyOf(i).checkRange(false); err != nil {
			return fmt.Errorf("budgets[%d], node %q: %w", i, l.Node, err)
		}
	}
	return nil
}

// checkLevels reports whether every node's noise follows from its level, and the block "privacy" is strict enough for all.
func (m *Manifest) checkLevels() error {
	if m.Budgets == nil {
		return nil
	}
	if clip, mu := strictest(m.Budgets); m.Privacy.Clip != clip || m.Privacy.Mu != mu {
		return fmt.Errorf("%w: privacy has clip %v and mu = %v, the strictest of budgets %v and %v", ErrPrivacy,
			m.Privacy.Clip, m.Privacy.Mu, clip, mu)
	}
	for i, l := range m.Budgets {
		var err error
		switch {
		case m.Space == nil:
			err = m.checkLevel(m.PrivacyOf(i))
		case l.NoiseStd != m.Privacy.NoiseStd: // pairs have the same rows at both ends
			err = fmt.Errorf("%w: noise_std is %v, and all nodes' %v", ErrPrivacy, l.NoiseStd, m.Privacy.NoiseStd)
		default:
			err = m.PrivacyOf(i).checkEpsilon()
		}
		if err != nil {
			return fmt.Errorf("node %q: %w", l.Node, err)
		}
	}
	return nil
}

// checkLevelNodes compares the labels of the levels with those of nodes.csv.
func (e *Export) checkLevelNodes() error {
	if e.Manifest.Budgets == nil {
		return nil
	}
	labels, err := e.NodeLabels()
	if err != nil {
		return err
	}
	if !slices.EqualFunc(labels, e.Manifest.Budgets, func(label string, l NodeLevel) bool { return label == l.Node }) {
		return fmt.Errorf("%s: budgets are of other nodes than nodes.csv has", e.Dir)
	}
	return nil
}

// levelsText says how far the levels are apart.
func (m *Manifest) levelsText() string {
	byMu := func(a, b NodeLevel) int { return cmp.Compare(a.Mu, b.Mu) }
	least, most := slices.MinFunc(m.Budgets, byMu), slices.MaxFunc(m.Budgets, byMu)
	text := func(l NodeLevel) string {
		s := "mu = " + rounding.UpText(l.Mu, accounting.MuDigits)
		if l.Epsilon != nil {
			s += fmt.Sprintf(", (%s, %g)-DP,", rounding.UpText(*l.Epsilon, 6), *l.Delta)
		}
		return s + fmt.Sprintf(" of %q", l.Node)
	}
	return fmt.Sprintf("every node has its own level (budgets), from %s to %s", text(least), text(most))
}
