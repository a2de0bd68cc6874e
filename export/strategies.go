package export

import (
	"fmt"

	"mafalda/strategy"
)

// NodeStrategy returns the strategy that node i runs: of its matrix, or, of an export without, of the parameters.
func (e *Export) NodeStrategy(i int) (strategy.Strategy, error) {
	layer, err := e.Node(i)
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

// SharedStrategy returns the strategy that all nodes share: of the parameters, or, of a class without, of the matrix.
func (e *Export) SharedStrategy() (strategy.Strategy, error) {
	s, err := e.Manifest.Strategy.Build(e.Manifest.Steps)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.Dir, err)
	}
	if s == nil {
		return e.NodeStrategy(0)
	}
	return s, nil
}

// NodeStrategies returns the strategy of every node of an export whose nodes have strategies of their own
// (Manifest.PerNode), in the order of nodes.csv. Nodes of one layer share one value, and thus its work.
func (e *Export) NodeStrategies() ([]strategy.Strategy, error) {
	layers := make([]strategy.Strategy, len(e.Layers))
	for l := range layers {
		var err error
		if layers[l], err = strategy.NewDense(e.Layers[l].C); err != nil {
			return nil, fmt.Errorf("%s: %w", e.Dir, err)
		}
	}
	nodes := make([]strategy.Strategy, len(e.Manifest.PerNode.Layers))
	for v, l := range e.Manifest.PerNode.Layers {
		if _, err := e.Node(v); err != nil {
			return nil, err
		}
		nodes[v] = layers[l]
	}
	return nodes, nil
}

// Describe returns what a manifest says of a strategy: its parameters, and what running it costs a node.
func Describe(c strategy.Strategy) Strategy {
	cost := c.NodeCost()
	return Strategy{Parameters: c.Parameters(), MemoryFloats: cost.Floats, FlopsPerStep: cost.Flops}
}
