package results

import (
	"fmt"
	"strconv"

	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/terminal"
	"mafalda/graph"
	"mafalda/internal/version"
	"mafalda/plan"
)

// SamplingResult is what a comparison of secret batches with batches in turn prints as JSON.
type SamplingResult struct {
	Version        string             `json:"version"`
	Graph          *graph.Origin      `json:"graph,omitempty"`
	Workload       string             `json:"workload"`
	Steps          int                `json:"T"`
	Participations int                `json:"k"`
	Separation     int                `json:"b"`
	Delta          float64            `json:"delta"`
	Rows           []plan.SamplingRow `json:"rows"`
}

// SamplingResultOf returns the result of curves.
func SamplingResultOf(c *plan.SamplingCurves) *SamplingResult {
	p := c.Problem
	r := &SamplingResult{Version: version.String(), Workload: p.Workload.String(), Steps: p.Schema.Steps(),
		Participations: p.Schema.Participations(), Separation: p.Schema.Separation(), Delta: c.Delta, Rows: c.Rows}
	if p.Network != nil {
		r.Graph = &p.Network.Origin
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
		c.Delta)
	d.Fact("bounds", "no strategy, whatever its class, has a smaller error under this sampling: poisson from the groups of the best bands, "+
		"or bins")
	d.Line("squared error with Poisson sampling / that of the certified optimum for batches in turn, by bands")
	t := document.Table{Caption: "Squared error at the same privacy"}
	failure := -1.0 // no bins
	for _, r := range c.Rows {
		row := []string{"ε", fmt.Sprint(r.Epsilon)}
		for _, b := range r.Bands {
			name := strconv.Itoa(b.Bands)
			if b.Bands == 1 {
				name += " (DP-D-SGD)"
			}
			row = append(row, name, fmt.Sprintf("%.4f", b.Ratio))
		}
		row = append(row, "best", fmt.Sprintf("%.4f", r.Best.Ratio), "its bands", strconv.Itoa(r.Best.Bands),
			"noise multiplier", terminal.NumberUp(r.Best.NoiseMultiplier), "error at privacy", terminal.NumberUp(r.Best.Error),
			"optimum in turn", terminal.NumberUp(r.Cyclic), "poisson ≥", terminal.DecimalDown(r.PoissonLowerBound/r.Cyclic, 4),
			"bins ≥", terminal.DecimalDown(r.BinsLowerBound/r.Cyclic, 4))
		if r.Allocation != nil {
			row = append(row, "allocation", fmt.Sprintf("%.4f", r.Allocation.Ratio), "its bands", strconv.Itoa(r.Allocation.Bands))
		}
		if r.Bins != nil {
			row = append(row, "bins", fmt.Sprintf("%.4f", r.Bins.Ratio))
			failure = max(failure, r.Bins.Failure)
		}
		t.Row(row...)
	}
	d.Table(t)
	if failure >= 0 {
		d.Line("%s", binsLine(failure))
	}
	d.Certify("The optimum in turn is certified. For secret batches the strategy of each number of bands is the best with so many, and " +
		"ε is what the accountant bounds. The lower bounds hold for every strategy under the same sampling.")
	d.Exclude("nodes whose draws, batch sizes or empty batches become known: they need the optimum in turn", "replace-one adjacency")
	return d
}

// binsLine says what the column of random bins is.
func binsLine(failure float64) string {
	line := "bins: the best of some strategies without negative entries; \"mafalda optimize --sampling bins\" finds a little better ones"
	if failure > 0 {
		line += fmt.Sprintf(", and what they reach is confirmed by samples, but for a chance of %g at each ε", failure)
	}
	return line
}
