package participation

import (
	"cmp"
	"fmt"
	"slices"

	"mafalda/internal/fault"
)

// MinSepSampling draws with a cool-down: in every step every record that took part fewer than k times, and not in the
// b-1 steps before, does so independently with probability q. What a record does depends on no other record. Nothing is
// gained from the draw: it is accounted as min-sep participation, against whoever knows it.
type MinSepSampling struct {
	Participations int     // k, the most of one record
	Separation     int     // b, the least distance of two
	Probability    float64 // q
}

var _ Sampling = MinSepSampling{}

// Name returns "min-sep".
func (MinSepSampling) Name() string { return nameMinSep }

// String describes the sampling in a line.
func (m MinSepSampling) String() string {
	return fmt.Sprintf("min-sep: every record with probability %g, at most k = %d times and at least b = %d steps apart",
		m.Probability, m.Participations, m.Separation)
}

// Sampler draws all batches, in the time of T random numbers for every record, and keeps them.
func (m MinSepSampling) Sampler(o SamplerOptions) (Sampler, error) {
	if err := cmp.Or(o.check(true), checkProbability(m.Probability)); err != nil {
		return nil, err
	}
	schema, err := NewMinSep(o.Steps, m.Participations, m.Separation)
	if err != nil {
		return nil, fault.Because("Separation", err)
	}
	batches := make([][]int, o.Steps)
	rest, times, c := make([]int, o.Records), make([]int, o.Records), newCoin(m.Probability)
	for step := range batches { // rest is the first step that a record may take part in again
		o.Key.eachNumber(forMinSep, step, o.Records, func(record int, number uint64) {
			if times[record] < schema.participations && step >= rest[record] && c.comesUp(number) {
				batches[step] = append(batches[step], record)
				times[record]++
				rest[record] = step + schema.separation
			}
		})
	}
	return &drawing{m, schema, o.Records, float64(o.Records) * m.sum(schema) / float64(o.Steps),
		func(step int) []int { return slices.Clone(batches[step]) }}, nil
}

// sum returns the sum over the steps of Σ_j f_j(t), where f_j(t), the probability that a record's participation j is in
// step t, is (1-q)·f_j(t-1) + q·f_{j-1}(t-b), and f_1(t) = q(1-q)^t.
func (m MinSepSampling) sum(schema MinSep) float64 {
	steps, q := schema.steps, m.Probability
	before, sum := make([]float64, steps), 0.0
	for j := range schema.participations {
		f := make([]float64, steps)
		for t := range f {
			var starts float64 // that the record may take part from step t on
			switch {
			case j == 0 && t == 0:
				starts = 1
			case j > 0 && t >= schema.separation:
				starts = before[t-schema.separation]
			}
			f[t] = q * starts
			if t > 0 {
				f[t] += (1 - q) * f[t-1]
			}
			sum += f[t]
		}
		before = f
	}
	return sum
}
