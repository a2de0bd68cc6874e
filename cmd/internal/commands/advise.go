package commands

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/figures"
	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/grids"
	"mafalda/cmd/internal/results"
	"mafalda/cmd/internal/terminal"
	"mafalda/internal/files"
	"mafalda/plan"
	"mafalda/workload"
)

type adviseFlags struct {
	runner *grids.Runner

	network            flags.NetworkFlags
	workload           flags.WorkloadFlags
	schema             flags.SchemaFlags
	gram               gramFlags
	privacy            flags.PrivacyFlags
	budget             flags.BudgetFlags
	out                string
	force, json, quiet bool
}

// adviceName names the results in a folder, with several endings.
const adviceName = "advice"

// ownFlags are the flags of advise that optimize does without, or has for something else.
func (f *adviseFlags) ownFlags() []string {
	return []string{"memory", "dim", "float32", "output", "force", "json", "quiet", "cpuprofile", "memprofile"}
}

func newAdviseCmd(runner *grids.Runner) *cobra.Command {
	f := adviseFlags{runner: runner}
	cmd := &cobra.Command{
		Use:   "advise",
		Short: "Say which strategy to take: memory at a node against error",
		Long: `Look at strategies of all classes for a network and a privacy, and say which one to take: a table of those that nothing with
as little memory at a node is better than, where batches are visited in turn and where they are drawn in secret, and the
command that computes and exports the best one. The error is the squared error with the noise for (epsilon, delta), which
compares strategies of any sensitivity and sampling. Memory is what a node keeps of its noise from step to step, for a
model of --dim parameters; --memory says what there is at most.

With -o, write advice.csv, advice.json and a picture.`,
		Example: `  mafalda advise --graph florentine --T 64 -k 4 --epsilon 8 --delta 1e-6 --dim 1e6
  mafalda advise --graph ego.edges --T 380 --epsilon 2 --delta 1e-6 --dim 1e6 --memory 100MB
  mafalda advise --graph ego.edges --T 380 --epsilon 2 --delta 1e-6 --dim 1e9 --float32 -o advice`,
		Args: terminal.NoArgs,
		RunE: terminal.UntilInterrupted(f.run),
	}
	f.network.BindGraph(cmd)
	f.network.BindGossip(cmd)
	f.workload.Bind(cmd, &f.network)
	f.schema.Bind(cmd)
	f.gram.bind(cmd)
	f.privacy.Bind(cmd)
	f.budget.Bind(cmd, "leave out strategies that keep more, such as 4GB")
	fl := cmd.Flags()
	fl.StringVarP(&f.out, "output", "o", "", "write table and picture to this `folder`")
	fl.BoolVar(&f.force, "force", false, "replace files that are there")
	fl.BoolVar(&f.json, "json", false, "print one JSON object instead of the table")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "print errors only (and the JSON, with --json)")
	return cmd
}

// problem returns what the flags ask for, but for the network.
func (f *adviseFlags) problem(cmd *cobra.Command) (p plan.Problem, o plan.Options, err error) {
	for _, choose := range []func() error{
		func() (err error) { p.Schema, err = f.schema.Choose(cmd); return err },
		func() (err error) { p.Workload, err = f.workload.Spec(cmd); return err },
		func() (err error) { p.Gram, err = f.gram.choose(cmd, f.network.Seed); return err },
		func() (err error) { o.Privacy, err = f.privacy.Choose(cmd); return err },
		func() (err error) { o.Budget, err = f.budget.ChooseAny(cmd); return err },
		func() error { return plan.CheckAdvice(p, o) },
	} {
		if err := choose(); err != nil {
			return p, o, err
		}
	}
	p.SchemaFile = f.schema.File()
	return p, o, nil
}

func (f *adviseFlags) run(cmd *cobra.Command) (err error) {
	p, o, err := f.problem(cmd)
	if err != nil {
		return err
	}
	if p.Workload.Kind == workload.Prefix {
		err = refuseNetwork(cmd, false)
	} else if p.Network, err = f.network.Load(); err == nil {
		p.Workload, err = p.Workload.On(p.Network)
	}
	if err != nil {
		return err
	}
	if err := f.checkFolder(); err != nil {
		return err
	}
	defer func() { results.RemoveIfEmpty(f.out, err) }()
	if n := p.Network; n != nil && !f.quiet {
		for _, note := range n.Notes {
			fmt.Fprintln(cmd.ErrOrStderr(), note)
		}
	}
	bar := terminal.NewProgress(cmd.ErrOrStderr(), f.quiet)
	o.Progress = func(e plan.Event) {
		bar.Stage(e.Phase)
		bar.Show(e.Fraction, e.Phase)
	}
	a, err := plan.Advise(cmd.Context(), p, o)
	bar.Clear()
	if err != nil {
		return err
	}
	return f.finish(cmd.OutOrStdout(), f.runner.CommandOf(cmd), a, results.AdviceResultOf(cmd, f.ownFlags(), a))
}

func (f *adviseFlags) checkFolder() error {
	if f.out == "" {
		return nil
	}
	if err := results.CheckPictures(f.out, []string{adviceName}, f.force); err != nil {
		return err
	}
	return results.CheckFolder(f.out, adviceName+".json", f.force)
}

// finish writes and prints the advice.
func (f *adviseFlags) finish(w io.Writer, command []string, a *plan.Advice, r *results.AdviceResult) error {
	var drawing error
	if f.out != "" {
		table := func(w io.Writer) error { return results.WriteAdviceCSV(w, r) }
		if err := files.WriteFile(filepath.Join(f.out, adviceName+".csv"), table, f.force); err != nil {
			return terminal.UsageIfExists(err)
		}
		if err := results.WriteResult(f.out, adviceName+".json", command, r, f.force); err != nil {
			return err
		}
		picture, err := figures.Advice(a)
		drawing = results.WritePictures(f.out, []figures.Named{{Name: adviceName, Figure: picture}}, err, f.force)
	}
	var err error
	switch {
	case f.json:
		err = terminal.WriteJSON(w, r)
	case !f.quiet:
		err = results.WriteAdvice(w, a, r, f.out)
	}
	return cmp.Or(err, drawing)
}
