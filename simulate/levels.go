package simulate

import (
	"fmt"
	"math"

	"mafalda/export"
	"mafalda/participation"
)

// level is the privacy level and the clip of a node beside the others': of noise for μ and a clip, the node's own μ and
// clip are these times its own.
type level struct {
	mu   float64 // the node's μ over the least of all nodes
	clip float64 // the node's clip over the largest of all nodes
	part float64 // standard deviation of the node's noise, over that for the least μ with the largest clip
}

// WithLevels returns the correlation for nodes that each have a privacy level and a clip of their own. Noise.Mu and
// Config.Clip are then the strictest node's μ and the largest clip; all nodes keep the proportions of the levels. Where
// nodes share noise, its proportions are for these levels already. The error is another number of nodes.
func (c *Correlation) WithLevels(levels []export.NodeLevel) (*Correlation, error) {
	if len(levels) != len(c.of) {
		return nil, fmt.Errorf("privacy levels of %d nodes for %d", len(levels), len(c.of))
	}
	with := *c
	mu, clip := math.Inf(1), 0.0
	for _, l := range levels {
		mu, clip = math.Min(mu, l.Mu), math.Max(clip, l.Clip)
	}
	for i, weight := range export.LevelWeights(levels) {
		with.levels = append(with.levels, level{levels[i].Mu / mu, levels[i].Clip / clip, math.Sqrt(weight)})
	}
	return &with, nil
}

// level returns the level of a node: 1 everywhere if all have one.
func (c *Correlation) level(node int) level {
	if c.levels == nil {
		return level{1, 1, 1}
	}
	return c.levels[node]
}

// clip returns the norm to which a node clips gradients, for a clip of all.
func (n *Noise) clip(node int, clip float64) float64 {
	if n == nil {
		return clip
	}
	return n.Correlation.level(node).clip * clip
}

// leveled returns the correlation with the levels of an export's nodes, if they have their own.
func (s *Study) leveled(e *export.Export, c *Correlation) (*Correlation, error) {
	if e.Manifest.Budgets == nil {
		return c, nil
	}
	if s.options.Sampling != participation.InTurn {
		return nil, fmt.Errorf("%w: %w, and its levels are for batches in turn", participation.ErrViolated, export.ErrLevels)
	}
	levels, err := e.LevelsOn(s.network)
	if err != nil {
		return nil, err
	}
	s.notes = append(s.notes, fmt.Sprintf("%s: every node has a privacy level and a clip of its own: mu and the clip of a run are the "+
		"strictest, and the others are in proportion", e.Dir))
	return c.WithLevels(levels)
}
