package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/spf13/cobra"

	"mafalda/cmd/internal/commands"
	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/grids"
)

func init() {
	register.DoFn3x1[context.Context, string, func(string), error](&computeFn{})
	register.Emitter1[string]()
	register.Function1x0(forget)
}

// Commands returns the commands whose cells an engine can compute, run for a runner.
func Commands(runner *grids.Runner) []*cobra.Command {
	return []*cobra.Command{commands.NewAccount(runner), commands.NewSimulate(runner), commands.NewBenchmark(runner)}
}

// computeFn computes the cells that are its elements, where it runs, and takes the results to the desk. Its fields
// go to the workers.
type computeFn struct {
	Desk errand
	Job  string // hash
}

// ProcessElement computes a cell, given as JSON. Errors of the cell go to the desk; those that the runner gets, and
// may try again after, are about the way there. Cells that are done are its output, for the runner's counts.
func (f *computeFn) ProcessElement(ctx context.Context, cell string, done func(string)) error {
	wanted, err := f.Desk.wanted(ctx, cell)
	if err != nil || !wanted {
		return err
	}
	w, err := workshopOf(f.Job, func() (*workshop, error) { return f.open(ctx) })
	a := answer{Cell: json.RawMessage(cell)}
	if err == nil {
		a.Result, a.Notes, err = w.compute(ctx, a.Cell)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		a.Error, a.Usage = w.explain(err)
	}
	if err = f.Desk.bring(ctx, a); err == nil {
		done(cell)
	}
	return err
}

// forget is the end of the pipeline. Prism keeps a processor busy waiting for stages that have no output.
func forget(string) {}

// last holds this process's workshop: bundles of one job that run at the same time share it. A process works for one
// command at a time, and studies can be large.
var last struct {
	mu       sync.Mutex
	job      string // hash
	workshop *workshop
}

// workshopOf returns the workshop of a job, opened if need be. What failed is tried again for the next cell.
func workshopOf(job string, open func() (*workshop, error)) (*workshop, error) {
	last.mu.Lock()
	defer last.mu.Unlock()
	if last.workshop != nil && last.job == job {
		return last.workshop, nil
	}
	w, err := open()
	if err == nil {
		last.job, last.workshop = job, w
	}
	return w, err
}

// workshop is the study of a job, ready to compute cells.
type workshop struct {
	command *cobra.Command // the command that makes the study
	grid    *grids.Grid
	notes   *notebook
	turns   chan struct{} // holds a turn for each cell that may be computed at a time
}

// open fetches the job and makes its study.
func (f *computeFn) open(ctx context.Context) (*workshop, error) {
	content, err := f.Desk.job(ctx)
	if err != nil {
		return nil, err
	}
	j, err := unpack(content, f.Job)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "mafalda-beam-")
	if err != nil {
		return nil, err
	}
	w, err := j.open(ctx, dir)
	return w, errors.Join(err, os.RemoveAll(dir)) // all inputs have been read
}

// open runs the command up to the point where cells are computed. The inputs are written to dir.
func (j *job) open(ctx context.Context, dir string) (*workshop, error) {
	places, err := j.place(dir)
	if err != nil {
		return nil, err
	}
	w := &workshop{notes: new(notebook)}
	root := &cobra.Command{Use: "mafalda", SilenceUsage: true, SilenceErrors: true}
	words := grids.WordsAt(j.Command, j.Flags, places)
	root.AddCommand(Commands(&grids.Runner{Words: words, Engine: w, Places: places})...)
	if _, err := grids.CheckRecorded(root, words); err != nil {
		return nil, fmt.Errorf("the job: %w", err)
	}
	if w.command, _, err = root.Find(words); err != nil {
		return nil, err
	}
	root.SetArgs(words)
	root.SetOut(io.Discard)
	root.SetErr(w.notes)
	err = root.ExecuteContext(ctx)
	switch {
	case w.grid == nil && err == nil:
		return nil, fmt.Errorf("%v has no cells to compute", j.Command)
	case w.grid == nil:
		return nil, err
	case w.grid.Key.String() != j.Key:
		return nil, errors.New("a worker cannot make the same study of the same command: an input has changed since, " +
			"or is none of the files that the command names")
	}
	w.notes.take() // the program with the command has said as much
	w.turns = make(chan struct{}, w.grid.Workers)
	return w, nil
}

var errTaken = errors.New("the study is taken")

// Compute makes the workshop the engine of its own command: it takes the study, and ends the command.
func (w *workshop) Compute(_ context.Context, g *grids.Grid) error {
	w.grid = g
	return errTaken
}

// compute computes a cell, and returns what there is to say of it or of one that is computed at the same time.
func (w *workshop) compute(ctx context.Context, cell json.RawMessage) (result []byte, notes string, err error) {
	select {
	case w.turns <- struct{}{}:
		defer func() { <-w.turns }()
	case <-ctx.Done():
		return nil, "", ctx.Err()
	}
	result, err = w.grid.Do(ctx, cell)
	return result, w.notes.take(), err
}

// explain is flags.Explain for the command of the study; for no command where there is no workshop.
func (w *workshop) explain(err error) (text string, usage bool) {
	if w == nil {
		return flags.Explain(nil, err)
	}
	return flags.Explain(w.command, err)
}

// notebook is where a command writes what it has to say of its cells.
type notebook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (n *notebook) Write(b []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.Write(b)
}

// take returns what has been written since the last time.
func (n *notebook) take() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	defer n.text.Reset()
	return n.text.String()
}
