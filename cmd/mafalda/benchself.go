package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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

	"mafalda/export"
	"mafalda/graph"
	"mafalda/internal/cli"
	"mafalda/internal/files"
	"mafalda/internal/gemm"
	"mafalda/internal/version"
)

type benchSelfFlags struct {
	runs               int
	large, json, quiet bool
}

// selfProblem is what the program measures itself with.
type selfProblem struct {
	name  string
	args  []string
	graph string // made first, as a file
	large bool
}

func selfProblems() []selfProblem {
	const ego, million = "barabasi:148,12", "barabasi:1000000,5"
	optimize := func(graph string, args ...string) []string {
		return append([]string{"optimize", "--graph", graph, "--json", "-o", "out"}, args...)
	}
	return []selfProblem{
		{"florentine, T = 380", optimize("florentine", "--T", "380", "--no-baselines"), "", false},
		{"148 nodes, T = 380", optimize(ego, "--T", "380", "--no-baselines"), "", false},
		{"148 nodes, T = 380, with baselines", optimize(ego, "--T", "380"), "", false},
		{"148 nodes, T = 380, BLT of 4 buffers", optimize(ego, "--T", "380", "--strategy", "blt", "--no-baselines"), "", false},
		{"4,039 nodes, T = 380", optimize("barabasi:4039,22", "--T", "380", "--no-baselines"), "", false},
		{"florentine, T = 1024", optimize("florentine", "--T", "1024", "-k", "16", "--no-baselines"), "", true},
		{"florentine, T = 2048", optimize("florentine", "--T", "2048", "-k", "32", "--no-baselines"), "", true},
		{"10⁶ nodes, 5·10⁶ edges, T = 1024", optimize("graph.edges", "--T", "1024", "-k", "16", "--no-baselines"), million, true},
		{"10⁶ nodes, T = 10⁵, BLT of 4 buffers", optimize("graph.edges", "--T", "100000", "-k", "100", "--strategy", "blt"), million, true},
	}
}

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
		Args: cli.NoArgs,
		RunE: cli.UntilInterrupted(f.run),
	}
	fl := cmd.Flags()
	fl.Var((*cli.WholeNumber)(&f.runs), "runs", "runs of each problem, of which the median counts (large ones: 1)")
	fl.BoolVar(&f.large, "large", false, "the large problems, too")
	fl.BoolVar(&f.json, "json", false, "print one JSON object instead of the table")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "print errors only (and the JSON, with --json)")
	return cmd
}

// selfRow is a measured problem.
type selfRow struct {
	Problem   string   `json:"problem"`
	Runs      int      `json:"runs"`
	Seconds   float64  `json:"seconds"` // median
	PeakBytes int64    `json:"peak_bytes"`
	Gap       *float64 `json:"gap,omitempty"`
	Excess    *float64 `json:"excess_bound,omitempty"`
	LossError *float64 `json:"loss_error,omitempty"`
}

func (f *benchSelfFlags) run(cmd *cobra.Command) error {
	if f.runs < 1 {
		return cli.Usagef("--runs %d: must be at least 1", f.runs)
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	dir, err := os.MkdirTemp("", "mafalda-bench-self")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	problems := slices.DeleteFunc(selfProblems(), func(p selfProblem) bool { return p.large && !f.large })
	bar := cli.NewProgress(cmd.ErrOrStderr(), f.quiet)
	var rows []selfRow
	made := ""
	for i, p := range problems {
		if p.graph != "" && p.graph != made {
			bar.Show(float64(i)/float64(len(problems)), "making "+p.graph)
			if err := writeGraph(filepath.Join(dir, "graph.edges"), p.graph); err != nil {
				return err
			}
			made = p.graph
		}
		runs := f.runs
		if p.large {
			runs = 1
		}
		var times []float64
		row := selfRow{Problem: p.name, Runs: runs}
		for run := range runs {
			bar.Show((float64(i)+float64(run)/float64(runs))/float64(len(problems)), p.name)
			seconds, err := p.measure(cmd.Context(), self, dir, &row)
			if err != nil {
				return err
			}
			times = append(times, seconds)
		}
		slices.Sort(times)
		row.Seconds = times[len(times)/2]
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

// measure runs the program once.
func (p selfProblem) measure(ctx context.Context, self, dir string, row *selfRow) (float64, error) {
	c := exec.CommandContext(ctx, self, append(slices.Clone(p.args), "--quiet", "--force")...)
	c.Dir = dir
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	started := time.Now()
	if err := c.Run(); err != nil {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		return 0, fmt.Errorf("%s: %w: %s", p.name, err, bytes.TrimSpace(errs.Bytes()))
	}
	seconds := time.Since(started).Seconds()
	var m export.Manifest
	if err := json.Unmarshal(out.Bytes(), &m); err != nil {
		return 0, fmt.Errorf("%s: %w", p.name, err)
	}
	row.PeakBytes = max(row.PeakBytes, m.PeakBytes)
	if m.LowerBound > 0 {
		row.Gap = &m.Gap
	}
	if m.Gram == nil {
		return 0, errors.New("no word of the Gram matrix")
	}
	row.Excess, row.LossError = m.Gram.ExcessBound, m.Gram.LossError
	return seconds, nil
}

func (f *benchSelfFlags) print(w io.Writer, rows []selfRow) error {
	if f.json {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(map[string]any{"version": version.String(), "kernels": gemm.Name(), "processors": runtime.GOMAXPROCS(0), "rows": rows})
	}
	if f.quiet {
		return nil
	}
	var lines [][]string
	short := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return cli.DecimalUp(*v, 2)
	}
	for _, r := range rows {
		lines = append(lines, []string{r.Problem, strconv.Itoa(r.Runs), fmt.Sprintf("%.2f s", r.Seconds), cli.BytesText(float64(r.PeakBytes)), short(r.Gap), short(r.Excess)})
	}
	fmt.Fprintf(w, "%s kernels, %d processors, %s/%s\n", gemm.Name(), runtime.GOMAXPROCS(0), runtime.GOOS, runtime.GOARCH)
	return cli.Table(w, []string{"problem", "runs", "time", "memory", "gap", "excess bound"}, lines)
}
