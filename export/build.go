package export

import "mafalda/strategy"

// Describe returns what a manifest says of a strategy: its parameters, and what running it costs a node.
func Describe(c strategy.Strategy) Strategy {
	cost := c.NodeCost()
	return Strategy{Parameters: c.Parameters(), MemoryFloats: cost.Floats, FlopsPerStep: cost.Flops}
}
