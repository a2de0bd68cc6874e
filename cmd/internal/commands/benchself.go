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
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mafalda/benchmarks"
	"mafalda/cmd/internal/terminal"
	"mafalda/export"
	"mafalda/graph"
	"mafalda/internal/files"
	"mafalda/internal/version"
)

type benchSelfFlags struct {
	runs, steps                           int
	large, against, markdown, json, quiet bool
	pythonProgram, mfdl                   string
	into                                  []string
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
	f := benchSelfFlags{runs: 5, steps: 380}
	cmd := &cobra.Command{
		Use:   "bench-self",
		Short: "Measure this program on this machine",
		Long: `Run this program on problems of several sizes, and print the median time, the peak memory and the certified gap
of each, with the date and the machine. Time is of the whole program: reading or making the graph, Gram matrix, optimum,
certificate, export; memory is of the run that needed most, each a process of its own.

With --against, look for one optimum with this program and with its peers in turns: jax_privacy, if --python has it, the
optimizer of MFDL, if --mfdl names a checkout, and numpy's products and factors beside this program's. The time of a peer
is its optimizer's alone, without start, graph and Gram matrix; this program's is the whole program's, with certificate
and export. A ratio is a time over this program's, the median of runs in turns. Peers that are not there are named, with
how to get them.

--into replaces what stands between the lines "<!-- bench-self -->" ("<!-- bench-self --against -->") and "<!-- end -->"
of a file by the table.`,
		Example: `  mafalda bench-self              # a minute
  mafalda bench-self --large      # T = 2048, a million nodes, a hundred thousand steps, too: half an hour, 2 GB
  mafalda bench-self --large --into README.md --into docs/performance.md
  mafalda bench-self --against --python venv/bin/python --mfdl MFDL --runs 3
  go test ./benchmarks ./internal/gemm ./simulate ./noise -run xxx -bench . -count 6 > new.txt`,
		Args: terminal.NoArgs,
		RunE: terminal.UntilInterrupted(f.run),
	}
	fl := cmd.Flags()
	fl.Var((*terminal.WholeNumber)(&f.runs), "runs",
		"runs of each problem, of which the median counts (large ones: half as many)")
	fl.BoolVar(&f.large, "large", false, "the large problems, too")
	fl.BoolVar(&f.against, "against", false, "measure beside other programs instead")
	fl.StringVar(&f.pythonProgram, "python", "python3", "with --against: the `program` that has jax_privacy and numpy")
	fl.StringVar(&f.mfdl, "mfdl", "", "with --against: the `folder` of a checkout of MFDL")
	fl.Var((*terminal.WholeNumber)(&f.steps), "T", "with --against: steps of the problem, a multiple of 20")
	fl.BoolVar(&f.markdown, "markdown", false, "print the table as Markdown")
	fl.StringArrayVar(&f.into, "into", nil, "replace the table in this `file` (repeatable)")
	fl.BoolVar(&f.json, "json", false, "print one JSON object instead of the table")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "print errors only (and the JSON, with --json)")
	return cmd
}

func (f *benchSelfFlags) run(cmd *cobra.Command) error {
	if f.runs < 1 {
		return terminal.Usagef("--runs %d: must be at least 1", f.runs)
	}
	if err := f.check(cmd); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mafalda-bench-self")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	machine := benchmarks.ThisMachine()
	bar := terminal.NewProgress(cmd.ErrOrStderr(), f.quiet)
	if f.against {
		rows, absent, err := f.runAgainst(cmd.Context(), dir, bar.Show)
		if err != nil {
			return err
		}
		bar.Clear()
		title, lines := againstTable(rows)
		return f.print(cmd.OutOrStdout(), selfTable{machine, title, lines, absent}, map[string]any{"rows": rows,
			"not_found": absent})
	}
	rows, err := f.measureAll(cmd.Context(), dir, bar.Show)
	if err != nil {
		return err
	}
	bar.Clear()
	title, lines := problemTable(rows)
	return f.print(cmd.OutOrStdout(), selfTable{machine, title, lines, nil}, map[string]any{"rows": rows})
}

// check refuses flags that do not fit together, and files that have no place for a table, before any work.
func (f *benchSelfFlags) check(cmd *cobra.Command) error {
	if !f.against {
		if err := terminal.Refuse(cmd, "--%s is for --against", "python", "mfdl", "T"); err != nil {
			return err
		}
	}
	switch {
	case f.against && f.large:
		return terminal.Usagef("--large and --against: give one of them")
	case f.json && f.markdown:
		return terminal.Usagef("--json and --markdown: give one of them")
	case f.steps < peerParticipations || f.steps%peerParticipations != 0:
		return terminal.Usagef("--T %d: must be a multiple of %d", f.steps, peerParticipations)
	}
	for _, path := range f.into {
		if _, err := f.replaced(path, ""); err != nil {
			return err
		}
	}
	return nil
}

// measureAll measures this program on all problems.
func (f *benchSelfFlags) measureAll(ctx context.Context, dir string, show func(part float64, doing string)) (
	rows []benchmarks.SelfRow, err error) {
	tooLarge := func(p benchmarks.SelfProblem) bool { return p.Large && !f.large }
	problems := slices.DeleteFunc(benchmarks.SelfProblems(), tooLarge)
	made := ""
	for i, p := range problems {
		at := func(part float64) float64 { return (float64(i) + part) / float64(len(problems)) }
		if p.FromFile && p.Graph != made {
			show(at(0), "making "+p.Graph)
			if err := writeGraph(filepath.Join(dir, selfGraph), p.Graph); err != nil {
				return nil, err
			}
			made = p.Graph
		}
		row, err := f.measure(ctx, p, dir, func(part float64) { show(at(part), p.Name) })
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
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
		row.Runs = (f.runs + 1) / 2
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
	row.Seconds = middle(times)
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

// selfTable is what was measured, where and when.
type selfTable struct {
	machine benchmarks.Machine
	title   []string
	lines   [][]string
	absent  []string // peers, with how to get them
}

// problemTable returns the cells of the table of problems.
func problemTable(rows []benchmarks.SelfRow) (title []string, lines [][]string) {
	short := func(v *float64, none string) string {
		if v == nil {
			return none
		}
		return terminal.DecimalUp(*v, 2)
	}
	for _, r := range rows {
		excess, gap := "exact", short(r.Gap, "-")
		if r.LossError != nil {
			excess = "-"
			if r.Gap != nil {
				gap += " of the estimate"
			}
		}
		lines = append(lines, []string{r.Problem, strconv.Itoa(r.Runs), secondsText(r.Seconds),
			terminal.BytesText(float64(r.PeakBytes)), gap, short(r.Excess, excess)})
	}
	return []string{"problem", "runs", "time", "memory", "gap", "excess bound"}, lines
}

func secondsText(seconds float64) string {
	if seconds < 0.1 {
		return fmt.Sprintf("%.2f ms", 1000*seconds)
	}
	return fmt.Sprintf("%.2f s", seconds)
}

// print prints the table, or the JSON, and puts the table into files.
func (f *benchSelfFlags) print(w io.Writer, t selfTable, all map[string]any) error {
	for _, path := range f.into {
		text, err := f.replaced(path, t.markdown())
		if err == nil {
			err = files.WriteFile(path, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }, true)
		}
		if err != nil {
			return err
		}
	}
	if f.json {
		all["version"], all["machine"] = version.String(), t.machine
		return terminal.WriteJSON(w, all)
	}
	if f.quiet {
		return nil
	}
	if f.markdown {
		_, err := io.WriteString(w, t.markdown())
		return err
	}
	fmt.Fprintln(w, t.machine.Line())
	err := terminal.Table(w, t.title, t.lines)
	for _, a := range t.absent {
		fmt.Fprintln(w, "not measured:", a)
	}
	return err
}

// markdown returns the table as Markdown, the machine before it.
func (t selfTable) markdown() string {
	var b strings.Builder
	line := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	fmt.Fprintf(&b, "%s; medians:\n\n", t.machine.Line())
	line(t.title)
	line(slices.Repeat([]string{"---"}, len(t.title)))
	for _, cells := range t.lines {
		line(cells)
	}
	for _, a := range t.absent {
		fmt.Fprintf(&b, "\nNot measured: %s\n", a)
	}
	return b.String()
}

// replaced returns the text of a file with a table in the place of the last one.
func (f *benchSelfFlags) replaced(path, table string) (string, error) {
	start, end := "<!-- bench-self -->\n", "<!-- end -->"
	if f.against {
		start = "<!-- bench-self --against -->\n"
	}
	text, err := files.Read(path, 1<<24)
	if err != nil {
		return "", err
	}
	before, rest, found := strings.Cut(string(text), start)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		return "", terminal.Usagef("%s has no line %q with %q after it: the table would have no place", path,
			strings.TrimSpace(start), end)
	}
	return before + start + table + end + after, nil
}
