package sampled

import (
	"fmt"

	"gonum.org/v1/gonum/floats"

	"mafalda/participation"
)

// Permutation shuffles the records and cuts them into batches of equal sizes. A record's steps are distributed as under the
// sampling of independent records: BinsSampling for one permutation that is cut once, into batches that are visited in turn,
// AllocationSampling for a group that is shuffled anew for every block of its steps, as loaders do. But batches are not
// independent: a record that takes part moves another one out.
type Permutation struct {
	participation.Sampling
}

// Name returns "permutation" where it is cut once, and "shuffle" where it is drawn anew.
func (p Permutation) Name() string {
	if _, once := p.Sampling.(participation.BinsSampling); once {
		return "permutation"
	}
	return "shuffle"
}

// String describes the sampling in a line.
func (p Permutation) String() string {
	switch s := p.Sampling.(type) {
	case participation.BinsSampling:
		return fmt.Sprintf("permutation: records shuffled once and cut into b = %d equal batches, visited in turn", s.Bins)
	case participation.AllocationSampling:
		if s.Groups > 1 {
			return fmt.Sprintf("shuffle: w = %d groups, drawn once, in turn; each shuffled and cut into equal batches, k = %d times",
				s.Groups, s.Participations)
		}
		return fmt.Sprintf("shuffle: all records shuffled and cut into equal batches, k = %d times", s.Participations)
	}
	return "permutation, with the steps of " + p.Sampling.String()
}

// onPermutation attacks a record whose neighbours in the data contribute the opposite of it: in its batch their sum lacks
// one of them, in the data with the record and in the data with zeros in its place, so that the messages are moved by two
// contributions or by one. Where noise is small the batch is then seen in both, and nothing is secret.
func onPermutation(p Permutation, c columns, std float64) (attack, error) {
	a, err := attackOn(p.Sampling, c, std)
	if err != nil {
		return attack{}, err
	}
	twice, err := attackOn(p.Sampling, c.times(2), std)
	if err != nil {
		return attack{}, err
	}
	a.with, a.without = 2, 1
	once := a.logRatio
	a.logRatio = func(seen []float64) float64 { return difference(twice.logRatio(seen), once(seen)) }
	return a, nil
}

// onReplaced is the same attack where the record's place is taken by one that contributes as its neighbours do, so that
// its batch is as all others.
func onReplaced(p Permutation, c columns, std float64) (attack, error) {
	a, err := attackOn(p.Sampling, c.times(2), std)
	a.with, a.without = 2, 0
	return a, err
}

// times returns the columns times a factor.
func (c columns) times(factor float64) columns {
	out := make(columns, len(c))
	for s, of := range c {
		out[s] = column{of.at, floats.ScaleTo(make([]float64, len(of.entries)), factor, of.entries)}
	}
	return out
}
