package accounting

import (
	"fmt"

	"mafalda/internal/enum"
)

// Adjacency says which datasets are neighbours.
type Adjacency int

const (
	// ZeroOut: one has a record where the other has none; it moves a sum of clipped gradients by at most clip. The
	// convention of the experiments of Bellet et al.
	ZeroOut Adjacency = iota
	// ReplaceOne: one has another record in the same place; it moves the sum by at most 2·clip. The definition in the
	// text of Bellet et al., Section 4.1.
	ReplaceOne
)

var adjacencies = enum.Of[Adjacency]("adjacency", "zero-out", "replace-one")

// Adjacencies lists the names ParseAdjacency accepts.
func Adjacencies() []string { return adjacencies.All() }

// String returns the name used in flags and manifests.
func (a Adjacency) String() string { return adjacencies.Name(a) }

// ParseAdjacency is the inverse of String.
func ParseAdjacency(name string) (Adjacency, error) { return adjacencies.Parse(name) }

// Contribution returns how far one record can move a sum of gradients of norm at most clip.
func (a Adjacency) Contribution(clip float64) float64 {
	if a == ZeroOut {
		return clip
	}
	return 2 * clip
}

// Check rejects values that are no adjacency, with ErrParameter.
func (a Adjacency) Check() error {
	if a != ZeroOut && a != ReplaceOne {
		return fmt.Errorf("%w: %v is neither zero-out nor replace-one", ErrParameter, a)
	}
	return nil
}
