package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/internal/cli"
	"mafalda/internal/files"
	"mafalda/internal/npy"
	"mafalda/internal/version"
	"mafalda/strategy"
)

// startFlags say where the optimization of the dense optimum starts, and where it is kept.
type startFlags struct {
	dir        string
	checkpoint string
	resume     bool
}

// checkpointEvery is the time after which an iterate is kept.
const checkpointEvery = 10 * time.Second

func (f *startFlags) bind(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.dir, "start", "", "start from the strategy of this earlier export, of the same T (another network will do)")
	fl.StringVar(&f.checkpoint, "checkpoint", "", "keep the optimization in this `file` while it runs, every ten seconds")
	fl.BoolVar(&f.resume, "resume", false, "go on with the optimization in the file of --checkpoint, if it is there")
}

func (f *startFlags) check(j *job) error {
	switch {
	case f.resume && f.checkpoint == "":
		return cli.Usagef("--resume needs --checkpoint FILE")
	case f.resume && f.dir != "":
		return cli.Usagef("--start and --resume: only one of them")
	case (f.checkpoint != "" || f.dir != "") && !j.objective.isMean():
		return cli.Usagef("--checkpoint and --start are for --objective mean")
	}
	if f.checkpoint != "" && !f.resume {
		if _, err := os.Lstat(f.checkpoint); err == nil {
			return cli.Usagef("%s exists already: --resume goes on with it, or remove it", f.checkpoint)
		}
	}
	return f.checkPlace()
}

// checkPlace finds out, before anything is computed, whether a checkpoint can be kept.
func (f *startFlags) checkPlace() error {
	if f.checkpoint == "" {
		return nil
	}
	if info, err := os.Stat(f.checkpoint); err == nil && !info.Mode().IsRegular() {
		return cli.Usagef("--checkpoint %s is not a regular file", f.checkpoint)
	}
	probe, err := os.CreateTemp(filepath.Dir(f.checkpoint), ".mafalda-*")
	if err != nil {
		return fmt.Errorf("--checkpoint: %w", err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// checkpointHeader is the first line of a checkpoint; X follows as .npy.
type checkpointHeader struct {
	Version    string `json:"version"`
	Settings   string `json:"settings"` // all that the optimum depends on
	Iterations int    `json:"iterations"`
	SHA256     string `json:"sha256"` // of the numbers of X
}

// settings describes what the dense optimum depends on.
func (j *job) settings() string {
	network := "none"
	if j.network != nil {
		o, _ := json.Marshal(j.network.Origin)
		network = string(o)
	}
	schema, _ := json.Marshal(j.flags.schema.Describe(j.schema))
	return fmt.Sprintf("%v, T = %d, %s, network %s", j.kind, j.schema.Steps(), schema, network)
}

// start returns the X to start from; nil where there is none to be had.
func (j *job) start() (*mat.SymDense, error) {
	f := &j.flags.start
	switch {
	case f.dir != "":
		return f.ofExport(j.schema.Steps())
	case f.resume:
		x, iterations, err := readCheckpoint(f.checkpoint, j.settings(), j.schema.Steps())
		if errors.Is(err, os.ErrNotExist) {
			return nil, nil
		}
		if err == nil && !j.flags.quiet {
			fmt.Fprintf(j.stderr, "going on after %d iterations, from %s\n", iterations, f.checkpoint)
		}
		return x, cli.Usage(err)
	}
	return nil, nil
}

// ofExport returns CᵀC of an export.
func (f *startFlags) ofExport(steps int) (*mat.SymDense, error) {
	e, err := export.Load(f.dir)
	if err != nil {
		return nil, cli.Usage(err)
	}
	if err := e.CheckHashes(); err != nil {
		return nil, cli.Usage(err)
	}
	if e.Manifest.Steps != steps {
		return nil, cli.Usagef("--start %s has T = %d steps, not %d", f.dir, e.Manifest.Steps, steps)
	}
	c, err := e.NodeStrategy(0)
	if err != nil {
		return nil, cli.Usage(err)
	}
	return strategy.GramOf(c), nil
}

// checkpoints keeps iterates, now and then. That it cannot is no reason to end: it says so once, tries again when
// the next one is due, and says at the end what there is.
type checkpoints struct {
	path     string
	settings string
	steps    int
	warnings io.Writer

	tried  time.Time
	kept   int // iterations of the last one; -1: none
	failed error
}

func (j *job) checkpoints() *checkpoints {
	return &checkpoints{path: j.flags.start.checkpoint, settings: j.settings(), steps: j.schema.Steps(), warnings: j.stderr,
		kept: -1}
}

func (c *checkpoints) keep(it factorize.Iteration) {
	if c.path == "" || time.Since(c.tried) < checkpointEvery {
		return
	}
	c.tried = time.Now()
	err := writeCheckpoint(c.path, c.settings, it.Count, it.X, c.steps)
	if err == nil {
		c.kept, c.failed = it.Count, nil
		return
	}
	if c.failed == nil {
		fmt.Fprintf(c.warnings, "warning: the optimization goes on without a checkpoint: %v\n", err)
	}
	c.failed = err
}

// end says what is wrong with the checkpoint, if something is.
func (c *checkpoints) end() {
	switch {
	case c.failed == nil:
	case c.kept < 0:
		fmt.Fprintf(c.warnings, "warning: no checkpoint was kept in %s: %v\n", c.path, c.failed)
	default:
		fmt.Fprintf(c.warnings, "warning: the checkpoint in %s is that of iteration %d: %v\n", c.path, c.kept, c.failed)
	}
}

func writeCheckpoint(path, settings string, iterations int, x []float64, steps int) error {
	h := sha256.New()
	if err := npy.WriteNumbers(h, x); err != nil {
		return err
	}
	header, err := json.Marshal(checkpointHeader{version.String(), settings, iterations, hex.EncodeToString(h.Sum(nil))})
	if err != nil {
		return err
	}
	return files.WriteFile(path, func(w io.Writer) error {
		if _, err := w.Write(append(header, '\n')); err != nil {
			return err
		}
		return npy.Write(w, []int{steps, steps}, x)
	}, true)
}

// readCheckpoint returns the X of a checkpoint and its number of iterations.
func readCheckpoint(path, settings string, steps int) (*mat.SymDense, int, error) {
	file, _, err := files.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	r := bufio.NewReader(file)
	line, err := r.ReadBytes('\n')
	var header checkpointHeader
	if err != nil || json.Unmarshal(line, &header) != nil || header.Settings == "" {
		return nil, 0, fmt.Errorf("%s is not a checkpoint", path)
	}
	if header.Settings != settings || header.Version != version.String() {
		return nil, 0, fmt.Errorf("%s is of another problem: %q", path, header.Settings)
	}
	a, err := npy.Read(r, 8*int64(steps)*int64(steps))
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", path, err)
	}
	h := sha256.New()
	if err := npy.WriteNumbers(h, a.Data); err != nil {
		return nil, 0, err
	}
	_, err = r.ReadByte()
	if hex.EncodeToString(h.Sum(nil)) != header.SHA256 || len(a.Data) != steps*steps || header.Iterations < 0 || err != io.EOF {
		return nil, 0, fmt.Errorf("%s is damaged", path)
	}
	return mat.NewSymDense(steps, a.Data), header.Iterations, nil
}
