// Command mafalda computes optimal noise correlations for differentially private decentralized learning.
package main

import (
	"context"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"mafalda/internal/limits"
)

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50) // matrices are made once and kept: half the memory at hardly more time
	}
	limits.Soften()
	go endOnSignals()
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// untilInterrupted runs a command without arguments under an interruptible context.
func untilInterrupted(run func(cmd *cobra.Command) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		ctx, stop := interruptible(cmd.Context())
		defer stop()
		cmd.SetContext(ctx)
		return run(cmd)
	}
}
