package grids

import (
	"maps"
	"slices"
)

// InputFlags are the names of inputFlags.
func InputFlags() []string { return slices.Sorted(maps.Keys(inputFlags())) }
