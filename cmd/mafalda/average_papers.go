package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/graph"
	"mafalda/internal/cli"
	"mafalda/internal/figures"
	"mafalda/protocols/ppac"
)

// drawPapers draws Figures 3, 4, 5 and 7 of Fereydounian et al., and the sensitivity of DPPS on averaging, after Figure 2 of Zhou et
// al., on the graphs of their experiments.
func (f *averageFlags) drawPapers(cmd *cobra.Command) error {
	if err := cli.CheckFolder(f.out, "ppac-figure-3.png", f.force); err != nil {
		return err
	}
	ctx := cmd.Context()
	six, err := f.appendixExample(ctx)
	if err != nil {
		return err
	}
	list, err := six.figures(ctx, nil)
	if err != nil {
		return err
	}
	for i := range list {
		list[i].Name = "ppac-" + map[string]string{"values": "figure-3", "error": "figure-4", "leakage": "figure-5", "time": "time"}[list[i].Name]
	}
	cycles, err := cyclesFigure(ctx)
	if err != nil {
		return err
	}
	list = append(list, figures.Named{Name: "ppac-figure-7", Figure: cycles})
	for _, spec := range []string{"d-out:10,2", "exp:10"} {
		s, _, err := circulant(spec)
		if err != nil {
			return err
		}
		f.push = pushFlags{b: 50, gammaN: 1, sync: 5, estimate: "sound"}
		u, err := f.startValues(s.Labels())
		if err != nil {
			return err
		}
		f.fixed, f.rounds = true, 5
		a, err := f.pushSum(ctx, s, spec, u, func(string, ...any) {}, nil)
		if err != nil {
			return err
		}
		both, err := a.figures(ctx, nil)
		if err != nil {
			return err
		}
		list = append(list, figures.Named{Name: "dpps-" + strings.NewReplacer(":", "-", ",", "-").Replace(spec), Figure: both[0].Figure})
	}
	for _, g := range list {
		w := cmd.OutOrStdout()
		if f.quiet {
			w = io.Discard
		}
		if err := cli.WriteFigure(w, f.out, g.Name, g.Figure, f.force); err != nil {
			return err
		}
	}
	return nil
}

// appendixExample is the 6-node example of Appendix A, with its values and chosen neighbours. The text does not list the edges: these
// fit what it says (every chosen neighbour is one, and a cycle visits all nodes).
func (f *averageFlags) appendixExample(ctx context.Context) (*ppacAveraging, error) {
	var edges []graph.Edge
	for _, e := range [][2]int{{0, 1}, {1, 3}, {2, 3}, {3, 4}, {0, 5}, {4, 5}, {1, 2}} {
		edges = append(edges, graph.Edge{U: e[0], V: e[1], Weight: 1})
	}
	g, err := graph.New([]string{"1", "2", "3", "4", "5", "6"}, edges, false)
	if err != nil {
		return nil, err
	}
	w, err := graph.NewGossip(g, graph.Laplacian)
	if err != nil {
		return nil, err
	}
	p, err := ppac.New(g, w, []int{1, 3, 3, 2, 3, 0})
	if err != nil {
		return nil, err
	}
	f.valueStd = 10
	n := &graph.Network{Graph: g, Gossip: w, Origin: graph.Origin{Source: "the 6-node example"}}
	a := &ppacAveraging{flags: f, network: n, protocol: p, noise: 15, values: []float64{2.30, 4.40, -6.17, 2.75, 6.01, 0.92}}
	a.run = ppac.NewRun(a.values, []float64{-12.57, 16.49, -20.11, 20.78, -23.08, 28.70})
	if err := p.Average(ctx, a.run, 60, 0); err != nil {
		return nil, err
	}
	victims := []int{0}
	if a.observed, err = a.observe(ctx, [][]int{{3}}, victims, nil); err != nil {
		return nil, err
	}
	a.summarize(victims)
	return a, nil
}

// cyclesFigure is Figure 7: what node 1 learns of node 2 on a cycle, by noise, with what the average alone says.
func cyclesFigure(ctx context.Context) (*figures.Figure, error) {
	var curves []figures.Curve
	const value = 10
	for _, n := range []int{10, 20, 30, 40} {
		g, _, err := graph.ByName(fmt.Sprintf("cycle:%d", n), graph.BuiltinOptions{})
		if err != nil {
			return nil, err
		}
		// the paper's A/2 reaches no consensus on even cycles; powers of these weights see the same
		w, err := graph.NewGossip(g, graph.Metropolis)
		if err != nil {
			return nil, err
		}
		next := make([]int, n)
		for i := range next {
			next[i] = (i + 1) % n
		}
		p, err := ppac.New(g, w, next)
		if err != nil {
			return nil, err
		}
		view, err := p.View(ctx, []int{0}, ppac.Forever)
		if err != nil {
			return nil, err
		}
		leak, floor := figures.Curve{Name: fmt.Sprintf("cycle of %d", n)}, figures.Curve{Name: fmt.Sprintf("the average of %d", n), Dashed: true}
		for _, scale := range decades {
			leaks, err := view.Leakages(ctx, ppac.Uniform(value, scale*value))
			if err != nil {
				return nil, err
			}
			leak.X, leak.Y = append(leak.X, scale*value), append(leak.Y, leaks[0].Nats)
			floor.X, floor.Y = append(floor.X, scale*value), append(floor.Y, floorOf(n))
		}
		curves = append(curves, leak, floor)
	}
	return figures.Lines(figures.Axes{Title: "PPAC on cycles: leakage of a neighbour, values of standard deviation 10", X: "standard deviation of the noise",
		Y: "leakage (nats)", LogX: true, Marks: true}, curves)
}
