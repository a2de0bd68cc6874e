package averaging

import (
	"fmt"
	"math"
	"strconv"

	"mafalda/protocols/internal/inputs"
)

// DrawValues draws Gaussian values of n nodes.
func DrawValues(n int, std float64, seed uint64) []float64 {
	u := make([]float64, n)
	r := inputs.Values.Random(seed)
	for i := range u {
		u[i] = std * r.NormFloat64()
	}
	return u
}

// ReadValues reads lines "label value", one for each node. Errors name the file and the line.
func ReadValues(path string, labels []string) ([]float64, error) {
	u := make([]float64, len(labels))
	return u, inputs.Read(path, labels, func(i int, text string) error {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(math.Abs(v) <= Largest) {
			return fmt.Errorf("%q is not a finite number, of at most %g", text, Largest)
		}
		u[i] = v
		return nil
	})
}
