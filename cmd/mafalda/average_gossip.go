package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"mafalda/accounting"
	"mafalda/graph"
	"mafalda/internal/cli"
	"mafalda/internal/figures"
	"mafalda/internal/rounding"
	"mafalda/protocols/gossip"
)

type gossipPair struct {
	Observer string  `json:"observer"`
	Victim   string  `json:"victim"`
	Mu       float64 `json:"mu"`
	Leakage  nats    `json:"leakage"`
}

// gossipResult is the JSON of --protocol gossip.
type gossipResult struct {
	averageRun
	Difference float64      `json:"difference"`
	Noisy      float64      `json:"noisy_mean"` // what the nodes agree on
	Mu         float64      `json:"mu"`         // against everybody
	Epsilon    float64      `json:"epsilon"`
	Delta      float64      `json:"delta"`
	WorstMu    float64      `json:"worst_pair_mu"`
	Pairs      []gossipPair `json:"pairs"`
}

// gossipAveraging is a run of gossip with Gaussian noise.
type gossipAveraging struct {
	network *graph.Network
	result  gossipResult
}

func (f *averageFlags) runGossip(ctx context.Context, n *graph.Network, u []float64, bar *cli.Progress) (*gossipAveraging, error) {
	noise := f.noise(f.difference)
	if math.IsInf(f.difference/noise, 1) {
		return nil, cli.Usagef("--noise-std %g for values %g apart: mu is beyond all numbers", noise, f.difference)
	}
	g, err := gossip.New(n.Graph, n.Gossip)
	if err != nil {
		return nil, err
	}
	coalitions, victims, err := f.observers(n.Graph)
	if err != nil {
		return nil, err
	}
	run, err := f.gossip(ctx, g, u, noise)
	if err != nil {
		return nil, err
	}
	mu, err := accounting.MuFromNoise(noise, 1, f.difference)
	if err != nil {
		return nil, cli.Usage(err)
	}
	a := &gossipAveraging{network: n}
	r := &a.result
	*r = gossipResult{averageRun: f.newAverageRun("gossip", n, noise, run.Mean, run.Errors()), Difference: f.difference,
		Noisy: run.Noisy(),
		Mu:    mu, Delta: f.delta, Pairs: []gossipPair{}}
	if r.Epsilon, err = accounting.Epsilon(r.Mu, f.delta); err != nil {
		return nil, cli.Usage(err)
	}
	namer := &ppacAveraging{network: n}
	for i, coalition := range coalitions {
		exposures, err := g.Exposures(ctx, coalition, f.upTo())
		if err != nil {
			return nil, err
		}
		for v, exposure := range exposures {
			if slices.Contains(coalition, v) || victims != nil && !slices.Contains(victims, v) {
				continue
			}
			seen := min(r.Mu, rounding.MulUp(r.Mu, rounding.SqrtUp(exposure.Seen)))
			p := gossipPair{namer.label(coalition), n.Graph.Label(v), seen, nats(gossip.Leakage(exposure, f.valueStd, noise))}
			r.WorstMu = max(r.WorstMu, p.Mu)
			r.Pairs = append(r.Pairs, p)
		}
		bar.Show(float64(i+1)/float64(len(coalitions)), "observers")
	}
	return a, nil
}

// gossip runs as many rounds as were asked for, or until all nodes agree.
func (f *averageFlags) gossip(ctx context.Context, g *gossip.Protocol, u []float64, noise float64) (*gossip.Run, error) {
	limit, tolerance, err := f.limit(len(u))
	if err != nil {
		return nil, err
	}
	return g.Run(ctx, u, gossip.Options{NoiseStd: noise, Rounds: limit, Tolerance: tolerance}, f.random(forNoise))
}

func (a *gossipAveraging) data() any { return a.result }

func (a *gossipAveraging) print(w io.Writer) error {
	r := &a.result
	fmt.Fprintf(w, "graph          %s\n", a.network.Line())
	fmt.Fprintf(w, "protocol       gossip: Gaussian noise of standard deviation %g on every value, once; %s weights\n", r.NoiseStd, r.Gossip)
	fmt.Fprintf(w, "values         standard deviation %g (seed %d)\n", r.ValueStd, r.Seed)
	fmt.Fprintf(w, "average        %.10g; %s\n", r.Mean, roundsText(r.Rounds, r.Errors))
	fmt.Fprintf(w, "               they agree on %.10g, which is off by N(0, noise²/n), here by a standard deviation of %s\n", r.Noisy,
		cli.NumberUp(r.NoiseStd/math.Sqrt(float64(r.Nodes))))
	fmt.Fprintf(w, "privacy        values %g apart, against everybody who sees all messages: mu = %s, epsilon = %s for delta = %g\n", r.Difference, cli.NumberUp(r.Mu),
		cli.NumberUp(r.Epsilon), r.Delta)
	fmt.Fprintf(w, "               against single nodes (what reaches them): mu of the worst pairs\n\n")
	pairs := slices.Clone(r.Pairs)
	slices.SortStableFunc(pairs, func(a, b gossipPair) int { return cmp.Compare(b.Mu, a.Mu) })
	var rows [][]string
	for _, p := range pairs[:min(shownPairs, len(pairs))] {
		rows = append(rows, []string{p.Observer, p.Victim, cli.NumberUp(p.Mu), p.Leakage.String()})
	}
	return cli.Table(w, []string{"observer", "victim", "mu", "leakage (nats)"}, rows)
}

func (a *gossipAveraging) figures(context.Context, *cli.Progress) ([]figures.Named, error) {
	r := &a.result
	c := figures.Curve{Name: "error"}
	for t, v := range r.Errors[:min(len(r.Errors), 200)] {
		c.X, c.Y = append(c.X, float64(t)), append(c.Y, v)
	}
	f, err := figures.Lines(figures.Axes{Title: fmt.Sprintf("Gossip on %s with noise %g: error", r.Graph, r.NoiseStd), X: "round", Y: "‖v(t) - average‖₂"}, []figures.Curve{c})
	return []figures.Named{{Name: "error", Figure: f}}, err
}
