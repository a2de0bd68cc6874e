package commands

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/figures"
	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/grids"
	"mafalda/cmd/internal/results"
	"mafalda/cmd/internal/terminal"
	"mafalda/graph"
	"mafalda/internal/parallel"
	"mafalda/protocols"
	"mafalda/protocols/averaging"
	"mafalda/protocols/dpps"
	"mafalda/protocols/gossip"
	"mafalda/protocols/ppac"
)

// runOne runs a protocol and shows what came of it.
func (f *averageFlags) runOne(cmd *cobra.Command) error {
	return f.produce(cmd, "average", nil, func(ctx context.Context, bar *terminal.Progress) (outcome, error) {
		f.bar = bar
		o, err := map[string]func(context.Context) (outcome, error){
			"ppac": f.runPPAC, "dpps": f.runDPPS, "gossip": f.runGossip}[f.protocol](ctx)
		return o, results.AveragingError(err)
	})
}

// problem loads a connected graph with a consensus matrix, its nodes' values and those who look on.
func (f *averageFlags) problem() (p averaging.Problem, err error) {
	if name, _, _ := strings.Cut(f.network.Source, ":"); name == "exp" || name == "d-out" {
		return p, terminal.Usagef("--graph %s: this network is directed, and for --protocol dpps only", f.network.Source)
	}
	n, err := f.network.LoadBy(graph.Laplacian)
	if err != nil {
		return p, err
	}
	if n.Graph.Directed() {
		return p, terminal.Usagef("the graph is directed: %s needs an undirected one", f.protocol)
	}
	if !f.network.GossipGiven() {
		if err := averaging.Mend(n); err != nil {
			return p, terminal.Usage(err)
		}
	}
	f.note(n.Notes...)
	p = averaging.Problem{Network: n, ValueStd: f.valueStd, Seed: f.network.Seed}
	if f.given("rounds") {
		p.Rounds = &f.rounds
	}
	if p.Values, err = f.startValues(n.Graph.Labels()); err != nil {
		return p, err
	}
	return p, f.observers(&p)
}

// startValues draws the nodes' values, or reads them.
func (f *averageFlags) startValues(labels []string) ([]float64, error) {
	if f.values == "" {
		return averaging.DrawValues(len(labels), f.valueStd, f.network.Seed), nil
	}
	u, err := averaging.ReadValues(f.values, labels)
	return u, terminal.Usage(err)
}

// observers says who looks on: one coalition, or every node alone; and at whom.
func (f *averageFlags) observers(p *averaging.Problem) (err error) {
	g := p.Network.Graph
	if f.observer != "" {
		coalition, err := flags.NodesNamed("observer", f.observer, g)
		if err != nil {
			return err
		}
		if len(coalition) == g.Nodes() {
			return terminal.Usagef("--observer names all nodes: there is no victim")
		}
		p.Observers = [][]int{coalition}
	}
	if f.victim == "" {
		return nil
	}
	if p.Victims, err = flags.NodesNamed("victim", f.victim, g); err != nil {
		return err
	}
	for _, coalition := range p.Observers {
		for _, v := range coalition {
			if p.Asked(v) {
				return terminal.Usagef("--victim %s is an observer: it knows its own value", f.victim)
			}
		}
	}
	return nil
}

func (f *averageFlags) ofPPAC(g *graph.Graph) (o ppac.AverageOptions, err error) {
	o = ppac.AverageOptions{NoiseStd: f.noiseStd, Progress: showing(f.bar, "observers")}
	if f.chosen != "" {
		o.Chosen, err = ppac.ReadChosen(f.chosen, g)
	}
	return o, terminal.Usage(err)
}

func (f *averageFlags) ofGossip() gossip.AverageOptions {
	return gossip.AverageOptions{NoiseStd: f.noiseStd, Difference: f.difference, Delta: f.delta,
		Progress: showing(f.bar, "observers")}
}

// ofDPPS has all but the graphs and the values.
func (f *averageFlags) ofDPPS() dpps.Problem {
	return dpps.Problem{Plan: f.push.Plan(), Delta: f.delta, Seed: f.network.Seed, Progress: showing(f.bar, "calibrating"),
		Unsound: func(c dpps.Constants) {
			f.note(fmt.Sprintf("warning: C' = %g and lambda = %g are not known to be sound here: a round whose estimate turns out "+
				"too small ends the run", c.C, c.Lambda))
		}}
}

// showing moves a bar for what is being done.
func showing(bar *terminal.Progress, what string) func(fraction float64) {
	return func(fraction float64) { bar.Show(fraction, what) }
}

func (f *averageFlags) runPPAC(ctx context.Context) (r outcome, err error) {
	p, err := f.problem()
	if err != nil {
		return r, err
	}
	o, err := f.ofPPAC(p.Network.Graph)
	if err != nil {
		return r, err
	}
	a, err := ppac.Average(ctx, p, o)
	if err != nil {
		return r, err
	}
	return outcome{data: a.Result, says: results.PPACDocument(a),
		pictures: func(ctx context.Context) (p figures.Pictures, err error) {
			s, err := a.Sweep(ctx, showing(f.bar, "leakage by noise"))
			if err == nil {
				p = figures.PPAC(a, s)
			}
			return p, results.AveragingError(err)
		}}, nil
}

func (f *averageFlags) runGossip(ctx context.Context) (r outcome, err error) {
	p, err := f.problem()
	if err != nil {
		return r, err
	}
	g, err := gossip.Average(ctx, p, f.ofGossip())
	if err != nil {
		return r, err
	}
	return outcome{data: g, says: results.GossipDocument(p.Network, g),
		pictures: func(context.Context) (p figures.Pictures, err error) {
			p.Add("error")(figures.GossipErrors(g))
			return p, nil
		}}, nil
}

func (f *averageFlags) runDPPS(ctx context.Context) (r outcome, err error) {
	if f.given("noise-std") {
		f.note("note: --noise-std does not apply to dpps: its noise follows the sensitivity and --push-sum laplace-b")
	}
	p := f.ofDPPS()
	var notes []string
	p.Sequence, p.Name, notes, err = f.push.Sequence(&f.network)
	f.note(notes...)
	if err != nil {
		return r, err
	}
	if p.Values, err = f.startValues(p.Sequence.Labels()); err != nil {
		return r, err
	}
	if p.Rounds = dpps.DefaultRounds; f.given("rounds") {
		p.Rounds = f.rounds
	}
	d, err := dpps.Average(ctx, p)
	if err != nil {
		return r, err
	}
	return outcome{data: d, says: results.DPPSDocument(d, p.Source),
		pictures: func(context.Context) (figures.Pictures, error) { return figures.DPPS(d), nil }}, nil
}

// runCompare runs all protocols; with a folder, those that are not there yet.
func (f *averageFlags) runCompare(cmd *cobra.Command) error {
	p, err := parallel.Abandonable(cmd.Context(), func(context.Context) (averaging.Problem, error) { return f.problem() })
	if err != nil {
		return err
	}
	c := &protocols.Comparison{Problem: p, Gossip: f.ofGossip(), DPPS: f.ofDPPS()}
	if c.PPAC, err = f.ofPPAC(p.Network.Graph); err != nil {
		return err
	}
	if rounds := protocols.ComparedRounds; p.Rounds == nil {
		c.Problem.Rounds = &rounds
	}
	if err := c.Check(); err != nil {
		return err
	}
	outcomes, _, err := grids.Study[protocols.Cell, protocols.Outcome]{Dir: f.Dir, Force: f.Force,
		Spec: results.ComparisonSpec(c), Cells: c.Cells(),
		Do: func(ctx context.Context, cell protocols.Cell) (protocols.Outcome, error) {
			return parallel.Abandonable(ctx, func(ctx context.Context) (protocols.Outcome, error) { return c.Do(ctx, cell) })
		},
		Files: results.ComparisonFiles(c, f.style), Cell: "protocol", Command: cmd}.Run(cmd.Context(), f.runner, f.bar)
	if err != nil {
		return err
	}
	r := results.CompareProtocols(c, outcomes)
	return f.show(cmd, r, r.Document(p.Network.Line()))
}

// drawPapers draws the figures of the papers that have averaging.
func (f *averageFlags) drawPapers(cmd *cobra.Command) error {
	if err := results.CheckFolder(f.Dir, "ppac-figure-3.png", f.Force); err != nil {
		return err
	}
	p, err := protocols.RunPapers(cmd.Context(), f.network.Seed)
	if err != nil {
		return err
	}
	written, err := results.WritePictures(f.Dir, figures.Papers(p), f.Force, f.style)
	if !f.Quiet {
		err = cmp.Or(sayWritten(cmd.OutOrStdout(), written), err)
	}
	return err
}
