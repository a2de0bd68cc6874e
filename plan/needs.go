package plan

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"time"

	"mafalda/export"
	"mafalda/internal/fault"
	"mafalda/internal/limits"
	"mafalda/measure"
	"mafalda/participation"
	"mafalda/workload"
)

// Resources is what solving a problem needs, known before any work.
type Resources struct {
	What   string        // what needs them, in words
	Memory float64       // bytes, at most, about
	Time   time.Duration // rough time on a laptop, within a factor of ten
	Disk   float64       // bytes of the matrices that Export writes as .npy; 0: parameters only
}

// Check returns an error, before anything is allocated, if the memory is more than the machine has, or its container
// or GOMEMLIMIT allow. It wraps limits.ErrMemory.
func (r Resources) Check() error { return limits.Fits(r.What, r.Memory) }

const (
	matricesOfSearch = 60 // of T×T, about, that the search for a strategy keeps
	matricesOfNode   = 35 // of T×T, about, that the search for a node's keeps
	floatBytes       = 8
	denseSteps       = 4096 // up to which structured strategies are written as matrices, too
)

// Needs returns what solving the problem takes. The network's part is left out while there is no network. The problem
// and the options must be such that Solve would take them: Check says so.
func (p Problem) Needs(o Options) Resources {
	j, _ := newJob(p, o)
	return j.mode.needs(j)
}

// need returns the resources of a search that keeps T×T matrices for a time, with those of the way to the Gram matrix.
// It counts exported strategies on the disk where they are written as matrices: dense ones, and short ones.
func (j *job) need(kept, exported, nanoseconds float64) Resources {
	p, steps := j.Problem, float64(j.schema().Steps())
	n := Resources{What: fmt.Sprintf("T = %.0f with a %s strategy", steps, j.Options.Class.Name()),
		Memory: kept * floatBytes * steps * steps}
	if j.Options.dense() || j.schema().Steps() <= denseSteps {
		n.Disk = 2 * floatBytes * steps * steps * exported
	}
	if j.hasNetwork() {
		long := p.long(j.Options)
		n.What = fmt.Sprintf("T = %.0f on %d nodes", steps, p.nodes())
		n.Memory += floatBytes * p.panel(&j.Gram, long)
		nanoseconds += p.operations(&j.Gram, long)
	}
	n.Time = duration(nanoseconds)
	return n
}

// duration returns as many nanoseconds, or about a century.
func duration(nanoseconds float64) time.Duration {
	return time.Duration(math.Min(nanoseconds, math.MaxInt64/2))
}

// hasNetwork reports whether it is known what the network's part takes.
func (j *job) hasNetwork() bool { return j.Problem.Network != nil && j.Gram.Method != "" }

// denseTime returns about how many nanoseconds the search for the dense optimum takes, by what it took for some
// hundred steps.
func denseTime(steps int) float64 {
	t := float64(steps)
	return 20 * t * t * t
}

// panel returns how many numbers the way to the Gram matrix, or to the response, keeps.
func (p Problem) panel(g *export.Gram, long bool) float64 {
	n, steps, products := float64(p.nodes()), float64(p.Schema.Steps()), float64(measure.ManyProducts)
	if p.Curvature.Curvature().Varies(p.Workload) {
		return measure.ChangingNeeds(g, p.Workload, p.Network.Gossip.Matrix(), p.Schema.Steps())
	}
	panel := math.Max(n*steps, 1e6)
	if g.Method == GramLanczos.String() {
		products = float64(g.LanczosSteps)
		panel = workload.SketchFloats(p.nodes(), workload.Options{Probes: g.Probes, LanczosSteps: g.LanczosSteps})
	}
	if long {
		panel += steps * (2*products + 100)
	}
	return panel
}

// operations returns about how many operations, of a nanosecond, the way to the Gram matrix or to the response takes.
func (p Problem) operations(g *export.Gram, long bool) float64 {
	steps := p.Schema.Steps()
	switch w := p.Network.Gossip.Matrix(); {
	case g.Method == GramSampled.String():
		return float64(g.Probes) * measure.RunCost(w, steps)
	case p.Curvature.Curvature().Varies(p.Workload):
		return measure.ChangingCost(p.Workload, p.Curvature.Curvature(), w, steps)
	case g.Method == GramLanczos.String():
		edges := float64(p.Network.Gossip.Matrix().NNZ())
		return float64(g.Probes*g.LanczosSteps) * (edges + float64(p.nodes()*g.LanczosSteps))
	case long:
		return measure.ExactResponseCost(p.Network.Gossip, steps)
	}
	return measure.ExactCost(p.Network.Gossip, steps)
}

// CheckExport finds, before any work, what is wrong with an export of the solution to dir: options that do not fit, a
// place that cannot be written, and a disk that is too small. It is to be called after Check.
func (p Problem) CheckExport(o Options, dir string, w export.WriteOptions) error {
	o = o.filled(p)
	switch bands := o.Class.Parameters().Bandwidth; {
	case w.ParametersOnly && o.dense():
		return fault.New("ParametersOnly", nil, "[ParametersOnly] leaves nothing to export of [Class] dense")
	case w.ParametersOnly && o.Sampling == participation.Bins && (bands == 0 || bands >= p.Schema.Steps()):
		return fault.New("ParametersOnly", nil, "[ParametersOnly] may leave nothing to export of [Sampling] bins: give "+
			"[Bandwidth]")
	case o.split() && w.Format != export.FormatNPY:
		return fault.New("Format", nil, "several strategies are one array, which [Format] %v cannot hold: use npy",
			w.Format)
	case dir == "":
		return nil
	}
	err := export.CheckTarget(dir, w)
	switch {
	case errors.Is(err, export.ErrExists) || errors.Is(err, export.ErrTarget):
		return fault.Because("Dir", err)
	case err != nil:
		return err
	}
	r := p.Needs(o)
	if w.ParametersOnly {
		r.Disk = 0
	}
	if have, known := limits.FreeBytes(filepath.Dir(filepath.Clean(dir))); known && r.Disk > have {
		return fault.Because("Dir", fmt.Errorf("%s of %s take %s, the disk of %s has %s", "C.npy and C_inv.npy", r.What,
			limits.Text(r.Disk), dir, limits.Text(have)))
	}
	return nil
}
