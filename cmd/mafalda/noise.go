package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"mafalda/export"
	"mafalda/internal/npy"
	"mafalda/noise"
)

type noiseFlags struct {
	node, state, out, format string
	dim, steps               int
	seed                     uint64
	std, grid                float64
	regenerate, force        bool
}

func newNoiseCmd() *cobra.Command {
	var f noiseFlags
	cmd := &cobra.Command{
		Use:   "noise DIR",
		Short: "Draw a node's noise from an export",
		Long: `Draw the noise of a node: a row of C⁻¹Z for each step, as many numbers as the model has parameters. A node adds row t to its sum of
clipped gradients in step t.

The key comes from the operating system. With --seed noise is reproducible, for tests and simulations, and protects nothing. With
--state the place is kept on disk: the next call goes on where this one ends, and no row is drawn twice.

Without -o rows go to standard output as raw little-endian numbers.`,
		Example: `  mafalda noise out --node Medici --dim 100000 --state medici.state --steps 1 -o row.npy   # the next row
  mafalda noise out --node Medici --dim 1000 --seed 1 -o noise.npy                         # all of them, for a simulation
  mafalda noise out --node Medici --dim 1000 --format raw32 --state medici.state | ./node`,
		Args: exactArgs(1, "one folder"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.node, "node", "", "`LABEL` of the node (required, but for exports without a network)")
	fl.Var((*wholeNumber)(&f.dim), "dim", "parameters of the model (required)")
	fl.Var((*wholeNumber)(&f.steps), "steps", "rows to draw (default: all that are left)")
	fl.Var((*seedNumber)(&f.seed), "seed", "make the noise from this seed: reproducible, and NOT private")
	fl.StringVar(&f.state, "state", "", "keep key and place in this `file`, as secret as the gradients")
	fl.Float64Var(&f.std, "noise-std", 0, "standard deviation of Z (default: that of the manifest)")
	fl.Float64Var(&f.grid, "grid", 0, "round every number to a multiple of this")
	fl.BoolVar(&f.regenerate, "regenerate", false, "make earlier rows of Z again instead of keeping them (dense strategies)")
	fl.StringVar(&f.format, "format", "", "npy, raw64 or raw32 (default: npy with -o, raw64 without)")
	fl.StringVarP(&f.out, "output", "o", "", "write to this `file`")
	fl.BoolVar(&f.force, "force", false, "replace the file")
	completeWith(cmd, "format", []string{"npy", "raw64", "raw32"})
	return cmd
}

// rows is what noise.Stream and noise.Durable have in common.
type rows interface {
	Step() int
	Steps() int
	Next(dst []float64) error
}

func (f *noiseFlags) run(cmd *cobra.Command, dir string) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	stream, done, err := f.open(cmd, dir)
	if err != nil {
		if errors.Is(err, noise.ErrState) {
			return usage(err)
		}
		return err
	}
	count := stream.Steps() - stream.Step()
	if cmd.Flags().Changed("steps") {
		if f.steps > count {
			return errors.Join(usagef("--steps %d: %d of %d rows are left", f.steps, count, stream.Steps()), done())
		}
		count = f.steps
	}
	if f.out == "" {
		w := bufio.NewWriterSize(cmd.OutOrStdout(), 1<<16)
		return errors.Join(f.write(w, stream, count), w.Flush(), done())
	}
	err = export.WriteFile(f.out, func(w io.Writer) error { return f.write(w, stream, count) }, f.force)
	return errors.Join(usageIfExists(err), done())
}

func (f *noiseFlags) check(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	switch {
	case !given("dim"):
		return usagef("how many parameters has the model? Use --dim")
	case f.dim < 1:
		return usagef("--dim %d: must be at least 1", f.dim)
	case given("steps") && f.steps < 1:
		return usagef("--steps %d: must be at least 1", f.steps)
	case given("noise-std") && (!(f.std > 0) || math.IsInf(f.std, 1)):
		return usagef("--noise-std %v: must be positive and finite", f.std)
	case given("grid") && (!(f.grid > 0) || math.IsInf(f.grid, 1)):
		return usagef("--grid %v: must be positive and finite", f.grid)
	case !given("seed") && !given("state"):
		return usagef("without --state nobody would know which rows have been drawn: name a file, or --seed for a simulation")
	}
	if f.format == "" {
		f.format = "raw64"
		if f.out != "" {
			f.format = "npy"
		}
	}
	if f.format != "npy" && f.format != "raw64" && f.format != "raw32" {
		return usagef("--format %q: must be npy, raw64 or raw32", f.format)
	}
	if file, ok := cmd.OutOrStdout().(*checkedWriter); ok && f.out == "" {
		if terminal, ok := file.w.(*os.File); ok && term.IsTerminal(int(terminal.Fd())) {
			return usagef("numbers are not for a terminal: use -o FILE, or a pipe")
		}
	}
	return checkMemory(fmt.Sprintf("noise for %d parameters", f.dim), 40*float64(f.dim))
}

// open returns the stream, and what closes it.
func (f *noiseFlags) open(cmd *cobra.Command, dir string) (rows, func() error, error) {
	opts := noise.Options{NoiseStd: f.std, Grid: f.grid, Regenerate: f.regenerate}
	if cmd.Flags().Changed("seed") {
		opts.Seed = &f.seed
		fmt.Fprintln(cmd.ErrOrStderr(), "warning: noise from a seed is reproducible by everybody: it is NOT private")
	}
	if f.state != "" {
		d, err := noise.OpenDurable(dir, f.node, f.dim, f.state, opts)
		if err != nil {
			return nil, nil, usage(err)
		}
		return d, d.Close, nil
	}
	s, err := noise.Open(dir, f.node, f.dim, opts)
	return s, func() error { return nil }, usage(err)
}

// write draws rows and writes them in the format.
func (f *noiseFlags) write(w io.Writer, stream rows, count int) error {
	if f.format == "npy" {
		if err := npy.WriteHeader(w, []int{count, f.dim}); err != nil {
			return err
		}
	}
	row := make([]float64, f.dim)
	for range count {
		if err := stream.Next(row); err != nil {
			return fmt.Errorf("drawing row %d: %w", stream.Step(), err)
		}
		if f.format != "raw32" {
			if err := npy.WriteNumbers(w, row); err != nil {
				return err
			}
			continue
		}
		single := make([]float32, len(row))
		for i, v := range row {
			single[i] = float32(v)
		}
		if err := binary.Write(w, binary.LittleEndian, single); err != nil {
			return err
		}
	}
	return nil
}
