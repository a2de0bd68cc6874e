package participation

import (
	"cmp"
	"fmt"

	"mafalda/internal/lists"
)

// CyclicSampling visits b batches in turn that were made once and never change: step t has batch t mod b. Nothing is
// gained from how they were made: every record keeps to cyclic participation, b apart, against whoever knows its batch.
type CyclicSampling struct {
	Batches int // b

	// Drawn puts every record into a batch independently and uniformly; otherwise record i is in batch i mod b. Cut by
	// position, a record that is taken out moves all behind it into other batches: two datasets are then neighbours
	// only if something stands in its place (accounting.ZeroOut, accounting.ReplaceOne).
	Drawn bool
}

var _ Sampling = CyclicSampling{}

// Name returns "cyclic".
func (CyclicSampling) Name() string { return nameCyclic }

// String describes the sampling in a line.
func (c CyclicSampling) String() string {
	made := "cut by position"
	if c.Drawn {
		made = "drawn once"
	}
	return fmt.Sprintf("cyclic: %d batches, %s, visited in turn", c.Batches, made)
}

// Sampler returns what visits the batches. The key is not used, but for Drawn.
func (c CyclicSampling) Sampler(o SamplerOptions) (Sampler, error) {
	if err := cmp.Or(o.check(c.Drawn), o.checkTurns("Batches", c.Batches)); err != nil {
		return nil, err
	}
	if c.Drawn {
		return newInTurn(c, o.Steps, c.Batches, o.Key.assign(forBatches, o.Records, c.Batches)), nil
	}
	of := lists.Make(o.Records, func(record int) int { return record % c.Batches })
	return newInTurn(c, o.Steps, c.Batches, of), nil
}
