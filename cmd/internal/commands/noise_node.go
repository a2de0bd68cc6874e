package commands

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/terminal"
	"mafalda/internal/files"
	"mafalda/noise"
)

// nodeFlags say whose noise is drawn, and where its state is.
type nodeFlags struct {
	node  string
	dim   int
	seed  uint64
	state noise.State
	noise noise.Options
	limit noise.Limit
	join  noise.Join
}

// checkNumbers finds wrong flags before anything is opened.
func (f *nodeFlags) checkNumbers(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	switch {
	case !given("dim"):
		return terminal.Usagef("how many parameters has the model? Use --dim")
	case given("stop-at delta") && f.limit.Epsilon == 0:
		return terminal.Usagef("--stop-at: which epsilon? Use --stop-at EPSILON,delta=%v", f.limit.Delta)
	case f.join != noise.Join{} && (f.join.Key == "" || f.join.Keys == "" || f.join.Runs == ""):
		return terminal.Usagef("--key, --peers and --runs belong together")
	}
	return terminal.CheckMemory("noise for "+terminal.Count(f.dim, "parameter"), 40*float64(f.dim))
}

// checkPlaces finds files that would overwrite each other, or stand in the export, which would not be as its manifest
// says any more, and a state that is there and should not be, or the reverse.
func (f *nodeFlags) checkPlaces(dir string, named map[string]string) error {
	named["--state"], named["--counter"] = f.state.Path, f.state.Counter
	for flag, path := range named {
		if path == "" {
			continue
		}
		if files.Same(filepath.Dir(path), dir) {
			return terminal.Usagef("%s %s: the export's folder is for its own files", flag, path)
		}
		for other, twin := range named {
			if other != flag && twin != "" && files.Same(path, twin) {
				return terminal.Usagef("%s and %s are one file", min(flag, other), max(flag, other))
			}
		}
	}
	if f.state.Path == "" {
		return nil
	}
	_, err := os.Stat(f.state.Path)
	switch {
	case f.state.New && err == nil:
		return terminal.Usagef("%s: there is a state already; without --new it goes on", f.state.Path)
	case !f.state.New && errors.Is(err, fs.ErrNotExist):
		return terminal.Usagef("%s: there is no such state; --new starts one (row 0, a fresh key), if this node has not drawn "+
			"noise yet, by no state elsewhere", absolute(f.state.Path))
	}
	return nil
}

// absolute returns a path as it is from everywhere: a relative one means another file where another folder is the
// current one.
func absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

// options are the options of the noise.
func (f *nodeFlags) options(cmd *cobra.Command) noise.Options {
	opts := f.noise
	if cmd.Flags().Changed("seed") {
		opts.Seed = &f.seed
	}
	if f.limit.Epsilon != 0 {
		opts.Limit = &f.limit
	}
	return opts
}

// place is where the state is.
func (f *nodeFlags) place() noise.State {
	at := f.state
	if f.join != (noise.Join{}) {
		at.Join = &f.join
	}
	return at
}
