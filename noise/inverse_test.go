package noise

import (
	"errors"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/strategy"
)

// The computed inverse of a matrix of condition 1e15 is another matrix, by some percent, and noise by it protected
// less.
func TestInverseOfIllConditioned(t *testing.T) {
	for growth, ill := range map[float64]bool{0.01: false, 1: true} {
		rng := rand.New(rand.NewPCG(1, 9))
		c := mat.NewDense(60, 60, nil)
		for i := range 60 {
			c.Set(i, i, 0.7)
			for j := range i {
				c.Set(i, j, growth*rng.NormFloat64())
			}
		}
		made, err := strategy.NewDense(c)
		if err != nil {
			t.Fatal(err)
		}
		_, err = newMixer(made, 1, nil, false)
		if errors.Is(err, ErrExport) != ill {
			t.Errorf("growth %v: %v", growth, err)
		}
	}
}
