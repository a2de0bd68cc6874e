package accounting

import (
	"cmp"
	"fmt"

	"mafalda/accounting/internal/parameter"
	"mafalda/internal/rounding"
)

// Target is the privacy asked for: either Mu, or Epsilon with Delta. Zero means not given; Delta may accompany Mu
// to have the ε reported.
type Target struct {
	Mu, Epsilon, Delta float64
}

// Privacy is a calibrated Gaussian mechanism.
type Privacy struct {
	Mu        float64 // GDP parameter
	Sigma     float64 // noise multiplier 1/μ, rounded up
	Epsilon   float64 // ε at Delta; 0 if Delta is 0, that is not given
	Delta     float64
	Clip      float64
	Adjacency Adjacency
	NoiseStd  float64 // standard deviation of each coordinate of Z, in the gradients' unit: sens·contribution/μ, rounded up
}

// MuDigits is how many significant decimal digits a μ has that was computed for an (ε, δ): that number of digits can be printed,
// and what is printed is then what the noise is for, neither more nor less. It costs noise in the 12th digit.
const MuDigits = 12

// Calibrate returns the noise that a strategy of sensitivity sens needs, in a sum of gradients clipped to norm
// clip, to meet the target. The errors are ErrParameter for a target that is incomplete, twofold or out of range.
func Calibrate(target Target, sens, clip float64, adjacency Adjacency) (Privacy, error) {
	if err := cmp.Or(parameter.Positive("sensitivity", sens), parameter.Positive("clip", clip),
		adjacency.Check()); err != nil {
		return Privacy{}, err
	}
	p := Privacy{Mu: target.Mu, Epsilon: target.Epsilon, Delta: target.Delta, Clip: clip, Adjacency: adjacency}
	var err error
	switch {
	case target.Mu != 0 && target.Epsilon != 0:
		return Privacy{}, fmt.Errorf("%w: both mu = %v and epsilon = %v are given", ErrParameter, target.Mu,
			target.Epsilon)
	case target.Mu == 0 && target.Epsilon == 0:
		return Privacy{}, fmt.Errorf("%w: neither mu nor epsilon is given", ErrParameter)
	case target.Epsilon != 0 && target.Delta == 0:
		return Privacy{}, fmt.Errorf("%w: epsilon = %v without a delta", ErrParameter, target.Epsilon)
	case target.Epsilon != 0:
		p.Mu, err = MuFromDP(target.Epsilon, target.Delta)
		p.Mu = rounding.Down(p.Mu, MuDigits)
	case target.Delta != 0:
		p.Epsilon, err = Epsilon(target.Mu, target.Delta)
	default:
		err = parameter.Positive("mu", target.Mu)
	}
	if err != nil {
		return Privacy{}, err
	}
	p.Sigma = rounding.DivUp(1, p.Mu)
	p.NoiseStd, err = NoiseStd(p.Mu, sens, adjacency.Contribution(clip))
	if err := cmp.Or(parameter.Positive("sigma = 1/mu: sigma", p.Sigma), err); err != nil {
		return Privacy{}, err
	}
	return p, nil
}
