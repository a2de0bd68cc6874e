package accounting

import (
	"cmp"

	"mafalda/accounting/internal/parameter"
	"mafalda/internal/rounding"
)

// NoiseStd returns the standard deviation of each coordinate of Z with which a strategy of sensitivity sens is
// μ-GDP, where one record moves a sum of gradients by at most contribution (Adjacency.Contribution):
// sens·contribution/μ. Product and quotient are each rounded up, and exact if they are a float64. All parameters are positive
// and finite.
func NoiseStd(mu, sens, contribution float64) (float64, error) {
	err := cmp.Or(parameter.Positive("mu", mu), parameter.Positive("sensitivity", sens),
		parameter.Positive("contribution", contribution))
	if err != nil {
		return 0, err
	}
	std := rounding.DivUp(rounding.MulUp(sens, contribution), mu)
	return std, parameter.Positive("the noise standard deviation", std)
}

// MuFromNoise returns the μ that noise of standard deviation std gives: sens·contribution/std. Product and quotient are each
// rounded up, and exact if they are a float64. The sensitivity may be 0: then nothing is learned, and μ is 0.
func MuFromNoise(std, sens, contribution float64) (float64, error) {
	err := cmp.Or(parameter.Positive("the noise standard deviation", std), parameter.NonNegative("sensitivity", sens),
		parameter.Positive("contribution", contribution))
	if err != nil {
		return 0, err
	}
	mu := rounding.DivUp(rounding.MulUp(sens, contribution), std)
	return mu, parameter.NonNegative("mu", mu)
}
