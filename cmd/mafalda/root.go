package main

import (
	"context"
	"io"

	"mafalda/internal/cli"

	"github.com/spf13/cobra"
)

func newRootCmd() *cobra.Command {
	root := &cobra.Command{
		Use:   "mafalda",
		Short: "Optimal noise correlations for differentially private decentralized learning",
		Long: `mafalda computes how the nodes of a network should correlate their privacy noise over time, proves how close to
optimal the result is, and exports it for the nodes to load. Whole numbers may be written 1e6.`,
		Example: `  mafalda optimize --graph florentine --T 380 -o out
  mafalda verify out
  mafalda graph barabasi:1000,3
  mafalda epsilon --mu 1 --delta 1e-6`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	root.AddCommand(newOptimizeCmd(), newAdviseCmd(), newVerifyCmd(), newSamplingCmd(), newBenchmarkCmd(), newBenchSelfCmd(), newPlotCmd(),
		newReportCmd(),
		newAccountCmd(), newAuditCmd(), newNoiseCmd(), newKeysCmd(), newSimulateCmd(), newAverageCmd(), newPartPSPCmd(),
		newGraphCmd(), newEpsilonCmd(), newMergeCmd(), newStatusCmd(),
		newVersionCmd())
	return root
}

// run executes the command line and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.Run(ctx, newRootCmd(), args, stdout, stderr)
}
