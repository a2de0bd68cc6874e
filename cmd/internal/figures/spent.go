package figures

import "mafalda/noise"

// Spent shows what a run has given away after steps: ε if all numbers have the same δ, else μ. Between two of them it
// is taken for that of the second, as it may jump.
func Spent(spent []noise.Spent) (*Figure, error) {
	mu := Curve{Name: "spent", Method: "mafalda", Stairs: true}
	epsilon := mu
	for _, s := range spent {
		if s.Mu != nil {
			mu.add(float64(s.Steps), *s.Mu)
		}
		if s.Epsilon != nil && *s.Delta == *spent[0].Delta {
			epsilon.add(float64(s.Steps), *s.Epsilon)
		}
	}
	axes := Axes{Title: "Spent from step to step, by a run that ends for a reason other than the data", X: "steps", Y: "μ"}
	if len(epsilon.X) == len(spent) {
		mu, axes.Y = epsilon, "ε for δ = "+printed(*spent[0].Delta)
	}
	return Lines(axes, []Curve{mu})
}
