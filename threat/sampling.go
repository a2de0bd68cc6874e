package threat

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"mafalda/internal/fault"
)

// Sampling is how the steps in which a record takes part come about: PoissonGroups, RandomBins or FixedBatches.
type Sampling interface {
	fmt.Stringer
	// attack returns the best one, for noise Z of this standard deviation.
	attack(c columns, std float64) (attack, error)
}

// attack is on one record. Its statistic is the logarithm of how much likelier C times the messages is with the record
// than without.
type attack struct {
	draw     func(rng *rand.Rand, takesPart func(step int))
	logRatio func(seen []float64) float64
}

// PoissonGroups has records in groups: step t draws from group t mod Groups, each record with the same probability. The
// attacker knows the record's group, the one that tells most.
type PoissonGroups struct {
	Groups      int     // 1: every step draws from all records
	Probability float64 // q
}

func (p PoissonGroups) String() string {
	return fmt.Sprintf("poisson: %d groups, probability %.6g", p.Groups, p.Probability)
}

// RandomBins has records in batches of random size that are visited in turn: each is put once, uniformly, into one.
type RandomBins struct{ Bins int }

func (b RandomBins) String() string { return fmt.Sprintf("bins: %d batches of random size", b.Bins) }

func (b RandomBins) attack(c columns, std float64) (attack, error) {
	if b.Bins < 1 || b.Bins > len(c) {
		return attack{}, fault.New("Bins", b.Bins, "must be at least 1 and at most T = %d", len(c))
	}
	tests := make([]shift, b.Bins)
	for j := range tests {
		tests[j] = newShift(c.sum(c.every(j, b.Bins)), std)
	}
	logs := func(seen []float64) float64 {
		each := make([]float64, len(tests))
		for j, test := range tests {
			each[j] = test.logRatio(seen)
		}
		return floats.LogSumExp(each) - math.Log(float64(len(tests)))
	}
	draw := func(rng *rand.Rand, takesPart func(int)) {
		for s := rng.IntN(b.Bins); s < len(c); s += b.Bins {
			takesPart(s)
		}
	}
	return attack{draw, logs}, nil
}

// FixedBatches are visited in turn, and nothing is secret: a record is in the same batch always, and the attacker knows
// in which one, the one that tells most.
type FixedBatches struct{ Batches int }

func (f FixedBatches) String() string { return fmt.Sprintf("cyclic: %d fixed batches", f.Batches) }

func (f FixedBatches) attack(c columns, std float64) (attack, error) {
	if f.Batches < 1 || f.Batches > len(c) {
		return attack{}, fault.New("Batches", f.Batches, "must be at least 1 and at most T = %d", len(c))
	}
	var worst []int
	most := math.Inf(-1)
	for i := range f.Batches {
		steps := c.every(i, f.Batches)
		if norm := floats.Norm(c.sum(steps), 2); norm > most {
			worst, most = steps, norm
		}
	}
	draw := func(_ *rand.Rand, takesPart func(int)) {
		for _, s := range worst {
			takesPart(s)
		}
	}
	return attack{draw, newShift(c.sum(worst), std).logRatio}, nil
}

// shift is the test for one shift m of independent normal numbers: m·y/ν² - |m|²/2ν².
type shift struct {
	weights []float64
	half    float64
}

func newShift(m []float64, std float64) shift {
	scaled := floats.ScaleTo(make([]float64, len(m)), 1/(std*std), m)
	return shift{scaled, floats.Dot(m, scaled) / 2}
}

func (s shift) logRatio(seen []float64) float64 { return floats.Dot(s.weights, seen) - s.half }
