package commands

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/grids"
	"mafalda/cmd/internal/results"
	"mafalda/cmd/internal/terminal"
	"mafalda/export"
	"mafalda/internal/limits"
	"mafalda/internal/parallel"
	"mafalda/optim"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/strategy"
	"mafalda/workload"
)

func (f *optimizeFlags) run(cmd *cobra.Command) error {
	p, o, err := f.problem(cmd)
	if err != nil {
		return err
	}
	layers, err := f.layers(cmd, &o)
	if err != nil {
		return err
	}
	check := func() error {
		if err := p.Check(o); err != nil || f.shard.IsPart() {
			return err
		}
		return p.CheckExport(o, f.Dir, f.write)
	}
	if err := check(); err != nil { // before a large network is read
		return err
	}
	if p.Workload.Kind == workload.Prefix {
		err = refuseNetwork(cmd, o.Sampling == participation.Bins)
	} else if p.Network, p.Others, err = f.network.LoadAll(); err == nil {
		err = completeProblem(cmd.Context(), &p, check)
	}
	if err != nil {
		return err
	}
	progress := terminal.NewProgress(cmd.ErrOrStderr(), f.Quiet || f.verbose)
	o.Progress = f.progress(cmd.ErrOrStderr(), progress)
	if n := p.Network; n != nil {
		f.Note(cmd)(n.Notes...)
	}
	if layers != nil {
		layers.Problem, layers.Options, layers.Progress = p, o, progress
		o.Parts = layers.Solve
	}
	garbage := 12 // percent: few objects, nearly all of them matrices, cheap to look through
	if p.Schema.Steps() > strategy.LongSteps {
		garbage = 100 // no matrix of T×T, and the names of a million nodes
	}
	defer limits.Collect(garbage)()
	s, err := plan.Solve(cmd.Context(), p, o)
	progress.Clear()
	switch {
	case err != nil:
		return err
	case f.shard.IsPart() && cmd.Context().Err() != nil:
		return terminal.ErrInterrupted
	case f.shard.IsPart():
		if s.Split != nil {
			layers.Done()
		}
		return nil
	}
	return f.finish(cmd, s)
}

// layers returns the grid of the strategies of nodes or groups, where a shard or merge is asked for; else nil. Merge exports into a
// folder of its own, which it replaces.
func (f *optimizeFlags) layers(cmd *cobra.Command, o *plan.Options) (*grids.Layers, error) {
	if err := f.shard.Parse(cmd, f.runner, f.Dir); err != nil {
		return nil, err
	}
	if !f.shard.IsPart() && !f.runner.Merging {
		return nil, nil
	}
	switch {
	case !o.PerNode && o.Groups == 0:
		return nil, terminal.Usagef("--shard is for --strategy per-node and groups: one strategy is found by one search")
	case o.Checkpoint != "":
		return nil, terminal.Usagef("--shard keeps what it finds in the folder of -o: leave out --checkpoint")
	}
	layers := &grids.Layers{Runner: f.runner, Dir: f.Dir, Shard: &f.shard}
	if f.runner.Merging {
		f.Dir, f.write.Force = filepath.Join(f.Dir, grids.ExportName), true
	} else {
		o.NoBaselines = true // they are of the export
	}
	return layers, nil
}

// completeProblem completes a problem whose network has been loaded, and checks it again.
func completeProblem(ctx context.Context, p *plan.Problem, check func() error) (err error) {
	if p.Workload, err = p.Workload.On(p.Network); err != nil {
		return err
	}
	if sharing, n := p.Sharing, p.Network; sharing != nil { // which reads files
		p.Sharing, err = parallel.Abandonable(ctx, func(context.Context) (*plan.Sharing, error) { return sharing.Resolve(n) })
		if err != nil {
			return err
		}
	}
	if p.Levels != nil {
		if p.Levels, err = p.Levels.Resolve(p.Network); err != nil {
			return err
		}
	}
	return check()
}

// refuseNetwork rejects network flags for the prefix workload. The seed may be one of samples.
func refuseNetwork(cmd *cobra.Command, sampled bool) error {
	names := []string{"graph", "gossip", "graph-changes sequence"}
	if !sampled {
		names = append(names, "seed")
	}
	return terminal.Refuse(cmd, "the prefix workload has no network: leave out --%s", names...)
}

// progress returns the callback that draws Solve's progress.
func (f *optimizeFlags) progress(stderr io.Writer, bar *terminal.Progress) func(plan.Event) {
	phase := ""
	return func(e plan.Event) {
		if e.Phase != phase {
			bar.Clear()
			phase = e.Phase
		}
		switch it := e.Iteration; {
		case e.Warning:
			fmt.Fprintf(stderr, "warning: %s\n", e.Note)
		case e.Note != "" && !f.Quiet:
			fmt.Fprintln(stderr, e.Note)
		case e.Note != "":
		case it == nil:
			bar.Show(e.Fraction, e.Phase)
		default:
			loss, gap := terminal.DecimalUp(it.Loss, 10), terminal.DecimalUp(it.Gap, 3)
			if f.verbose {
				fmt.Fprintf(stderr, "%siteration %3d  loss %s  bound %s  gap %s\n", searchPrefix(e), it.Count, loss,
					terminal.DecimalDown(it.LowerBound, 10), gap)
			}
			bar.Show(e.Fraction, fmt.Sprintf("%siteration %d, loss %s, gap %s", searchPrefix(e), it.Count,
				terminal.DecimalUp(it.Loss, 6), terminal.DecimalUp(it.Gap, 2)))
		}
	}
}

// searchPrefix returns the name of an iteration's search with a colon, empty for the optimum.
func searchPrefix(e plan.Event) string {
	if e.Phase == "optimum" {
		return ""
	}
	return e.Phase + ": "
}

// finish exports and prints what was computed.
func (f *optimizeFlags) finish(cmd *cobra.Command, s *plan.Solution) error {
	incomplete := f.incomplete(cmd.Context(), s)
	f.write.Command = f.runner.CommandOf(cmd)
	if f.Dir != "" && (incomplete == nil || f.keepPartial) {
		if err := s.Export(f.Dir, f.write); err != nil {
			return err
		}
	}
	w, m := cmd.OutOrStdout(), s.Manifest()
	switch {
	case f.JSON:
		if err := m.WriteJSON(w); err != nil {
			return err
		}
	case !f.Quiet:
		d := results.ExportDocument(m, s, f.privacy.Adjacency.String())
		if m.Files != nil {
			text := fmt.Sprintf("%s (check it with: mafalda verify %s%s)", f.Dir, terminal.Shown(f.Dir), f.networkFiles(s.Problem))
			if m.TooLargeForGossip() {
				text += fmt.Sprintf("\nwithout W, which has more than %d entries: 'mafalda graph SPEC -o DIR' writes it",
					export.MaxGossipEntries)
			}
			d.Fact("written", "%s", text)
		} else if f.Dir == "" {
			d.Fact("written", "nothing: use -o FOLDER to export the strategy")
		}
		if err := d.Text(w); err != nil {
			return err
		}
	}
	return incomplete
}

// incomplete returns the error of a run that did not reach its tolerance, or nil.
func (f *optimizeFlags) incomplete(ctx context.Context, s *plan.Solution) error {
	hint, end := "", s.Ending
	if f.Dir != "" && !f.keepPartial {
		hint = "; nothing exported (use --keep-partial to export the best strategy so far)"
	}
	after := fmt.Sprintf("after %d iterations with a gap of %s", end.Iterations, terminal.DecimalUp(end.Gap, 2))
	if s.Options.Sampling == participation.Bins { // the gap belongs to the optimum to compare with
		after = fmt.Sprintf("after %s", terminal.Count(len(s.Candidates), "candidate"))
	}
	switch {
	case s.Optimum == nil || end.Status == optim.Converged && ctx.Err() == nil:
		return nil
	case end.Status == optim.Interrupted || ctx.Err() != nil:
		return fmt.Errorf("%w %s%s", terminal.ErrInterrupted, after, hint)
	}
	return fmt.Errorf("%v %s, above the tolerance %g%s", end.Status, after, s.Options.Tolerance, hint)
}
