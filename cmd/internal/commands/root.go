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

// often are the flags that the help of commands with many of them begins with.
var often = map[string]string{
	"account":   "graph T participations attacker algorithm export trust reaction sigma delta output json",
	"advise":    "graph T participations epsilon delta trust sampling missed-steps unit memory output json",
	"audit":     "graph T participations attacker victim algorithm export trust runs sampling run json",
	"average":   "graph protocol compare rounds values noise-std push-sum observer victim output json",
	"noise":     "node dim state new row steps format stop-at output seed",
	"optimize":  "graph T participations gossip epsilon delta strategy sampling trust optimizer output json",
	"partpsp":   "task networks laplace-b shared push-sum seeds output json",
	"sampling":  "graph T participations separation epsilon delta output json",
	"benchmark": "graph only workloads T participations epsilon output json",
	"simulate":  "task graph T participations methods mu epsilon seeds tune sampling optimizer output json",
}

// newRootCmd returns the command mafalda, whose grids are run for a runner.
func newRootCmd(runner *grids.Runner) *cobra.Command {
	var asked bool
	root := &cobra.Command{
		Use:   "mafalda",
		Short: "Optimal noise correlations for differentially private decentralized learning",
		Long: `mafalda computes how the nodes of a network should correlate their privacy noise over time, proves how close to
optimal the result is, and exports it for the nodes to load. Whole numbers may be written 1e6.`,
		Example: `  mafalda advise --graph florentine --T 380 --epsilon 2 --delta 1e-6 --memory dim=1e6
  mafalda optimize --graph florentine --T 380 -o out
  mafalda verify out
  mafalda graph barabasi:1000,3
  mafalda epsilon --mu 1 --delta 1e-6`,
		Annotations:   flags.Renamed(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          terminal.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asked {
				return printVersion(cmd.OutOrStdout(), false)
			}
			return cmd.Help()
		},
	}
	root.CompletionOptions.DisableNoDescFlag = true
	root.Flags().BoolVar(&asked, "version", false, "print the version")
	for _, g := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Choose and make a strategy", []*cobra.Command{newAdviseCmd(runner), newOptimizeCmd(runner), newVerifyCmd(), newPlotCmd(), newReportCmd()}},
		{"Privacy", []*cobra.Command{NewAccount(runner), newAuditCmd(runner), newSmoothnessCmd(), newEpsilonCmd(), newSamplingCmd(runner)}},
		{"At a node", []*cobra.Command{newNoiseCmd(), newKeysCmd()}},
		{"Experiments", []*cobra.Command{NewSimulate(runner), NewBenchmark(runner), newAverageCmd(runner), newPartPSPCmd(runner), newGraphCmd()}},
		{"Several processes or machines", []*cobra.Command{newSubmitCmd(), newStatusCmd(), newMergeCmd()}},
	} {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.title
			c.Annotations = map[string]string{terminal.Often: often[c.Name()]}
			root.AddCommand(c)
		}
	}
	root.AddCommand(newVersionCmd(), terminal.NewManCmd(), terminal.NewDescribeCmd(), terminal.NewTidyCmd())
	return root
}

// Main is the program mafalda: it runs a command line, and returns the exit code.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	limits.Collect(50) // matrices are made once and kept: half the memory at hardly more time
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
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  mafalda version --json",
		Args:    terminal.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return printVersion(cmd.OutOrStdout(), asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func printVersion(w io.Writer, asJSON bool) error {
	if asJSON {
		return terminal.WriteJSONLine(w, map[string]string{"version": version.String(), "go": runtime.Version(),
			"platform": runtime.GOOS + "/" + runtime.GOARCH})
	}
	_, err := fmt.Fprintf(w, "mafalda %s (%s, %s/%s)\n", version.String(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
