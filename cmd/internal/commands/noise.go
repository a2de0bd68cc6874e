package commands

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"mafalda/cmd/internal/terminal"
	"mafalda/internal/files"
	"mafalda/noise"
)

type noiseFlags struct {
	nodeFlags
	out, format string
	steps, row  int
	skip        int
	force       bool
	withSteps   bool
}

func newNoiseCmd() *cobra.Command {
	cmd := newCommand("noise", new(noiseFlags))
	cmd.AddCommand(newCommand("noise-serve", new(noiseServeFlags)))
	return cmd
}

func (f *noiseFlags) run(cmd *cobra.Command) error {
	dir := cmd.Flags().Arg(0)
	format, err := f.check(cmd, dir)
	if err != nil {
		return err
	}
	if f.out != "" {
		if err := f.fileError(noise.CheckFile(f.out, f.force)); err != nil {
			return err
		}
	}
	rows, err := f.open(cmd, dir)
	if err != nil {
		return err
	}
	d, err := f.draw(rows, format)
	if err != nil {
		if cmd.Flags().Changed("steps") {
			err = fmt.Errorf("--steps %d: %w", f.steps, err)
		}
		return errors.Join(terminal.Usage(err), rows.Close())
	}
	notes := cmd.ErrOrStderr()
	if cmd.Flags().Changed("seed") {
		fmt.Fprintln(notes, "warning: noise from a seed is reproducible by everybody: it is NOT private")
	} else if c := d.Condition(); c != "" {
		fmt.Fprintln(notes, c)
	}
	if f.out != "" {
		err = f.toFile(cmd, d)
	}
	if err == nil {
		text := d.String()
		if f.out != "" {
			text += ": " + f.out
		}
		fmt.Fprintln(notes, text)
	}
	if f.out == "" {
		err = errors.Join(err, d.ToStream(f.stream(cmd), f.withSteps))
	}
	if err == nil {
		noteSpent(notes, rows)
	}
	return errors.Join(err, rows.Close())
}

// draw prepares the rows of steps that are not skipped; the first one carries the skipped rows.
func (f *noiseFlags) draw(rows *noise.Stream, format noise.Format) (*noise.Drawing, error) {
	if left := rows.End() - rows.Step(); f.skip > 0 && f.skip >= left {
		return nil, fmt.Errorf("--row skip %d: %w", f.skip, noise.TooFew(rows))
	}
	for range f.skip {
		if err := rows.Skip(); err != nil {
			return nil, err
		}
	}
	return noise.Draw(rows, f.steps, format)
}

// check finds wrong flags before anything is opened.
func (f *noiseFlags) check(cmd *cobra.Command, dir string) (noise.Format, error) {
	if err := f.checkNumbers(cmd); err != nil {
		return 0, err
	}
	given := cmd.Flags().Changed
	switch {
	case !given("seed") && f.state.Path == "":
		return 0, terminal.Usagef("without --state nobody would know which rows have been drawn: name a file, or --seed for a " +
			"simulation")
	case f.state.Path == "" && f.row > 0:
		return 0, terminal.Usagef("--row %d: without --state row 0 is next", f.row)
	}
	if f.withSteps && (f.out != "" || f.format == noise.NPY.String()) {
		return 0, terminal.Usagef("--format with-steps is for raw numbers to standard output: -o has the first row in FILE.json")
	}
	format, err := f.chooseFormat(cmd)
	if err == nil {
		named := map[string]string{"-o": f.out}
		if f.out != "" {
			named["the .json of -o"] = noise.AboutPath(f.out)
		}
		err = f.checkPlaces(dir, named)
	}
	return format, err
}

// chooseFormat returns how rows are written: as .npy to a file, and raw to standard output, unless --format says
// otherwise.
func (f *noiseFlags) chooseFormat(cmd *cobra.Command) (noise.Format, error) {
	format := noise.Raw64
	if f.out != "" {
		format = noise.NPY
	}
	if f.format != "" {
		var err error
		if format, err = noise.ParseFormat(f.format); err != nil {
			return 0, terminal.Usage(err)
		}
	}
	if file, ok := terminal.FileOf(cmd.OutOrStdout()); ok && f.out == "" && term.IsTerminal(int(file.Fd())) {
		return 0, terminal.Usagef("numbers are not for a terminal: use -o FILE, or a pipe")
	}
	return format, nil
}

// open returns the rows. All its errors are of flags or input.
func (f *noiseFlags) open(cmd *cobra.Command, dir string) (*noise.Stream, error) {
	opts := f.options(cmd)
	if f.state.Path == "" {
		s, err := noise.Open(dir, f.node, f.dim, opts)
		return s, terminal.Usage(err)
	}
	at := f.place()
	expected := terminal.Given(cmd, "row")
	if expected {
		at.Row = &f.row
	}
	d, err := noise.OpenDurable(dir, f.node, f.dim, at, opts)
	if err != nil {
		return nil, terminal.Usage(err)
	}
	if d.Check() {
		fmt.Fprintln(cmd.ErrOrStderr(), "warning: rows of a check have no noise of the node's own: they are NOT private")
	}
	if d.CutOff() && !expected {
		err := terminal.Usagef("%s: the last run was cut off when row %d was out. If that row did not arrive, leave its step "+
			"out; --row %d goes on with the next (docs/noise.md)", f.state.Path, d.Step()-1, d.Step())
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// stream is standard output: as a pipe, if it is one whose reader can be watched.
func (f *noiseFlags) stream(cmd *cobra.Command) io.Writer {
	if file, ok := terminal.FileOf(cmd.OutOrStdout()); ok {
		if p := files.NewPipe(file); p != nil {
			return p
		}
	}
	return terminal.Raw(cmd.OutOrStdout())
}

// toFile writes the rows; an interruption leaves no file.
func (f *noiseFlags) toFile(cmd *cobra.Command, d *noise.Drawing) error {
	ctx, stop := terminal.Interruptible(cmd.Context())
	defer stop()
	bar := terminal.NewProgress(cmd.ErrOrStderr(), false)
	defer bar.Clear()
	bar.Busy("drawing rows")
	d.Progress = bar.ShowAs("rows")
	err := d.ToFile(ctx, f.out, f.force)
	bar.Clear()
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("%s: %w; no row has gone out", f.out, terminal.ErrInterrupted)
	}
	if errors.Is(err, noise.ErrLost) {
		return err
	}
	return f.fileError(err)
}

// fileError makes errors about a file that cannot be written ones of usage.
func (f *noiseFlags) fileError(err error) error {
	if errors.Is(err, files.ErrExists) {
		return terminal.Usage(err)
	}
	return err
}
