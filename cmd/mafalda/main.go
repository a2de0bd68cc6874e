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

// abandonable runs work that does nothing but compute, and leaves it behind when the context ends: loading a large
// graph, say, looks at no context.
func abandonable[T any](ctx context.Context, work func(ctx context.Context) (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := work(ctx)
		done <- outcome{value, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}
