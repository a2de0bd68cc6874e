package figures

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"mafalda/accounting"
	"mafalda/noise"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/strategy"
)

// The picture has both lines, the optimum, and memory as numbers and bytes; nothing in secret is no line.
func TestMemoryFrontFigure(t *testing.T) {
	schema, err := participation.NewCyclic(16, 4, 4)
	if err != nil {
		t.Fatal(err)
	}
	choice := func(s participation.Scheme, floats int, e float64, front bool) plan.Choice {
		return plan.Choice{Price: plan.Price{Sampling: s, NodeCost: strategy.NodeCost{Floats: floats}, ErrorAtPrivacy: e}, Front: front}
	}
	a := &plan.MemoryFront{Problem: plan.Problem{Schema: schema}, Budget: plan.Budget{Dim: 1e6, Memory: math.Inf(1)}, Optimum: 50,
		Options: plan.Options{Privacy: &plan.Privacy{Target: accounting.Target{Epsilon: 2, Delta: 1e-6}}},
		Choices: []plan.Choice{choice(participation.InTurn, 0, 200, true), choice(participation.InTurn, 3, 100, true),
			choice(participation.InTurn, 4, 150, false), choice(participation.Poisson, 0, 40, true)}}
	draw := func() string {
		f, err := MemoryFront(a)
		if err != nil {
			t.Fatal(err)
		}
		var svg bytes.Buffer
		if err := f.WriteAs(&svg, "a.svg", Style{}); err != nil {
			t.Fatal(err)
		}
		return svg.String()
	}
	svg := draw()
	for _, want := range []string{"in turn", "in secret (Poisson)", "dense optimum, in turn", "one is 8 MB", "no network"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %q", want)
		}
	}
	a.Choices, a.Optimum = a.Choices[:3], 0
	if svg := draw(); strings.Contains(svg, "Poisson") || strings.Contains(svg, "optimum") {
		t.Error("a line of nothing")
	}
}

// A front goes down in steps: it holds its error up to the memory of the next.
func TestSteps(t *testing.T) {
	var c Curve
	c.step(1, 9)
	c.step(4, 5)
	c.step(8, 5)
	want := [][2]float64{{1, 9}, {4, 9}, {4, 5}, {8, 5}}
	for i, w := range want {
		if len(c.X) != len(want) || c.X[i] != w[0] || c.Y[i] != w[1] {
			t.Fatalf("%v, %v; want %v", c.X, c.Y, want)
		}
	}
}

// Between its points the figure of what is spent is never below the number of the next: ε may jump after any step.
func TestSpentIsNeverDrawnTooSmall(t *testing.T) {
	var spent []noise.Spent
	for steps, mu := range []float64{1, 1.1, 3, 3, 4} {
		spent = append(spent, noise.Spent{Steps: 7*steps + 1, Mu: &mu})
	}
	f, err := Spent(spent)
	if err != nil {
		t.Fatal(err)
	}
	l, p := f.panels[0], &page{em: 10}
	l.paint(p, frame{0, 0, 100, 100, l.x, l.y})
	line := p.shapes[0].points
	height := func(x float64) float64 { // the lowest place on the line
		low := math.Inf(1)
		for i, b := range line[1:] {
			a := line[i]
			if a.X < x && x < b.X {
				low = min(low, 100-a.Y-(b.Y-a.Y)*(x-a.X)/(b.X-a.X))
			}
		}
		return low
	}
	at := frame{0, 0, 100, 100, l.x, l.y}.at
	for i, next := range spent[1:] {
		for _, share := range []float64{0.01, 0.5, 0.99} {
			x := float64(spent[i].Steps) + share*float64(next.Steps-spent[i].Steps)
			place := at(x, *next.Mu)
			if height(place.X) < 100-place.Y-1e-9 {
				t.Errorf("at step %.2f the line is below the %v of step %d", x, *next.Mu, next.Steps)
			}
		}
	}
}
