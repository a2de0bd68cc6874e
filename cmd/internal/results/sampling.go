package results

import (
	"fmt"
	"strconv"

	"mafalda/benchmarks"
	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/terminal"
	"mafalda/graph"
	"mafalda/internal/version"
	"mafalda/plan"
)

// SamplingResult is what a comparison of secret batches with batches in turn prints as JSON.
type SamplingResult struct {
	Version        string        `json:"version"`
	Graph          *graph.Origin `json:"graph,omitempty"`
	Workload       string        `json:"workload"`
	Steps          int           `json:"T"`
	Participations int           `json:"k"`
	Separation     int           `json:"b"`
	Delta          float64       `json:"delta"`
	Rows           []SamplingRow `json:"rows"`
}

// SamplingRow is of one ε.
type SamplingRow struct {
	Epsilon              float64                `json:"epsilon"`
	CyclicErrorAtPrivacy float64                `json:"cyclic_error_at_privacy"`
	Best                 benchmarks.AtPrivacy   `json:"best"`
	PoissonLowerBound    float64                `json:"poisson_lower_bound,omitempty"` // for the groups of Best
	BinsLowerBound       float64                `json:"bins_lower_bound,omitempty"`
	Allocation           *benchmarks.AtPrivacy  `json:"allocation,omitempty"` // the best number of bands with random allocation
	Bins                 *plan.BinsPoint        `json:"bins,omitempty"`       // what random bins reach
	Bands                []benchmarks.AtPrivacy `json:"bands"`
}

// SamplingResultOf returns the result of curves.
func SamplingResultOf(c *plan.SamplingCurves) *SamplingResult {
	p := c.Problem
	r := &SamplingResult{Version: version.String(), Workload: p.Workload.String(), Steps: p.Schema.Steps(),
		Participations: p.Schema.Participations(), Separation: p.Schema.Separation(), Delta: c.Levels.Delta}
	if p.Network != nil {
		r.Graph = &p.Network.Origin
	}
	for i, epsilon := range c.Levels.Epsilons {
		row := SamplingRow{Epsilon: epsilon, CyclicErrorAtPrivacy: c.Cyclic[i], Best: c.Best[i],
			PoissonLowerBound: c.Bounds[i].Poisson, BinsLowerBound: c.Bounds[i].Bins, Bins: c.BinsAt(epsilon)}
		for _, b := range c.Bands {
			row.Bands = append(row.Bands, b.At[i])
		}
		if c.Allocation != nil {
			row.Allocation = &c.Allocation[i]
		}
		r.Rows = append(r.Rows, row)
	}
	return r
}

// SamplingDocument says what curves are: a line an ε, a column a number of bands.
func SamplingDocument(c *plan.SamplingCurves) *document.Document {
	p := c.Problem
	d := document.New("comparison of batches", "Batches drawn in secret, compared with batches in turn at the same (ε, δ).")
	if n := p.Network; n != nil {
		d.Fact("graph", "%s", n.Line())
		d.Fact("gossip", "%s", n.Origin.GossipLine())
	}
	d.Fact("workload", "%v, T = %d steps", p.Workload, p.Schema.Steps())
	d.Fact("participation", "%v", p.Schema)
	d.Fact("privacy", "(ε, %v)-DP, local and zero-out: in turn whoever knows when a record takes part, in secret only if nobody does",
		c.Levels.Delta)
	d.Fact("bounds", "no strategy, whatever its class, has a smaller error under this sampling: poisson from the groups of the best bands, "+
		"or bins")
	d.Line("squared error with Poisson sampling / that of the certified optimum for batches in turn, by bands")
	t := document.Table{Caption: "Squared error at the same privacy", Header: []string{"ε"}}
	for _, b := range c.Bands {
		name := strconv.Itoa(b.Bandwidth)
		if b.Bandwidth == 1 {
			name += " (DP-D-SGD)"
		}
		t.Header = append(t.Header, name)
	}
	t.Header = append(t.Header, "best", "its bands", "noise multiplier", "error at privacy", "optimum in turn",
		"poisson ≥", "bins ≥")
	if c.Allocation != nil {
		t.Header = append(t.Header, "allocation", "its bands")
	}
	if c.Bins != nil {
		t.Header = append(t.Header, "bins")
	}
	for i, epsilon := range c.Levels.Epsilons {
		line := []string{fmt.Sprint(epsilon)}
		for _, b := range c.Bands {
			line = append(line, fmt.Sprintf("%.4f", b.At[i].Ratio))
		}
		best := c.Best[i]
		t.Rows = append(t.Rows, append(line, fmt.Sprintf("%.4f", best.Ratio), strconv.Itoa(best.Bands),
			terminal.NumberUp(best.NoiseMultiplier), terminal.NumberUp(best.Error), terminal.NumberUp(c.Cyclic[i]),
			terminal.DecimalDown(c.Bounds[i].Poisson/c.Cyclic[i], 4), terminal.DecimalDown(c.Bounds[i].Bins/c.Cyclic[i], 4)))
		if c.Allocation != nil {
			t.Rows[i] = append(t.Rows[i], fmt.Sprintf("%.4f", c.Allocation[i].Ratio), strconv.Itoa(c.Allocation[i].Bands))
		}
		if b := c.BinsAt(epsilon); b != nil {
			t.Rows[i] = append(t.Rows[i], fmt.Sprintf("%.4f", b.Ratio))
		}
	}
	d.Table(t)
	if c.Bins != nil {
		d.Line("%s", binsLine(c))
	}
	d.Certify("The optimum in turn is certified. For secret batches the strategy of each number of bands is the best with so many, and " +
		"ε is what the accountant bounds. The lower bounds hold for every strategy under the same sampling.")
	d.Exclude("nodes whose draws, batch sizes or empty batches become known: they need the optimum in turn", "replace-one adjacency")
	return d
}

// binsLine says what the column of random bins is.
func binsLine(c *plan.SamplingCurves) string {
	var failure float64
	for _, b := range c.Bins {
		failure = max(failure, b.Failure)
	}
	line := "bins: the best of some strategies without negative entries; \"mafalda optimize --sampling bins\" finds a little better ones"
	if failure > 0 {
		line += fmt.Sprintf(", and what they reach is confirmed by samples, but for a chance of %g at each ε", failure)
	}
	return line
}
