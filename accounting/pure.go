package accounting

import (
	"fmt"
	"math"

	"mafalda/accounting/internal/parameter"
	"mafalda/internal/rounding"
)

// ComposeBasic returns kε: k mechanisms, each ε-DP, one after the other, adaptively or not, are kε-DP (Dwork & Roth
// 2014, Theorem 3.16). Rounded up.
func ComposeBasic(epsilon float64, rounds int) (float64, error) {
	if err := pure(epsilon, rounds); err != nil {
		return 0, err
	}
	total := rounding.MulUp(epsilon, float64(rounds))
	return total, parameter.NonNegative("the composed epsilon", total)
}

// ComposeAdvanced returns the ε′ for which k mechanisms, each ε-DP, are (ε′, δ)-DP (Kairouz, Oh & Viswanath 2015,
// Theorem 3.4, first form; with (e^ε - 1) in place of the fraction it is the one of Dwork, Rothblum & Vadhan 2010):
//
//	ε′ = kε (e^ε - 1)/(e^ε + 1) + ε √(2k log(1/δ))
//
// It is below ComposeBasic for many rounds of small ε only. Rounded up.
func ComposeAdvanced(epsilon float64, rounds int, delta float64) (float64, error) {
	if err := pure(epsilon, rounds); err != nil {
		return 0, err
	}
	if err := parameter.Probability(delta); err != nil {
		return 0, err
	}
	if epsilon == 0 || rounds == 0 {
		return 0, nil
	}
	k := float64(rounds)
	total := (k*epsilon*math.Tanh(epsilon/2) + epsilon*math.Sqrt(2*k*-rounding.Log(delta))) * (1 + 0x1p-48)
	total = math.Nextafter(total, math.Inf(1)) // where it is so small that the factor is lost
	return total, parameter.NonNegative("the composed epsilon", total)
}

func pure(epsilon float64, rounds int) error {
	if rounds < 0 {
		return fmt.Errorf("%w: %d rounds must not be negative", ErrParameter, rounds)
	}
	return parameter.NonNegative("epsilon", epsilon)
}
