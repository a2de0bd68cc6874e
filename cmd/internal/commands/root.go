package commands

import (
	"context"
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/grids"
	"mafalda/cmd/internal/terminal"
	"mafalda/internal/limits"
	"mafalda/internal/version"
	"mafalda/optim"
)

// runnable is what the flags of a command fill, and what then runs it.
type runnable interface {
	run(cmd *cobra.Command) error
}

// newCommand returns the command of a page of package flags. Ctrl-C ends the program.
func newCommand(page string, f runnable) *cobra.Command {
	return flags.Command(page, f, func(cmd *cobra.Command, _ []string) error { return f.run(cmd) })
}

// newPatientCommand returns the command of a page which Ctrl-C interrupts: it ends by itself, and keeps what it can.
func newPatientCommand(page string, f runnable) *cobra.Command {
	return flags.Command(page, f, terminal.UntilInterrupted(f.run))
}

// newRootCmd returns the command mafalda, whose grids are run for a runner.
func newRootCmd(runner *grids.Runner) *cobra.Command {
	var f struct{ asked bool }
	root := flags.Command("mafalda", &f, func(cmd *cobra.Command, _ []string) error {
		if f.asked {
			return printVersion(cmd.OutOrStdout(), false)
		}
		return cmd.Help()
	})
	root.SilenceUsage, root.SilenceErrors = true, true
	root.CompletionOptions.DisableNoDescFlag = true
	to := outcomeFlags{runner: runner}
	for _, g := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Choose and make a strategy", []*cobra.Command{newPatientCommand("advise", &adviseFlags{outcomeFlags: to}),
			newPatientCommand("optimize", &optimizeFlags{runner: runner}), newCommand("verify", new(verifyFlags)),
			newPatientCommand("plot", new(plotFlags)), newPatientCommand("report", new(reportFlags))}},
		{"Privacy", []*cobra.Command{NewAccount(runner), newAuditCmd(runner), newCommand("smoothness", new(smoothnessFlags)),
			newCommand("epsilon", new(epsilonFlags)), newCommand("spent", new(trainingFlags)), newPatientCommand("sampling", &samplingFlags{outcomeFlags: to})}},
		{"At a node", []*cobra.Command{newNoiseCmd(), newKeysCmd()}},
		{"Experiments", []*cobra.Command{NewSimulate(runner), NewBenchmark(runner), newPatientCommand("average", &averageFlags{outcomeFlags: to}),
			newPatientCommand("partpsp", &partFlags{outcomeFlags: to}), newGraphCmd()}},
		{"Several processes or machines", []*cobra.Command{newSubmitCmd(), newStatusCmd(), newCommand("merge", new(mergeFlags))}},
	} {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.title
			root.AddCommand(c)
		}
	}
	root.AddCommand(newVersionCmd(), terminal.NewDescribeCmd())
	return root
}

// Main is the program mafalda: it runs a command line, and returns the exit code.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	runtime.MemProfileRate = 0 // which --memprofile changes: every collection would go through all samples of allocations
	limits.Collect(50)         // matrices are made once and kept: half the memory at hardly more time
	limits.Soften()
	optim.UseKernels()
	go terminal.EndOnSignals()
	return run(ctx, args, stdout, stderr)
}

// run executes the command line and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return terminal.Run(ctx, newRootCmd(&grids.Runner{Words: args}), args, stdout, stderr, flags.Explain)
}

func newVersionCmd() *cobra.Command {
	var f struct{ JSON bool }
	return flags.Command("version", &f, func(cmd *cobra.Command, _ []string) error { return printVersion(cmd.OutOrStdout(), f.JSON) })
}

func printVersion(w io.Writer, asJSON bool) error {
	if asJSON {
		return terminal.WriteJSONLine(w, map[string]string{"version": version.String(), "go": runtime.Version(),
			"platform": runtime.GOOS + "/" + runtime.GOARCH})
	}
	_, err := fmt.Fprintf(w, "mafalda %s (%s, %s/%s)\n", version.String(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
