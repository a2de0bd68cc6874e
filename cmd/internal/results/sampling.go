package results

import (
	"mafalda/cmd/internal/document"
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

var samplingPage = document.Page[*plan.SamplingCurves](pages, "sampling")

// SamplingDocument says what curves are: a line an ε, a column a number of bands.
func SamplingDocument(c *plan.SamplingCurves) *document.Document { return samplingPage(c) }
