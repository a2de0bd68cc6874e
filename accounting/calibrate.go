package accounting

import (
	"errors"
	"fmt"
	"math"
)

// Adjacency says which datasets are neighbours.
type Adjacency int

const (
	// ZeroOut: one has a record where the other has none; it moves a sum of clipped gradients by at most clip. The
	// convention of the experiments of Bellet et al.
	ZeroOut Adjacency = iota
	// ReplaceOne: one has another record in the same place; it moves the sum by at most 2·clip. The definition in the text
	// of Bellet et al., Section 4.1.
	ReplaceOne
)

var adjacencyNames = [...]string{ZeroOut: "zero-out", ReplaceOne: "replace-one"}

// Adjacencies lists the names ParseAdjacency accepts.
func Adjacencies() []string { return adjacencyNames[:] }

// String returns the name used in flags and manifests.
func (a Adjacency) String() string {
	if a < 0 || int(a) >= len(adjacencyNames) {
		return fmt.Sprintf("Adjacency(%d)", int(a))
	}
	return adjacencyNames[a]
}

// ParseAdjacency is the inverse of String.
func ParseAdjacency(name string) (Adjacency, error) {
	for a, n := range adjacencyNames {
		if n == name {
			return Adjacency(a), nil
		}
	}
	return 0, fmt.Errorf("unknown adjacency %q: choose zero-out or replace-one", name)
}

// Contribution returns how far one record can move a sum of gradients of norm at most clip.
func (a Adjacency) Contribution(clip float64) float64 {
	if a == ReplaceOne {
		return 2 * clip
	}
	return clip
}

// Target is the privacy asked for: either Mu, or Epsilon with Delta. Zero means not given; Delta may accompany Mu to have
// the ε reported.
type Target struct {
	Mu, Epsilon, Delta float64
}

// Privacy is a calibrated Gaussian mechanism.
type Privacy struct {
	Mu       float64 // GDP parameter
	Sigma    float64 // noise multiplier 1/μ
	Epsilon  float64 // for Delta; 0 if Delta is 0, that is not given
	Delta    float64
	NoiseStd float64 // standard deviation of each coordinate of Z, in the unit of the gradients: sens·contribution/μ
}

// Calibrate returns the noise that a strategy of sensitivity sens needs, in a sum of gradients clipped to norm clip, to
// meet the target. The errors are ErrParameter for a target that is incomplete, twofold or out of range.
func Calibrate(target Target, sens, clip float64, adjacency Adjacency) (Privacy, error) {
	if err := errors.Join(positive("sensitivity", sens), positive("clip", clip)); err != nil {
		return Privacy{}, err
	}
	p := Privacy{Mu: target.Mu, Epsilon: target.Epsilon, Delta: target.Delta}
	var err error
	switch {
	case target.Mu != 0 && target.Epsilon != 0:
		return Privacy{}, fmt.Errorf("%w: both mu = %v and epsilon = %v are given", ErrParameter, target.Mu, target.Epsilon)
	case target.Mu == 0 && target.Epsilon == 0:
		return Privacy{}, fmt.Errorf("%w: neither mu nor epsilon is given", ErrParameter)
	case target.Epsilon != 0 && target.Delta == 0:
		return Privacy{}, fmt.Errorf("%w: epsilon = %v without a delta", ErrParameter, target.Epsilon)
	case target.Epsilon != 0:
		p.Mu, err = MuFromDP(target.Epsilon, target.Delta)
	case target.Delta != 0:
		p.Epsilon, err = Epsilon(target.Mu, target.Delta)
	default:
		err = positive("mu", target.Mu)
	}
	if err != nil {
		return Privacy{}, err
	}
	p.Sigma = 1 / p.Mu
	std := sens * adjacency.Contribution(clip) / p.Mu
	if math.IsInf(std, 0) || std == 0 {
		return Privacy{}, fmt.Errorf("%w: the noise standard deviation is %v", ErrParameter, std)
	}
	p.NoiseStd = math.Nextafter(math.Nextafter(std, math.Inf(1)), math.Inf(1))
	return p, nil
}
