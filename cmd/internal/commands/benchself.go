package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"mafalda/benchmarks"
	"mafalda/cmd/internal/terminal"
	"mafalda/export"
	"mafalda/graph"
	"mafalda/internal/files"
	"mafalda/internal/gemm"
	"mafalda/internal/version"
)

type benchSelfFlags struct {
	runs               int
	large, json, quiet bool
}

// selfArgs are the arguments that have this program solve a problem.
func selfArgs(p benchmarks.SelfProblem) []string {
	source := p.Graph
	if p.FromFile {
		source = selfGraph
	}
	args := []string{"optimize", "--graph", source, "--json", "-o", "out", "--quiet", "--force",
		"--T", strconv.Itoa(p.Steps)}
	if p.Participations > 0 {
		args = append(args, "-k", strconv.Itoa(p.Participations))
	}
	if p.Class != "" {
		args = append(args, "--strategy", p.Class)
	}
	if !p.Baselines {
		args = append(args, "--no-baselines")
	}
	return args
}

// selfGraph is the file of a graph that is made first.
const selfGraph = "graph.edges"

func newBenchSelfCmd() *cobra.Command {
	f := benchSelfFlags{runs: 5}
	cmd := &cobra.Command{
		Use:   "bench-self",
		Short: "Measure this program on this machine",
		Long: `Run this program on problems of several sizes, and print the median time, the peak memory and the certified gap of each. Time is
that of the whole program: reading or making the graph, Gram matrix, optimum, certificate, export.`,
		Example: `  mafalda bench-self              # a minute
  mafalda bench-self --large      # T = 2048, a million nodes, a hundred thousand steps, too: a quarter of an hour, 2 GB
  go test ./benchmarks ./internal/gemm ./simulate ./noise -run xxx -bench . -count 6 > new.txt     # and: benchstat old.txt new.txt`,
		Args: terminal.NoArgs,
		RunE: terminal.UntilInterrupted(f.run),
	}
	fl := cmd.Flags()
	fl.Var((*terminal.WholeNumber)(&f.runs), "runs", "runs of each problem, of which the median counts (large ones: 1)")
	fl.BoolVar(&f.large, "large", false, "the large problems, too")
	fl.BoolVar(&f.json, "json", false, "print one JSON object instead of the table")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "print errors only (and the JSON, with --json)")
	return cmd
}

func (f *benchSelfFlags) run(cmd *cobra.Command) error {
	if f.runs < 1 {
		return terminal.Usagef("--runs %d: must be at least 1", f.runs)
	}
	dir, err := os.MkdirTemp("", "mafalda-bench-self")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	tooLarge := func(p benchmarks.SelfProblem) bool { return p.Large && !f.large }
	problems := slices.DeleteFunc(benchmarks.SelfProblems(), tooLarge)
	bar := terminal.NewProgress(cmd.ErrOrStderr(), f.quiet)
	var rows []benchmarks.SelfRow
	made := ""
	for i, p := range problems {
		at := func(part float64) float64 { return (float64(i) + part) / float64(len(problems)) }
		if p.FromFile && p.Graph != made {
			bar.Show(at(0), "making "+p.Graph)
			if err := writeGraph(filepath.Join(dir, selfGraph), p.Graph); err != nil {
				return err
			}
			made = p.Graph
		}
		row, err := f.measure(cmd.Context(), p, dir, func(part float64) { bar.Show(at(part), p.Name) })
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	bar.Clear()
	return f.print(cmd.OutOrStdout(), rows)
}

// writeGraph makes a built-in graph, as an edge list.
func writeGraph(path, spec string) error {
	g, _, err := graph.ByName(spec, graph.BuiltinOptions{})
	if err != nil {
		return err
	}
	return files.WriteFile(path, func(w io.Writer) error { return graph.WriteEdges(w, g) }, true)
}

// measure solves a problem as often as is asked for, and hands the part of that which is done to progress.
func (f *benchSelfFlags) measure(ctx context.Context, p benchmarks.SelfProblem, dir string,
	progress func(part float64)) (benchmarks.SelfRow, error) {
	row := benchmarks.SelfRow{Problem: p.Name, Runs: f.runs}
	if p.Large {
		row.Runs = 1
	}
	var times []float64
	for run := range row.Runs {
		progress(float64(run) / float64(row.Runs))
		m, seconds, err := runSelf(ctx, dir, selfArgs(p))
		if err == nil {
			err = row.Note(m)
		}
		if ctx.Err() != nil {
			return row, context.Cause(ctx)
		}
		if err != nil {
			return row, fmt.Errorf("%s: %w", p.Name, err)
		}
		times = append(times, seconds)
	}
	slices.Sort(times)
	row.Seconds = times[len(times)/2]
	return row, nil
}

// runSelf runs this program in a folder, and returns the manifest it prints and how long it took.
func runSelf(ctx context.Context, dir string, args []string) (*export.Manifest, float64, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, 0, fmt.Errorf("finding this program: %w", err)
	}
	c := exec.CommandContext(ctx, self, args...)
	c.Dir = dir
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	started := time.Now()
	if err := c.Run(); err != nil {
		return nil, 0, fmt.Errorf("%w: %s", err, bytes.TrimSpace(errs.Bytes()))
	}
	seconds := time.Since(started).Seconds()
	var m export.Manifest
	err = json.Unmarshal(out.Bytes(), &m)
	return &m, seconds, err
}

func (f *benchSelfFlags) print(w io.Writer, rows []benchmarks.SelfRow) error {
	if f.json {
		return terminal.WriteJSON(w, map[string]any{"version": version.String(), "kernels": gemm.Name(),
			"processors": runtime.GOMAXPROCS(0), "rows": rows})
	}
	if f.quiet {
		return nil
	}
	var lines [][]string
	short := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return terminal.DecimalUp(*v, 2)
	}
	for _, r := range rows {
		lines = append(lines, []string{r.Problem, strconv.Itoa(r.Runs), fmt.Sprintf("%.2f s", r.Seconds),
			terminal.BytesText(float64(r.PeakBytes)), short(r.Gap), short(r.Excess)})
	}
	fmt.Fprintf(w, "%s kernels, %d processors, %s/%s\n", gemm.Name(), runtime.GOMAXPROCS(0), runtime.GOOS, runtime.GOARCH)
	return terminal.Table(w, []string{"problem", "runs", "time", "memory", "gap", "excess bound"}, lines)
}
