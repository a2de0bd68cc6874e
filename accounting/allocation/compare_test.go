package allocation_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/accounting"
	"mafalda/accounting/allocation"
	"mafalda/accounting/bins"
	"mafalda/accounting/pld"
)

// A record takes part in one of every 19 steps, 20 times, and nobody knows in which: that takes less noise than drawing
// it with probability 1/19 in each of 380 steps.
func ExampleMechanism_NoiseMultiplier() {
	m, err := allocation.New(allocation.Blocks{Choices: 19, Rounds: 20})
	if err != nil {
		log.Fatal(err)
	}
	allocated, err := m.NoiseMultiplier(8, 1e-6)
	if err != nil {
		log.Fatal(err)
	}
	poisson, err := pld.BandRounds(380, 19, 1).NoiseFor(accounting.ZeroOut, 8, 1e-6)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("noise multiplier %.3f, with Poisson sampling %.3f\n", allocated, poisson)
	// Output:
	// noise multiplier 0.938, with Poisson sampling 0.989
}

func mechanism(t *testing.T, blocks ...allocation.Blocks) allocation.Mechanism {
	m, err := allocation.New(blocks...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// One block is what random bins without correlated noise are: an accountant of another kind, by samples.
func TestOneBlockIsRandomBins(t *testing.T) {
	for _, choices := range []int{4, 19} {
		identity := mat.NewDense(choices, choices, nil)
		for i := range choices {
			identity.Set(i, i, 1)
		}
		b, err := bins.New(identity, choices)
		if err != nil {
			t.Fatal(err)
		}
		const epsilon, noise = 1.5, 1.0
		want, err := b.Delta(context.Background(), epsilon, noise, bins.MonteCarlo{Samples: 1 << 16})
		if err != nil {
			t.Fatal(err)
		}
		got, err := mechanism(t, allocation.Blocks{choices, 1}).Delta(epsilon, noise)
		if err != nil || math.Abs(got/want.Value-1) > 0.02 || got > want.Upper {
			t.Errorf("%d steps: %v, samples say %+v, %v", choices, got, want, err)
		}
	}
}

// Less noise than Poisson sampling with the same mean number of participations: up to 5 %, 10 % of the squared error.
func TestAllocationTakesLessNoiseThanPoisson(t *testing.T) {
	for _, epsilon := range []float64{4} {
		noise, err := mechanism(t, allocation.Blocks{19, 20}).NoiseMultiplier(epsilon, 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		poisson, err := pld.BandRounds(380, 19, 1).NoiseFor(accounting.ZeroOut, epsilon, 1e-6)
		if err != nil || noise > 0.98*poisson || noise < 0.9*poisson {
			t.Errorf("ε = %v: %v, Poisson %v, %v", epsilon, noise, poisson, err)
		}
		if got, err := mechanism(t, allocation.Blocks{19, 20}).Epsilon(1e-6, noise); err != nil || got > epsilon || got < epsilon*(1-1e-3) {
			t.Errorf("noise %v has ε = %v, not %v, %v", noise, got, epsilon, err)
		}
	}
}
