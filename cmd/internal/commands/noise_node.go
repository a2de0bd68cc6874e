package commands

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/terminal"
	"mafalda/internal/files"
	"mafalda/noise"
	"mafalda/noise/keys"
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

func (f *nodeFlags) bind(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.node, "node", "", "`LABEL` of the node (required, but for exports without a network)")
	flags.CompleteLabels(cmd, "node")
	terminal.Whole(fl, &f.dim, "dim", "parameters of the model (required)")
	fl.Var((*terminal.SeedNumber)(&f.seed), "seed", "make the noise from this seed: reproducible, and NOT private")
	fl.StringVar(&f.state.Path, "state", "", "keep key and place in this `file`, as secret as the gradients")
	fl.BoolVar(&f.state.New, "new", false,
		"start the state: row 0 of a fresh key (the file must not exist; without --new it must)")
	fl.StringVar(&f.state.Counter, "counter", "",
		"keep the place in this `file` too, on other storage, to find out old copies of the state")
	joinFlags(cmd, &f.join)
	fl.StringVar(&f.join.Runs, "runs", "",
		"`folder` with the announcements of the node and its neighbours, *"+keys.RunExtension)
	fl.Float64Var(&f.noise.NoiseStd, "noise-std", 0, "standard deviation of Z, not below that of the manifest (default: that)")
	fl.Float64Var(&f.noise.Grid, "grid", 0,
		"round every number to a multiple of this power of two, on which the gradients are too")
	fl.Float64Var(&f.limit.Epsilon, "stop-at", 0,
		"`EPSILON` of the node, below the plan's: the row that would pass it is not drawn, in this run of the state and in all later ones")
	fl.Float64Var(&f.limit.Delta, "stop-at delta", 0, "its delta (default: the export's)")
	terminal.Family(cmd, "stop-at", "")
	fl.BoolVar(&f.noise.Regenerate, "regenerate", false, "make earlier rows of Z again instead of keeping them (dense strategies)")
}

// checkNumbers finds wrong flags before anything is opened.
func (f *nodeFlags) checkNumbers(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	positive, delta := terminal.Positive(cmd, "noise-std", "grid", "stop-at"), f.limit.Delta
	switch {
	case !given("dim"):
		return terminal.Usagef("how many parameters has the model? Use --dim")
	case f.dim < 1:
		return terminal.Usagef("--dim %d: must be at least 1", f.dim)
	case positive != nil:
		return positive
	case given("stop-at delta") && !(delta > 0 && delta < 1):
		return terminal.Usagef("--stop-at delta %v: must be above 0 and below 1", delta)
	case given("stop-at delta") && f.limit.Epsilon == 0:
		return terminal.Usagef("--stop-at: which epsilon? Use --stop-at EPSILON,delta=%v", delta)
	case f.join != noise.Join{} && !f.state.New:
		return terminal.Usagef("--key, --peers and --runs are for --new: a state has the keys of its run")
	case f.join != noise.Join{} && (f.join.Key == "" || f.join.Keys == "" || f.join.Runs == ""):
		return terminal.Usagef("--key, --peers and --runs belong together")
	case f.join != noise.Join{} && given("seed"):
		return terminal.Usagef("--key, --peers and --runs are not for --seed, which makes all keys")
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
