package figures

import (
	"fmt"

	"mafalda/internal/limits"
	"mafalda/participation"
	"mafalda/plan"
)

// MemoryFront shows the error at the privacy over the numbers that a node keeps: a line for batches in turn and one for
// batches in secret, which step down at every strategy of the front, and the dense optimum in turn. It is nil if there is
// no strategy, and no optimum.
func MemoryFront(a *plan.MemoryFront) (*Figure, error) {
	inTurn := Curve{Name: "in turn", Method: "in turn"}
	secret := Curve{Name: "in secret (Poisson)", Method: "poisson"}
	most := a.Problem.Schema.Steps()
	for _, c := range a.Choices {
		if !c.Front {
			continue
		}
		of := &inTurn
		if c.Sampling == participation.Poisson {
			of = &secret
		}
		of.step(keptAt(c.Floats), c.ErrorAtPrivacy)
	}
	for _, of := range []*Curve{&inTurn, &secret} {
		if n := len(of.Y); n > 0 {
			of.step(keptAt(most), of.Y[n-1])
		}
	}
	curves := []Curve{inTurn, secret}
	if a.Optimum > 0 {
		curves = append(curves, Curve{Name: "dense optimum, in turn", Bound: true, Lower: true, Dashed: true,
			X: []float64{keptAt(0), keptAt(most)}, Y: []float64{a.Optimum, a.Optimum}})
	}
	w := a.Options.Privacy
	title := fmt.Sprintf("What memory buys: %s, (ε, δ) = (%s, %s)", problemText(a.Problem), printed(w.Epsilon),
		printed(w.Delta))
	return Lines(Axes{Title: title, Zero: keptAt(0), X: fmt.Sprintf("numbers that a node keeps for each parameter (one is %s)",
		limits.Text(a.Budget.Bytes(1))), Y: "squared error at the privacy, for clip 1", LogX: true, LogY: true}, curves)
}

// keptAt is where a count of numbers that a node keeps stands on a logarithmic axis, which has no 0.
func keptAt(count int) float64 { return max(0.5, float64(count)) }

// step adds a corner: the value before it goes on to x, and the new one begins there.
func (c *Curve) step(x, y float64) {
	if n := len(c.Y); n > 0 && c.Y[n-1] != y {
		c.X, c.Y = append(c.X, x), append(c.Y, c.Y[n-1])
	}
	c.X, c.Y = append(c.X, x), append(c.Y, y)
}
