package accounting

import (
	"math"

	"mafalda/accounting/internal/parameter"
)

// Compose returns √Σμ², the GDP parameter of mechanisms run one after the other, adaptively or not (Dong, Roth & Su
// 2022, Corollary 3.3), rounded up.
func Compose(mus ...float64) (float64, error) {
	var largest float64
	for _, mu := range mus {
		if err := parameter.NonNegative("mu", mu); err != nil {
			return 0, err
		}
		largest = math.Max(largest, mu)
	}
	if largest == 0 {
		return 0, nil
	}
	var sum float64
	for _, mu := range mus {
		sum += (mu / largest) * (mu / largest)
	}
	if len(mus) == 1 {
		return largest, nil
	}
	mu := largest * math.Sqrt(sum) * (1 + float64(len(mus)+4)*0x1p-52)
	mu = math.Nextafter(mu, math.Inf(1)) // where it is so small that the factor is lost
	return mu, parameter.Positive("the composed mu", mu)
}
