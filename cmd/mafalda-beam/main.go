// Command mafalda-beam runs the grids of mafalda on the engines of Apache Beam: see docs/cluster.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	beamlog "github.com/apache/beam/sdks/v2/go/pkg/beam/log"

	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/terminal"
	"mafalda/cmd/mafalda-beam/engine"
	"mafalda/internal/limits"
	"mafalda/optim"
)

func main() {
	beamlog.LogLevel = "error"
	limits.Collect(50) // as mafalda does
	limits.Soften()
	optim.UseKernels()
	if slices.ContainsFunc(os.Args[1:], func(a string) bool { return a == "--worker" || a == "--worker=true" }) {
		work()
		return
	}
	go terminal.EndOnSignals()
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// work is the program as a runner starts it on its machines.
func work() {
	if os.Getenv(engine.OfPool) != "" {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin) // open as long as the pool is there
			os.Exit(1)
		}()
	}
	flag.Parse()
	beam.Init() // works until the runner says that it is enough
}

// run executes the command line and returns the exit code. What follows -- are options of Beam's own.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	own, options := args, []string(nil)
	if at := slices.Index(args, "--"); at >= 0 {
		own, options = args[:at], args[at+1:]
	}
	flag.CommandLine.Init("mafalda-beam", flag.ContinueOnError)
	flag.CommandLine.SetOutput(io.Discard)
	flag.CommandLine.Usage = func() {}
	if err := flag.CommandLine.Parse(options); err != nil || flag.NArg() > 0 {
		if err == nil {
			err = fmt.Errorf("unknown argument %q", flag.Arg(0))
		}
		text, _, _ := strings.Cut(err.Error(), "\n")
		fmt.Fprintf(stderr, "mafalda-beam: options of Beam, after --: %s\n", text)
		return terminal.ExitUsage
	}
	beam.Init()
	slog.SetDefault(slog.New(slog.DiscardHandler)) // what fails is in errors; --verbose shows the rest
	return terminal.Run(ctx, newRootCmd(own), own, stdout, stderr, flags.Explain)
}
