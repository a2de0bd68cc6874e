package optim_test

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"mafalda/optim"
)

// barrier is x + 4y - log x - log y, which is finite for positive x and y only.
type barrier struct{ at []float64 }

// Value remembers where it was asked, as the gradient is there.
func (b *barrier) Value(x []float64) float64 {
	b.at = append(b.at[:0], x...)
	if x[0] <= 0 || x[1] <= 0 {
		return math.Inf(1)
	}
	return x[0] + 4*x[1] - math.Log(x[0]) - math.Log(x[1])
}

func (b *barrier) GradientTo(g []float64) { g[0], g[1] = 1-1/b.at[0], 4-1/b.at[1] }

func ExampleMinimize() {
	x := []float64{5, 5}
	done := func(it optim.Iteration) bool { return floats.Norm(it.Gradient, 2) <= 1e-9 }
	r := optim.Minimize(context.Background(), &barrier{}, x, optim.Options{Done: done})
	fmt.Printf("%.6f %v\n", x, r.Status)
	// Output: [1.000000 0.250000] converged
}
