// Command mafalda computes optimal noise correlations for differentially private decentralized learning.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr)) }

// interruptible returns a context that the first Ctrl-C ends, for commands that have something to save; the second one
// ends the program. Commands that do not ask for it are ended by the first.
func interruptible(parent context.Context) (context.Context, func()) {
	ctx, stop := signal.NotifyContext(parent, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
