package participation

import (
	"cmp"
	"fmt"
)

// BinsSampling is balls in bins: every record is put once, independently and uniformly, into one of b batches, whose
// sizes are random and secret, and which are visited in turn: step t has batch t mod b (Chua et al. 2024;
// Choquette-Choo et al. 2024). A permutation that is cut into equal batches is another mechanism, which this one's
// accountant says nothing about.
type BinsSampling struct {
	Bins int // b
}

var _ Secret = BinsSampling{}

// Name returns "bins".
func (BinsSampling) Name() string { return nameBins }

// String describes the sampling in a line.
func (b BinsSampling) String() string {
	return fmt.Sprintf("bins: every record in one of b = %d batches, drawn once, visited in turn", b.Bins)
}

// Known returns one group: which bin a record is in is the secret.
func (b BinsSampling) Known() (groups int, rest Secret) { return 1, b }

// Choices returns one, of the steps of a bin.
func (b BinsSampling) Choices(steps int) []Choice {
	one := Choice{1, make([][]int, b.Bins)}
	for step := range steps {
		one.Sets[step%b.Bins] = append(one.Sets[step%b.Bins], step)
	}
	return []Choice{one}
}

// Sampler returns what draws the bins.
func (b BinsSampling) Sampler(o SamplerOptions) (Sampler, error) {
	if err := cmp.Or(o.check(true), o.checkTurns("Bins", b.Bins)); err != nil {
		return nil, err
	}
	return newInTurn(b, o.Steps, b.Bins, o.Key.assign(forBins, o.Records, b.Bins)), nil
}
