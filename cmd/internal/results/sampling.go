package results

import (
	"fmt"
	"io"
	"strconv"

	"mafalda/benchmarks"
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
		row := SamplingRow{Epsilon: epsilon, CyclicErrorAtPrivacy: c.Cyclic[i], Best: c.Best[i]}
		for _, b := range c.Bands {
			row.Bands = append(row.Bands, b.At[i])
		}
		r.Rows = append(r.Rows, row)
	}
	return r
}

// WriteSampling prints curves as a table: a line an ε, a column a number of bands; dir is where they are kept, if
// anywhere.
func WriteSampling(w io.Writer, c *plan.SamplingCurves, dir string) error {
	p := c.Problem
	if n := p.Network; n != nil {
		fmt.Fprintf(w, "graph          %s\n", n.Line())
		fmt.Fprintf(w, "gossip         %s\n", n.Origin.GossipLine())
	}
	fmt.Fprintf(w, "workload       %v, T = %d steps\n", p.Workload, p.Schema.Steps())
	fmt.Fprintf(w, "participation  %v\n", p.Schema)
	fmt.Fprintf(w, "privacy        (ε, %v)-DP, local and zero-out: in turn whoever knows when a record takes part, in "+
		"secret only if nobody does\n\n", c.Levels.Delta)
	fmt.Fprintf(w, "squared error with Poisson sampling / that of the certified optimum for batches in turn, by bands\n")
	header := []string{"ε"}
	for _, b := range c.Bands {
		name := strconv.Itoa(b.Bandwidth)
		if b.Bandwidth == 1 {
			name += " (DP-D-SGD)"
		}
		header = append(header, name)
	}
	header = append(header, "best", "its bands", "noise multiplier", "error at privacy", "optimum in turn")
	var lines [][]string
	for i, epsilon := range c.Levels.Epsilons {
		line := []string{fmt.Sprint(epsilon)}
		for _, b := range c.Bands {
			line = append(line, fmt.Sprintf("%.4f", b.At[i].Ratio))
		}
		best := c.Best[i]
		lines = append(lines, append(line, fmt.Sprintf("%.4f", best.Ratio), strconv.Itoa(best.Bands),
			terminal.NumberUp(best.NoiseMultiplier), terminal.NumberUp(best.Error), terminal.NumberUp(c.Cyclic[i])))
	}
	if err := terminal.Table(w, header, lines); err != nil {
		return err
	}
	if dir != "" {
		fmt.Fprintf(w, "\nwritten        %s\n", dir)
	}
	return nil
}
