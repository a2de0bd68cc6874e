package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"mafalda/graph"
	"mafalda/internal/cli"
	"mafalda/internal/figures"
	"mafalda/internal/simulated"
	"mafalda/protocols/dpps"
	"mafalda/protocols/gossip"
)

// compared is a protocol beside the others. Its promise is words and numbers of its own kind.
type compared struct {
	Protocol string    `json:"protocol"`
	Noise    string    `json:"noise"`
	Errors   []float64 `json:"errors"`
	Promise  string    `json:"promise"`
	Against  string    `json:"against"`
	Not      string    `json:"not_promised"`
	Details  any       `json:"details,omitempty"`
}

// comparison is the JSON of --compare.
type comparison struct {
	simulated.Mark
	Graph     string     `json:"graph"`
	Nodes     int        `json:"nodes"`
	Edges     int        `json:"edges"`
	Seed      uint64     `json:"seed"`
	ValueStd  float64    `json:"value_std"`
	Mean      float64    `json:"mean"`
	Rounds    int        `json:"rounds"`
	Protocols []compared `json:"protocols"`

	network *graph.Network
}

// comparedRounds is how many rounds are compared by default.
const comparedRounds = 50

func (f *averageFlags) runCompare(ctx context.Context, note func(string, ...any), bar *cli.Progress) (averaging, error) {
	n, u, err := f.start(note)
	if err != nil {
		return nil, err
	}
	c := &comparison{Mark: simulated.Revealing(), Graph: n.Origin.Source, Nodes: n.Graph.Nodes(), Edges: n.Graph.Edges(),
		Seed: f.network.Seed, ValueStd: f.valueStd, Rounds: comparedRounds, network: n}
	if f.fixed {
		c.Rounds = f.rounds
	}
	f.fixed, f.rounds = true, c.Rounds
	if err := c.addPlain(ctx, f, u); err != nil {
		return nil, err
	}
	g, err := f.runGossip(ctx, n, u, bar)
	if err != nil {
		return nil, err
	}
	c.addGossip(g)
	p, err := f.runPPAC(ctx, n, u, bar)
	if err != nil {
		return nil, err
	}
	c.addPPAC(p)
	return c, c.addDPPS(ctx, f, u, note, bar)
}

// addPlain is consensus on the values themselves.
func (c *comparison) addPlain(ctx context.Context, f *averageFlags, u []float64) error {
	g, err := gossip.New(c.network.Graph, c.network.Gossip)
	if err != nil {
		return err
	}
	run, err := g.Run(ctx, u, gossip.Options{Rounds: c.Rounds}, f.random(forNoise))
	if err != nil {
		return err
	}
	c.Mean = run.Mean
	c.Protocols = append(c.Protocols, compared{Protocol: "no protection", Noise: "none", Errors: run.Errors(), Promise: "nothing",
		Against: "–", Not: "neighbours receive the values"})
	return nil
}

func (c *comparison) addGossip(a *gossipAveraging) {
	r := a.result
	c.Protocols = append(c.Protocols, compared{Protocol: "gossip", Noise: fmt.Sprintf("Gaussian, std %g, once", r.NoiseStd), Errors: r.Errors,
		Promise: fmt.Sprintf("mu = %s (epsilon %s, delta %g) for values %g apart", cli.DecimalUp(r.Mu, 3), cli.DecimalUp(r.Epsilon, 3), r.Delta, r.Difference),
		Against: "everybody, with all messages, for ever", Not: "an exact average",
		Details: map[string]float64{"mu": r.Mu, "epsilon": r.Epsilon, "delta": r.Delta, "difference": r.Difference, "worst_pair_mu": r.WorstMu}})
}

func (c *comparison) addPPAC(a *ppacAveraging) {
	r := a.result
	worst := 0.0
	for _, p := range r.Pairs {
		if !math.IsInf(float64(p.Leakage), 1) {
			worst = max(worst, float64(p.Leakage))
		}
	}
	promise := fmt.Sprintf("at most %s nats of a Gaussian value", cli.NumberUp(worst))
	if r.Infinite > 0 {
		promise = fmt.Sprintf("%s of %d get a value outright; the others at most %s nats of a Gaussian value", cli.Count(r.Infinite, "pair"), len(r.Pairs), cli.NumberUp(worst))
	}
	c.Protocols = append(c.Protocols, compared{Protocol: "ppac", Noise: fmt.Sprintf("fragments, std %g, once", r.NoiseStd), Errors: r.Errors, Promise: promise,
		Against: fmt.Sprintf("each single node, in the rounds 0 to %d", c.Rounds), Not: "an observer of all messages learns every value",
		Details: map[string]any{"worst_finite_leakage": worst, "infinite_pairs": r.Infinite, "floor": r.Floor}})
}

func (c *comparison) addDPPS(ctx context.Context, f *averageFlags, u []float64, note func(string, ...any), bar *cli.Progress) error {
	w, err := graph.NewGossip(c.network.Graph, graph.Metropolis)
	if err != nil {
		return err
	}
	s, err := dpps.Static(c.network.Graph.Labels(), w)
	if err != nil {
		return err
	}
	a, err := f.pushSum(ctx, s, c.Graph, u, note, bar)
	if errors.Is(err, dpps.ErrDiverged) || errors.Is(err, dpps.ErrSensitivity) {
		c.Protocols = append(c.Protocols, compared{Protocol: "dpps", Noise: "Laplace, every message", Promise: "none: " + err.Error(), Against: "–", Not: "–"})
		return nil
	}
	if err != nil {
		return err
	}
	r := a.result
	c.Protocols = append(c.Protocols, compared{Protocol: "dpps", Noise: fmt.Sprintf("Laplace of scale %g·S/%g, every message", r.NoiseRate, r.B), Errors: r.Errors,
		Promise: fmt.Sprintf("epsilon = %s in a single round, given S, for whose message it is", cli.DecimalUp(r.Epsilon, 4)),
		Against: "who receives the message, and hears no later S", Not: "several rounds; the broadcast numbers; how large a value is",
		Details: map[string]float64{"epsilon_per_round": r.Epsilon, "epsilon_basic": r.Basic, "epsilon_advanced": r.Advanced, "delta": r.Delta}})
	return nil
}

func (c *comparison) data() any { return c }

func (c *comparison) print(w io.Writer) error {
	fmt.Fprintf(w, "graph          %s\n", c.network.Line())
	fmt.Fprintf(w, "values         standard deviation %g (seed %d), average %.10g\n", c.ValueStd, c.Seed, c.Mean)
	fmt.Fprintf(w, "error          ‖v(t) - average‖₂ over all nodes\n\n")
	at := []int{0, c.Rounds / 8, c.Rounds / 2, c.Rounds}
	header := []string{"protocol", "noise"}
	for _, t := range at {
		header = append(header, fmt.Sprintf("error, t = %d", t))
	}
	var errors, promises [][]string
	for _, p := range c.Protocols {
		row := []string{p.Protocol, p.Noise}
		for _, t := range at {
			text := "–"
			if t < len(p.Errors) {
				text = fmt.Sprintf("%.4g", p.Errors[t])
			}
			row = append(row, text)
		}
		errors = append(errors, row)
		promises = append(promises, []string{p.Protocol, p.Promise, p.Against, p.Not})
	}
	if err := cli.Table(w, header, errors); err != nil {
		return err
	}
	fmt.Fprintln(w, "\nThe promises are of different kinds: their numbers do not compare.")
	fmt.Fprintln(w)
	return cli.TextTable(w, []string{"protocol", "promised", "against", "not promised"}, promises)
}

func (c *comparison) figures(context.Context, *cli.Progress) ([]figures.Named, error) {
	var curves []figures.Curve
	for _, p := range c.Protocols {
		curve := figures.Curve{Name: p.Protocol, Dashed: p.Protocol == "no protection"}
		for t, v := range p.Errors {
			if v > 0 {
				curve.X, curve.Y = append(curve.X, float64(t)), append(curve.Y, v)
			}
		}
		curves = append(curves, curve)
	}
	f, err := figures.Lines(figures.Axes{Title: fmt.Sprintf("Averaging on %s: error", c.Graph), X: "round", Y: "‖v(t) - average‖₂", LogY: true}, curves)
	return []figures.Named{{Name: "error", Figure: f}}, err
}
