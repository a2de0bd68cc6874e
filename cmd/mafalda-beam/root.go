package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	beamlog "github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	// Runners are known by being imported.
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/dataflow"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/flink"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/spark"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal"
	"github.com/spf13/cobra"

	"mafalda/cmd/internal/grids"
	"mafalda/cmd/internal/terminal"
	"mafalda/cmd/mafalda-beam/engine"
	"mafalda/internal/version"
)

const (
	prism        = "prism"
	prismWarning = "warning: Prism listens on all addresses of this machine while it runs, and does what anybody says " +
		"who reaches it: docs/cluster.md\n"
)

func runners() []string { return []string{prism, "universal", "flink", "spark", "dataflow"} }

// where are the flags that say where cells are computed. It is the engine of all commands.
type where struct {
	runner, endpoint, workers, address string
	jobs                               int
	verbose                            bool
	warn                               func() // warns that Prism runs in this process
}

// newRootCmd returns the command mafalda-beam for the arguments of the program.
func newRootCmd(arguments []string) *cobra.Command {
	w := new(where)
	root := &cobra.Command{
		Use:   "mafalda-beam",
		Short: "The grids of mafalda on Apache Beam",
		Long: `mafalda-beam account, simulate and benchmark are the commands of mafalda, with the same flags, output and files, byte
for byte. Their cells are the elements of a Beam pipeline. Without --endpoint it runs here, on Beam's own runner Prism.

Workers need no files of this machine: they get the bytes of all files that the command names from this program, at
--address, and bring it their results. Cells that have a result in the folder of -o are not computed again, so that what
was interrupted goes on, whatever computed it before. What follows -- are options of Beam's own.

Prism listens on all addresses of the machine while it runs, and does what anybody says who reaches it: see docs/cluster.md.`,
		Example: `  mafalda-beam account --graph ego.edges --T 100 --attacker all -o who
  mafalda-beam workers --listen localhost:50000 &
  mafalda-beam account --graph ego.edges --T 100 --attacker all -o who --endpoint localhost:8073 --workers localhost:50000
  mafalda-beam simulate --seeds 20 -o runs --runner flink --endpoint flink:8099 --address 10.0.0.7:0 -- --parallelism=9`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version.String(),
		Args:          terminal.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, cmd := range engine.Commands(&grids.Runner{Words: arguments, Engine: w}) {
		w.bind(cmd)
		root.AddCommand(cmd)
	}
	root.AddCommand(newWorkersCmd())
	return root
}

const group = "Beam"

// bind adds the flags to a command, and has them checked before it runs.
func (w *where) bind(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&w.runner, "runner", prism, "of Beam: "+strings.Join(runners(), ", "))
	fl.StringVar(&w.endpoint, "endpoint", "", "`HOST:PORT` of the runner's job service (default: Prism in this process)")
	fl.StringVar(&w.workers, "workers", "",
		"`HOST:PORT` where 'mafalda-beam workers' listens, as the runner sees it (default: this process computes)")
	fl.StringVar(&w.address, "address", "127.0.0.1:0",
		"`HOST:PORT` of this machine where workers find this program; port 0 is any that is free")
	w.jobs = 1
	fl.Var((*terminal.WholeNumber)(&w.jobs), "jobs",
		"deal the cells to so many pipelines, for runners that give each one worker, as Prism does")
	fl.BoolVar(&w.verbose, "verbose", false, "print what Beam and its runner have to say")
	names := []string{"runner", "endpoint", "workers", "address", "jobs", "verbose"}
	terminal.GroupFlags(cmd, group, names...)
	grids.MarkEngineFlags(cmd, names...)
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := w.check(); err != nil {
			return err
		}
		w.warn = func() {}
		if quiet := cmd.Flags().Lookup("quiet"); quiet == nil || !quiet.Changed {
			w.warn = func() {
				fmt.Fprint(cmd.ErrOrStderr(), prismWarning)
			}
		}
		return run(cmd, args)
	}
}

func (w *where) check() error {
	switch {
	case !slices.Contains(runners(), w.runner):
		return terminal.Usagef("--runner %s: must be one of %s", w.runner, strings.Join(runners(), ", "))
	case w.endpoint == "" && w.runner != prism && w.runner != "dataflow":
		return terminal.Usagef("--runner %s needs --endpoint: where its job service is", w.runner)
	case w.jobs < 1:
		return terminal.Usagef("--jobs %d: must be at least 1", w.jobs)
	case w.jobs > 1 && w.endpoint == "":
		return terminal.Usagef("--jobs is for a runner with --endpoint: in this process, there is one worker")
	case w.workers != "" && flag.Lookup("environment_type").Value.String() != "":
		return terminal.Usagef("--workers and Beam's --environment_type: only one of them")
	}
	for _, a := range []struct{ name, value string }{{"endpoint", w.endpoint}, {"workers", w.workers}, {"address", w.address}} {
		if a.value == "" && a.name != "address" {
			continue
		}
		if host, _, err := net.SplitHostPort(a.value); err != nil || host == "" {
			return terminal.Usagef("--%s %q: must be host:port", a.name, a.value)
		}
	}
	if host, _, _ := net.SplitHostPort(w.address); net.ParseIP(host).IsUnspecified() {
		return terminal.Usagef("--address %s: must be an address of this machine that workers know", w.address)
	}
	return nil
}

// Compute tells Beam where to compute, and computes.
func (w *where) Compute(ctx context.Context, g *grids.Grid) error {
	if err := w.reach(ctx); err != nil {
		return err
	}
	if w.endpoint == "" && w.runner == prism {
		w.warn()
	}
	if w.verbose {
		beamlog.SetupLogging("info", "text")
	}
	temporary, err := os.MkdirTemp("", "mafalda-beam-") // Beam leaves files there
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	defer os.Setenv("TMPDIR", os.Getenv("TMPDIR"))
	if err := os.Setenv("TMPDIR", temporary); err != nil {
		return err
	}
	options, err := w.options(temporary)
	if err != nil {
		return err
	}
	for name, value := range options {
		if err := flag.Set(name, value); err != nil {
			return err
		}
	}
	e := &engine.Engine{Runner: w.runner, Address: w.address, Jobs: w.jobs}
	return e.Compute(ctx, g)
}

// reach finds out whether a server listens where Beam would wait for ever, or panic.
func (w *where) reach(ctx context.Context) error {
	const patience = 10 * time.Second
	name, address := "endpoint", w.endpoint
	if w.endpoint == "" {
		name, address = "workers", w.workers // the runner that sees them is here
	}
	if address == "" || w.runner == "dataflow" {
		return nil
	}
	c, err := (&net.Dialer{Timeout: patience}).DialContext(ctx, "tcp", address)
	if err != nil {
		return terminal.Usagef("--%s: nobody is there: %w", name, err)
	}
	return c.Close()
}

// options are Beam's, as far as they follow from the flags: where workers run, and the program that they are.
func (w *where) options(temporary string) (map[string]string, error) {
	given := func(name string) bool { return flag.Lookup(name).Value.String() != "" }
	all := map[string]string{"endpoint": w.endpoint}
	switch {
	case w.workers != "": // they have the program
		none := filepath.Join(temporary, "worker")
		if err := os.WriteFile(none, nil, 0o600); err != nil {
			return nil, err
		}
		all["environment_type"], all["environment_config"], all["worker_binary"] = "EXTERNAL", w.workers, none
	case w.runner != "dataflow" && !given("environment_type"):
		all["environment_type"] = "LOOPBACK"
	case !given("worker_binary"):
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		all["worker_binary"] = self
	}
	return all, nil
}

func newWorkersCmd() *cobra.Command {
	var listen string
	cmd := &cobra.Command{
		Use:   "workers",
		Short: "Start workers on this machine when a runner asks for them",
		Long: `Listen for runners, and start a worker, which is a process of its own, for each that they ask for: Beam's environment
EXTERNAL. Workers end with their pipelines, or with this program. Whoever reaches the port can have work done: choose an
address that only your runner reaches.`,
		Example: `  mafalda-beam workers --listen localhost:50000`,
		Args:    terminal.NoArgs,
		RunE: terminal.UntilInterrupted(func(cmd *cobra.Command) error {
			l, err := net.Listen("tcp", listen)
			if err != nil {
				return terminal.Usagef("--listen: %w", err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "listening on %s\n", l.Addr())
			return engine.Serve(cmd.Context(), l, cmd.ErrOrStderr())
		}),
	}
	cmd.Flags().StringVar(&listen, "listen", "localhost:50000", "`HOST:PORT` for runners")
	return cmd
}
