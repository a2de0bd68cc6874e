package participation

import (
	"cmp"
	"fmt"
	"slices"

	"mafalda/internal/fault"
)

// TruncatedSampling is PoissonSampling, whose Known and Choices it has, into batches of at most MaxBatch records, so that every step has the same shape: of
// more that are drawn for a step, those with the largest random numbers are dropped, which depends on draws alone. It
// gives away what Poisson sampling does, but for the chance that a record is drawn for a step that drops (package
// accounting/sampling).
type TruncatedSampling struct {
	PoissonSampling
	MaxBatch int // B
	Most     int // records that a node has at most, which is public; more are refused
}

var _ Secret = TruncatedSampling{}

// Name returns "truncated".
func (TruncatedSampling) Name() string { return nameTruncated }

// String describes the sampling in a line.
func (t TruncatedSampling) String() string {
	return fmt.Sprintf("truncated, at most %d of up to %d records a step; %v", t.MaxBatch, t.Most, t.PoissonSampling)
}

// Sampler returns what draws the batches. Batch takes the time of a random number for every record of all groups.
func (t TruncatedSampling) Sampler(o SamplerOptions) (Sampler, error) {
	switch {
	case t.MaxBatch < 1:
		return nil, fault.New("MaxBatch", t.MaxBatch, "must be at least 1")
	case o.Records > t.Most:
		return nil, fault.New("Records", o.Records, "are more than the %d that the privacy is for", t.Most)
	}
	plain, err := t.PoissonSampling.Sampler(o)
	if err != nil {
		return nil, err
	}
	return &drawing{t, plain.Schema(), o.Records, plain.Expected(), func(step int) []int {
		batch := plain.Batch(step)
		if len(batch) <= t.MaxBatch {
			return batch
		}
		numbers := make(map[int]uint64, len(batch))
		o.Key.eachNumber(forPoisson, step, o.Records, func(record int, number uint64) { numbers[record] = number })
		slices.SortFunc(batch, func(a, b int) int { return cmp.Or(cmp.Compare(numbers[a], numbers[b]), cmp.Compare(a, b)) })
		batch = batch[:t.MaxBatch]
		slices.Sort(batch)
		return batch
	}}, nil
}
