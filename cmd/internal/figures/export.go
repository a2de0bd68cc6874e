package figures

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"mafalda/accounting"
	"mafalda/export"
	"mafalda/internal/lists"
	"mafalda/internal/rounding"
	"mafalda/plan"
	"mafalda/strategy"
	"mafalda/verify"
)

// Comparable reports whether the noise of an export can stand beside the noise for other numbers of bands, which is known
// for Poisson sampling under zero-out adjacency.
func Comparable(m *export.Manifest) bool {
	return m.Sampling.Scheme == export.SchemePoisson && m.Privacy != nil && m.Privacy.Adjacency == accounting.ZeroOut.String()
}

// Export draws what an export alone has: the strategy of a node, whose label counts where nodes have their own, and how the
// search went.
func Export(m *export.Manifest, c strategy.Strategy, node string) Pictures {
	whose := ""
	if m.PerNode != nil {
		whose = " of node " + node
	}
	var p Pictures
	p.Add("matrices")(Strategy(c, Setting(m), whose))
	if len(m.History) > 1 {
		p.Add("convergence")(Convergence(m))
	}
	return p
}

// Setting says in one line what an export is for: its graph, T, k, b and, if it has one, its level of privacy.
func Setting(m *export.Manifest) string {
	source := "no network"
	if m.Graph != nil {
		source = filepath.Base(m.Graph.Source)
	}
	text := schemaText(source, m.Steps, m.Participation.K, m.Participation.B)
	if m.Sampled() {
		text += fmt.Sprintf(", batches in secret (%s)", m.Sampling.Scheme)
	}
	if m.WorkloadSpec != nil {
		for _, fact := range m.WorkloadSpec.Facts() {
			text += ", " + fact[1]
		}
	}
	if m.Curvature != nil {
		text += ", with curvature"
	}
	if m.Objective != "" {
		text += ", for the " + m.Objective
	}
	switch p := m.Privacy; {
	case p == nil:
		return text
	case m.Budgets != nil:
		return text + ", one privacy level per node"
	case p.Epsilon != nil && p.Delta != nil:
		return fmt.Sprintf("%s, (ε, δ) = (%s, %s)", text, printed(*p.Epsilon), printed(*p.Delta))
	case p.Mu > 0:
		return fmt.Sprintf("%s, μ = %s", text, printed(p.Mu))
	}
	return text
}

// printed is how pictures print ε, μ and δ.
func printed(v float64) string { return typeset(rounding.UpText(v, 4)) }

// typeset writes a number as people do, with a power of ten.
func typeset(number string) string {
	digits, exponent, _ := strings.Cut(number, "e")
	e, err := strconv.Atoi(exponent)
	if err != nil {
		return number
	}
	return strings.TrimPrefix(digits+"·"+power(e), "1·")
}

// problemText names a problem's graph, its number of steps and who takes part.
func problemText(p plan.Problem) string {
	source := "no network"
	if p.Network != nil {
		source = p.Network.Origin.Source
	}
	return schemaText(source, p.Schema.Steps(), p.Schema.Participations(), p.Schema.Separation())
}

// schemaText names a graph, a number of steps and who takes part.
func schemaText(source string, steps, k, b int) string {
	return fmt.Sprintf("%s, T = %d, k = %d, b = %d", source, steps, k, b)
}

// Strategy draws C and C⁻¹ side by side, under a heading. Whose it is, such as " of node Medici", follows the name of C.
func Strategy(c strategy.Strategy, heading, whose string) (*Figure, error) {
	var lower, noising mat.TriDense
	c.StrategyTo(&lower)
	if err := c.NoisingTo(&noising); err != nil {
		return nil, fmt.Errorf("inverting the strategy: %w", err)
	}
	return Heatmaps(heading, Matrix{Name: "strategy C" + whose, Values: &lower},
		Matrix{Name: "noising matrix, the inverse of C", Values: &noising}), nil
}

// Convergence shows how far loss and bound were from their ends, iteration by iteration, in the history of a manifest. It
// is nil if neither ever was.
func Convergence(m *export.Manifest) (*Figure, error) {
	title := "Convergence of the dense optimum"
	if class := m.Strategy.Class; class != "dense" || m.PerNode != nil || m.Sampled() {
		if m.PerNode != nil {
			class = "several strategies"
		}
		title += fmt.Sprintf(" that this export (%s) is compared with", class)
	}
	loss, bound := Curve{Name: "loss above the final bound", Method: "mafalda"}, Curve{Name: "bound below the final loss", Bound: true}
	before := 0.0
	for i, h := range m.History {
		end := m.History[len(m.History)-1]
		loss.add(float64(i), h.Loss/end.LowerBound-1)
		if h.LowerBound > before {
			before = h.LowerBound
			bound.add(float64(i), 1-h.LowerBound/end.Loss)
		}
	}
	bound.Dotted = 2*len(bound.X) < len(loss.X) // little of it was measured
	return Lines(Axes{Title: title + ": " + Setting(m), X: "iteration", Y: "relative distance", LogY: true},
		[]Curve{loss, bound})
}

// Spectrum shows the moduli of the eigenvalues of the gossip matrix of an export, largest first.
func Spectrum(m *export.Manifest, moduli []float64) (*Figure, error) {
	curve := Curve{Name: "eigenvalues", X: rounds(len(moduli) + 1)[1:], Y: moduli}
	title := "Spectrum of the gossip matrix"
	if g := m.Graph; g != nil {
		title += fmt.Sprintf(": %s, %s", filepath.Base(g.Source), g.GossipLine())
	}
	return Lines(Axes{Title: title, X: "index", Y: "modulus of the eigenvalue", Dots: true},
		[]Curve{curve})
}

// StepErrors shows the errors of methods after every step of an export as root mean square over the nodes. Where nodes
// have strategies of their own, its errors are of all of them together.
func StepErrors(m *export.Manifest, nodes int, methods []verify.MethodErrors) (*Figure, error) {
	var curves []Curve
	for _, of := range methods {
		curves = append(curves, Curve{Name: methodLabel(of.Method, m.PerNode != nil), Method: of.Method, X: rounds(len(of.Squared)),
			Y: lists.Map(of.Squared, func(squared float64) float64 { return math.Sqrt(squared / float64(nodes)) })})
	}
	noise := "for sensitivity 1 and unit noise"
	switch {
	case m.Sampled():
		noise = "for unit noise"
	case m.Budgets != nil:
		noise += " where most is needed"
	}
	return Lines(Axes{Title: "Error of the models: " + Setting(m), X: "step", Y: "root mean square over the nodes, " + noise, LogY: true}, curves)
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
