package export

import (
	"fmt"
	"mafalda/participation"
	"mafalda/strategy"
)

// Describe returns what a manifest says of a strategy: its parameters, and what running it costs a node.
func Describe(c strategy.Strategy) Strategy {
	cost := c.NodeCost()
	return Strategy{Parameters: c.Parameters(), MemoryFloats: cost.Floats, FlopsPerStep: cost.Flops}
}

// DescribeSchema returns what a manifest says of a schema. The source of patterns, the base name of their file, is empty
// unless they came from one.
func DescribeSchema(s participation.Schema, source string) Participation {
	p := Participation{Schema: s.Name(), K: s.Participations(), B: s.Separation()}
	if list, ok := s.(*participation.PatternList); ok {
		p.Source, p.Patterns = source, list.Patterns()
	}
	return p
}

// Strategy returns the strategy that a node runs: its matrix or, where only parameters were exported, what they make.
// Where all nodes run the same, node has no meaning.
func (e *Export) Strategy(node int) (strategy.Strategy, error) {
	layer, err := e.Node(node)
	if err != nil {
		return nil, err
	}
	var s strategy.Strategy
	if layer.C == nil {
		s, err = e.Manifest.Strategy.Build(e.Manifest.Steps)
	} else {
		s, err = strategy.NewDense(layer.C)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.Dir, err)
	}
	return s, nil
}
