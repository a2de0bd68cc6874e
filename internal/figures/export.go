package figures

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/plan"
	"mafalda/strategy"
)

// ExportNames returns the names of the pictures of an export: those of Export and, with its network, errors,
// spectrum and, where nodes share noise, sharing, or else, under Poisson sampling, sampling.
func ExportNames(m *export.Manifest, network bool) []string {
	names := []string{"matrices"}
	if len(m.History) > 1 {
		names = append(names, "convergence")
	}
	if network {
		names = append(names, "errors", "spectrum")
	}
	if network && m.Space != nil {
		names = append(names, "sharing")
	}
	if network && m.Sampled() && !m.Binned() && m.Space == nil {
		names = append(names, "sampling")
	}
	return names
}

// Export draws what an export alone has: the strategy of a node, and how its search went.
func Export(m *export.Manifest, c strategy.Strategy, node int) ([]Named, error) {
	whose := ""
	if m.PerNode != nil {
		whose = fmt.Sprintf(" of node %d", node)
	}
	matrices, err := Strategy(c, whose)
	if err != nil {
		return nil, err
	}
	all := []Named{{Name: "matrices", Figure: matrices}}
	if len(m.History) > 1 {
		convergence, err := Convergence(m.History)
		if err != nil {
			return nil, err
		}
		all = append(all, Named{Name: "convergence", Figure: convergence})
	}
	return all, nil
}

// Strategy draws C and C⁻¹ side by side. Whose it is, such as " of node 3", follows the name of C.
func Strategy(c strategy.Strategy, whose string) (*Figure, error) {
	var lower, noising mat.TriDense
	c.StrategyTo(&lower)
	if err := c.NoisingTo(&noising); err != nil {
		return nil, fmt.Errorf("inverting the strategy: %w", err)
	}
	return Heatmaps(Matrix{Name: "strategy C" + whose, Values: &lower},
		Matrix{Name: "noising matrix, the inverse of C", Values: &noising}), nil
}

// Convergence shows how far loss and bound were from their ends, iteration by iteration, in the history of a manifest.
func Convergence(history []export.Point) (*Figure, error) {
	loss, bound := Curve{Name: "loss above the final bound"}, Curve{Name: "bound below the final loss"}
	end := history[len(history)-1]
	before := 0.0
	for i, h := range history {
		if above := h.Loss/end.LowerBound - 1; above > 0 {
			loss.X, loss.Y = append(loss.X, float64(i)), append(loss.Y, above)
		}
		if below := 1 - h.LowerBound/end.Loss; below > 0 && h.LowerBound > before {
			before = h.LowerBound
			bound.X, bound.Y = append(bound.X, float64(i)), append(bound.Y, below)
		}
	}
	return Lines(Axes{Title: "Convergence of the dense optimum", X: "iteration", Y: "relative distance", LogY: true},
		[]Curve{loss, bound})
}

// Spectrum shows the moduli of the eigenvalues of a gossip matrix, largest first.
func Spectrum(moduli []float64) (*Figure, error) {
	curve := Curve{Name: "eigenvalues"}
	for i, v := range moduli {
		curve.X, curve.Y = append(curve.X, float64(i+1)), append(curve.Y, v)
	}
	return Lines(Axes{Title: "Spectrum of the gossip matrix", X: "index", Y: "modulus of the eigenvalue", Dots: true},
		[]Curve{curve})
}

// StepErrors shows the errors of methods after every step as root mean square over the nodes. With several, what was
// exported are several strategies.
func StepErrors(nodes int, several bool, methods []plan.MethodErrors) (*Figure, error) {
	var curves []Curve
	for _, m := range methods {
		c := Curve{Name: methodLabel(m.Method, several), Method: m.Method}
		for t, squared := range m.Squared {
			c.X, c.Y = append(c.X, float64(t)), append(c.Y, math.Sqrt(squared/float64(nodes)))
		}
		curves = append(curves, c)
	}
	return Lines(Axes{Title: "Error of the models after every step, sens = 1 and unit noise", X: "step",
		Y: "root mean square over the nodes", LogY: true}, curves)
}

func methodLabel(name string, several bool) string {
	switch {
	case name == "d-mf" || name == "dp-d-sgd":
		return strings.ToUpper(name)
	case several:
		return "these strategies"
	}
	return "this strategy"
}
