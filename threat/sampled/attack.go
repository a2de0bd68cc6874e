package sampled

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"mafalda/accounting"
	"mafalda/internal/fault"
	"mafalda/participation"
)

// attack is the best attack on one record: its statistic is the logarithm of how much likelier C times the
// messages is with the record than without, or with another record in its place.
type attack struct {
	within   participation.Sampling // what draws when the record takes part
	steps    []int                  // steps in the place of the draw's 0, 1, …
	logRatio func(seen []float64) float64
	// knownRatio, if not nil, is what counts in the place of logRatio: the attacker knows the steps that were drawn.
	knownRatio func(seen []float64, steps []int) float64
	with       float64 // the sum of all that is not known in the attacked record's steps, with it
	without    float64 // and without it, or with the other record
}

// knowing returns the attack of one who knows what is drawn, with the record and without: its statistic is the likelihood
// ratio for the steps that were drawn, whatever the sampling and the bands.
func (a attack) knowing(c columns, std float64) attack {
	a.knownRatio = func(seen []float64, steps []int) float64 {
		moved := newShift(c.sum(steps), std) // by one contribution
		return (a.with-a.without)*moved.dot(seen) - (a.with*a.with-a.without*a.without)*moved.half
	}
	return a
}

// replacing returns the attack where another record is in the place of the attacked one, with the opposite
// contribution: no other one is farther away. The attack a must be on a record that is there or not.
func (a attack) replacing() attack {
	against := a.logRatio
	a.with, a.without = 1, -1
	a.logRatio = func(seen []float64) float64 {
		opposite := floats.ScaleTo(make([]float64, len(seen)), -1, seen)
		return difference(against(seen), against(opposite))
	}
	return a
}

// difference returns a - b, or 0 where both are infinite.
func difference(a, b float64) float64 {
	if d := a - b; !math.IsNaN(d) {
		return d
	}
	return 0
}

// attackUnder returns the best attack on neighbours of this kind, for noise Z of this standard deviation. It fails as
// attackOn does.
func attackUnder(a accounting.Adjacency, s participation.Sampling, c columns, std float64) (attack, error) {
	found, err := attackOn(s, c, std)
	if a == accounting.ZeroOut || err != nil {
		return found, err
	}
	if p, shuffled := s.(Permutation); shuffled {
		return onReplaced(p, c, std)
	}
	return found.replacing(), nil
}

// attackOn returns the best attack on a record that is there or not, for noise Z of this standard deviation. The error
// is a fault.Argument that names a field of the sampling, or wraps threat.ErrAudit.
func attackOn(s participation.Sampling, c columns, std float64) (attack, error) {
	if _, err := s.Sampler(participation.SamplerOptions{Steps: len(c), Key: participation.SeededKey(0, "")}); err != nil {
		return attack{}, err
	}
	switch s := s.(type) {
	case participation.Secret: // what is dropped of truncated batches only makes the attack weaker
		return onSecret(s, c, std)
	case Permutation:
		return onPermutation(s, c, std)
	case participation.CyclicSampling:
		return onCyclic(s, c, std), nil
	}
	return attack{}, fault.New("Actual", s.Name(), "has no likelihood ratio here: choose permutation, shuffle, cyclic or what is drawn in "+
		"secret")
}

// onCyclic attacks a record in a batch that the attacker knows, the one that tells most.
func onCyclic(s participation.CyclicSampling, c columns, std float64) attack {
	worst := c.worstBatch(s.Batches)
	return attack{within: participation.CyclicSampling{Batches: 1}, steps: worst,
		logRatio: newShift(c.sum(worst), std).logRatio, with: 1}
}

// worstBatch returns the steps of the fixed batch that moves the messages most.
func (c columns) worstBatch(batches int) []int {
	var worst []int
	most := math.Inf(-1)
	for i := range batches {
		steps := c.every(i, batches)
		if norm := floats.Norm(c.sum(steps), 2); norm > most {
			worst, most = steps, norm
		}
	}
	return worst
}

// draw calls takesPart for the steps of these records in the attacked one's place, which are drawn with the key by
// the sampler that nodes use.
func (a attack) draw(key participation.Key, records int, takesPart func(step, record int)) error {
	sampler, err := a.within.Sampler(participation.SamplerOptions{Records: records, Steps: len(a.steps), Key: key})
	if err != nil {
		return err
	}
	for i, step := range a.steps {
		for _, record := range sampler.Batch(i) {
			takesPart(step, record)
		}
	}
	return nil
}

// shift is the test for one shift m of independent normal numbers: m·y/ν² - |m|²/2ν². It leaves out zeros at both ends.
type shift struct {
	at      int
	weights []float64
	half    float64
}

func newShift(m []float64, std float64) shift {
	at := 0
	for ; len(m) > 0 && m[len(m)-1] == 0; m = m[:len(m)-1] {
	}
	for ; len(m) > 0 && m[0] == 0; m = m[1:] {
		at++
	}
	scaled := floats.ScaleTo(make([]float64, len(m)), 1/(std*std), m)
	return shift{at, scaled, floats.Dot(m, scaled) / 2}
}

// dot returns m·y/ν².
func (s shift) dot(seen []float64) float64 {
	return floats.Dot(s.weights, seen[s.at:s.at+len(s.weights)])
}

func (s shift) logRatio(seen []float64) float64 { return s.dot(seen) - s.half }
