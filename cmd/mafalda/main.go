// Command mafalda computes optimal noise correlations for differentially private decentralized learning.
package main

import (
	"context"
	"os"
	"runtime/debug"

	"mafalda/internal/cli"
	"mafalda/internal/limits"
	"mafalda/optim"
)

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50) // matrices are made once and kept: half the memory at hardly more time
	}
	limits.Soften()
	optim.UseKernels()
	go cli.EndOnSignals()
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}
