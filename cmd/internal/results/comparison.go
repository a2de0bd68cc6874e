package results

import (
	"fmt"

	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/figures"
	"mafalda/cmd/internal/terminal"
	"mafalda/internal/lists"
	"mafalda/protocols"
	"mafalda/protocols/dpps"
	"mafalda/protocols/gossip"
	"mafalda/protocols/ppac"
	"mafalda/simulated"
	"mafalda/study"
)

// Compared is a protocol beside the others. Its promise is words and numbers of its own kind.
type Compared struct {
	Protocol string    `json:"protocol"`
	Noise    string    `json:"noise"`
	Errors   []float64 `json:"errors"`
	Promise  string    `json:"promise"`
	Against  string    `json:"against"`
	Not      string    `json:"not_promised"`
	Details  any       `json:"details,omitempty"`
}

// Comparison is protocols on the same network, as it is printed and written.
type Comparison struct {
	simulated.Mark
	Graph     string     `json:"graph"`
	Nodes     int        `json:"nodes"`
	Edges     int        `json:"edges"`
	Seed      uint64     `json:"seed"`
	ValueStd  float64    `json:"value_std"`
	Mean      float64    `json:"mean"`
	Rounds    int        `json:"rounds"`
	Protocols []Compared `json:"protocols"`
}

// CompareProtocols puts what came of the cells of a comparison into words. Outcomes that are missing are left out.
func CompareProtocols(c *protocols.Comparison, outcomes []protocols.Outcome) *Comparison {
	p := &c.Problem
	all := &Comparison{Mark: simulated.Revealing(), Graph: p.Network.Origin.Source, Nodes: p.Network.Graph.Nodes(),
		Edges: p.Network.Graph.Edges(), Seed: p.Seed, ValueStd: p.ValueStd, Rounds: *p.Rounds}
	for _, o := range outcomes {
		switch {
		case o.Plain != nil:
			all.Mean = o.Plain.Mean
			all.Protocols = append(all.Protocols, Compared{Protocol: protocols.Plain, Noise: "none",
				Errors: o.Plain.Errors, Promise: "nothing", Against: "–", Not: "neighbours receive the values"})
		case o.Gossip != nil:
			all.Protocols = append(all.Protocols, comparedGossip(o.Gossip))
		case o.PPAC != nil:
			all.Protocols = append(all.Protocols, comparedPPAC(o.PPAC, all.Rounds))
		case o.DPPS != nil:
			all.Protocols = append(all.Protocols, comparedDPPS(o.DPPS))
		case o.Failed != "":
			all.Protocols = append(all.Protocols, Compared{Protocol: protocols.DPPS, Noise: "Laplace, every message",
				Promise: "none: " + o.Failed, Against: "–", Not: "–"})
		}
	}
	return all
}

func comparedGossip(r *gossip.Result) Compared {
	return Compared{Protocol: protocols.Gossip, Noise: fmt.Sprintf("Gaussian, std %g, once", r.NoiseStd),
		Errors: r.Errors, Promise: fmt.Sprintf("mu = %s (epsilon %s, delta %g) for values %g apart", terminal.DecimalUp(r.Mu, 3),
			terminal.DecimalUp(r.Epsilon, 3), r.Delta, r.Difference),
		Against: "everybody, with all messages, for ever", Not: "an exact average",
		Details: map[string]float64{"mu": r.Mu, "epsilon": r.Epsilon, "delta": r.Delta, "difference": r.Difference,
			"worst_pair_mu": r.WorstMu}}
}

func comparedPPAC(r *ppac.Result, rounds int) Compared {
	worst := r.WorstFinite()
	promise := fmt.Sprintf("at most %s nats of a Gaussian value", terminal.NumberUp(worst))
	if r.Infinite > 0 {
		promise = fmt.Sprintf("%s of %d get a value outright; the others %s", terminal.Count(r.Infinite, "pair"), len(r.Pairs),
			promise)
	}
	return Compared{Protocol: protocols.PPAC, Noise: fmt.Sprintf("fragments, std %g, once", r.NoiseStd),
		Errors: r.Errors, Promise: promise,
		Against: fmt.Sprintf("each single node, in the rounds 0 to %d", rounds),
		Not:     "an observer of all messages learns every value",
		Details: map[string]any{"worst_finite_leakage": worst, "infinite_pairs": r.Infinite, "floor": r.Floor}}
}

func comparedDPPS(r *dpps.Result) Compared {
	return Compared{Protocol: protocols.DPPS,
		Noise:  fmt.Sprintf("Laplace of scale %g·S/%g, every message", r.NoiseRate, r.B),
		Errors: r.Errors,
		Promise: fmt.Sprintf("epsilon = %s in a single round, given S, for whose message it is",
			terminal.DecimalUp(r.Epsilon, 4)),
		Against: "who receives the message, and hears no later S",
		Not:     "several rounds; the broadcast numbers; how large a value is",
		Details: map[string]float64{"epsilon_per_round": r.Epsilon, "epsilon_basic": r.Basic,
			"epsilon_advanced": r.Advanced, "delta": r.Delta}}
}

const comparisonFigure = "error"

// ComparisonSpec is the comparison's, with what it says and its figure among the summaries.
func ComparisonSpec(c *protocols.Comparison) study.Spec {
	s := c.Spec()
	s.Summaries = figures.WithFiles(append(s.Summaries, document.FileName), comparisonFigure)
	return s
}

// ComparisonFiles returns what makes the summaries of a folder of a comparison.
func ComparisonFiles(c *protocols.Comparison, style figures.Style) func([]study.Entry[protocols.Cell, protocols.Outcome]) ([]study.File,
	error) {
	return func(entries []study.Entry[protocols.Cell, protocols.Outcome]) ([]study.File, error) {
		there := map[protocols.Cell]protocols.Outcome{}
		for _, e := range entries {
			there[e.Cell] = e.Result
		}
		outcomes := lists.Map(c.Cells(), func(cell protocols.Cell) protocols.Outcome { return there[cell] })
		compared := CompareProtocols(c, outcomes)
		files := []study.File{study.JSONFile(protocols.ComparisonFile, compared), documentFile(compared.Document(c.Problem.Network.Line()))}
		f, err := figures.Compared(c, outcomes)
		return append(files, figures.Files(comparisonFigure, f, err, style)...), nil
	}
}

type comparisonData struct {
	*Comparison
	Line  string
	Times []int // rounds whose errors are shown
}

var comparisonPage = document.Page[comparisonData](pages, "comparison")

// Document says errors and promises of protocols on a network, which line describes.
func (c *Comparison) Document(line string) *document.Document {
	return comparisonPage(comparisonData{c, line, []int{0, c.Rounds / 8, c.Rounds / 2, c.Rounds}})
}
