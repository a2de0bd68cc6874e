package threat

import (
	"mafalda/strategy"
)

// longestFilter is the memory up to which a filter is worth its larger state.
const longestFilter = 32

// filterOf returns the filter of a strategy, nil if it has none of a small memory.
func filterOf(c strategy.Strategy) strategy.Filter {
	if kept := c.NodeCost().Floats; kept > longestFilter || kept >= c.Steps() {
		return nil
	}
	f, err := c.Filter()
	if err != nil {
		return nil
	}
	return f
}
