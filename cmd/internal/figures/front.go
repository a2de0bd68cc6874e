package figures

import (
	"fmt"
	"strconv"

	"gonum.org/v1/plot"

	"mafalda/internal/limits"
	"mafalda/participation"
	"mafalda/plan"
)

// MemoryFront shows the error at the privacy over the numbers that a node keeps: a line for batches in turn and one for
// batches in secret, which step down at every strategy of the front, and the dense optimum in turn. It is nil if there is
// no strategy, and no optimum.
func MemoryFront(a *plan.MemoryFront) (*Figure, error) {
	inTurn := Curve{Name: "in turn", Method: "mafalda"}
	secret := Curve{Name: "in secret (Poisson)", Method: "dp-d-sgd"}
	most := a.Problem.Schema.Steps()
	for _, c := range a.Choices {
		if !c.Front {
			continue
		}
		of := &inTurn
		if c.Sampling == participation.Poisson {
			of = &secret
		}
		of.step(float64(c.Floats+1), c.ErrorAtPrivacy)
	}
	for _, of := range []*Curve{&inTurn, &secret} {
		if n := len(of.Y); n > 0 {
			of.step(float64(most+1), of.Y[n-1])
		}
	}
	curves := []Curve{inTurn, secret}
	if a.Optimum > 0 {
		curves = append(curves, Curve{Name: "dense optimum, in turn", Method: "none", Dashed: true,
			X: []float64{1, float64(most + 1)}, Y: []float64{a.Optimum, a.Optimum}})
	}
	w := a.Options.Privacy
	title := fmt.Sprintf("What memory buys: %s, (ε, δ) = (%s, %s)", problemText(a.Problem), printed(w.Epsilon),
		printed(w.Delta))
	f, err := Lines(Axes{Title: title, X: fmt.Sprintf("numbers that a node keeps for each parameter (one is %s)",
		limits.Text(a.Budget.Bytes(1))), Y: "squared error at the privacy, for clip 1", LogX: true, LogY: true}, curves)
	if f == nil {
		return nil, err
	}
	f.columns[0].plots[0].X.Tick.Marker = plot.ConstantTicks(memoryTicks(most))
	return f, nil
}

// step adds a corner: the value before it goes on to x, and the new one begins there.
func (c *Curve) step(x, y float64) {
	if n := len(c.Y); n > 0 && c.Y[n-1] != y {
		c.X, c.Y = append(c.X, x), append(c.Y, c.Y[n-1])
	}
	c.X, c.Y = append(c.X, x), append(c.Y, y)
}

// memoryTicks labels numbers that are kept, which stand one to the right on the logarithmic axis, so that there is room
// for none.
func memoryTicks(most int) []plot.Tick {
	var ticks []plot.Tick
	add := func(kept int) {
		ticks = append(ticks, plot.Tick{Value: float64(kept + 1), Label: strconv.Itoa(kept)})
	}
	add(0)
	for kept := 1; float64(kept) < 0.6*float64(most); kept = max(kept+1, 3*kept) {
		add(kept)
	}
	add(most)
	return ticks
}
