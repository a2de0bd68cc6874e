package plan

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"time"

	"mafalda/export"
	"mafalda/factorize/spacetime"
	"mafalda/internal/fault"
	"mafalda/internal/limits"
	"mafalda/measure"
	"mafalda/participation"
)

// Resources is what solving a problem needs, known before any work.
type Resources struct {
	What   string        // what needs them, in words
	Memory float64       // bytes, at most, about
	Time   time.Duration // on a laptop, roughly: within a factor of ten
	Disk   float64       // bytes of the matrices that Export writes as .npy; 0: parameters only
}

// Check returns an error, before anything is allocated, if the memory is more than the machine has, or its container,
// ulimit or GOMEMLIMIT allow. It wraps limits.ErrMemory.
func (r Resources) Check() error { return limits.Fits(r.What, r.Memory) }

const (
	matricesOfSearch = 60 // of T×T, about, that the search for a strategy keeps
	matricesOfNode   = 35 // of T×T, about, that the search for a node's keeps
	floatBytes       = 8
	denseSteps       = 4096 // up to which structured strategies are written as matrices, too
)

// Needs returns what solving the problem takes. The network's part is left out while there is no network. The problem
// and the options must be such that Solve would take them: Check says so.
func (p Problem) Needs(o Options) (r Resources) {
	o = o.filled(p)
	steps := float64(p.Schema.Steps())
	r = Resources{What: fmt.Sprintf("T = %.0f with a %s strategy", steps, o.Class.Name())}
	if !p.long(o) {
		r.Memory = matricesOfSearch * floatBytes * steps * steps
	}
	r.Disk = 2 * floatBytes * steps * steps * p.matrices(o)
	took := p.nanosecondsOf(o)
	defer func() { r.Time = time.Duration(math.Min(took, math.MaxInt64/2)) }()
	if p.Network == nil {
		return r
	}
	g, err := p.method(o)
	if err != nil {
		return r
	}
	n := float64(p.nodes())
	r.What = fmt.Sprintf("T = %.0f on %.0f nodes", steps, n)
	r.Memory += floatBytes * p.panel(g, p.long(o))
	took += p.operations(g, p.long(o))
	if p.Sharing != nil && p.Sharing.setting.Secrets != nil {
		pairs := len(p.Sharing.setting.Secrets.Pairs())
		r.What += fmt.Sprintf(" with %d pairs that share", pairs)
		memory, ns := p.sharingNeeds()
		r.Memory += floatBytes * memory
		took = 4*took + ns
	}
	if o.split() {
		single := floatBytes * steps * steps * (3*n + matricesOfNode*float64(runtime.GOMAXPROCS(0)) + matricesOfSearch)
		if single > r.Memory {
			r.What, r.Memory = fmt.Sprintf("strategies for %.0f nodes with T = %.0f", n, steps), single
		}
	}
	return r
}

// sharingNeeds returns how many numbers the search for noise between nodes keeps, and about how many nanoseconds it takes:
// some fifty Newton steps, the proof of what attackers see, and a bound for every node and pair.
func (p Problem) sharingNeeds() (numbers, ns float64) {
	s := p.Sharing.setting
	n, steps := float64(p.nodes()), float64(p.Schema.Steps())
	all := n + float64(len(s.Secrets.Pairs()))
	variables := float64(spacetime.Variables(p.nodes(), len(s.Secrets.Pairs())))
	attackers := float64(len(s.Attackers.Coalitions()))
	const newtonSteps, rowsOfPanel, multiplication = 50, 512, 0.04
	const uncollected = 1.6 // what is no longer used, until it is collected
	numbers = uncollected*variables*variables + rowsOfPanel*variables + attackers*n + 100*all + 50*n*n + 2*p.panel(&export.Gram{
		Method: GramExact.String()}, false)
	ns = multiplication * (newtonSteps*variables*variables*(variables/3+2*n) + 4*attackers*n*n*n + 40*all*steps*steps*steps)
	return numbers, ns
}

// matrices returns how many strategies Export writes as matrices.
func (p Problem) matrices(o Options) float64 {
	switch {
	case o.PerNode:
		return float64(p.nodes())
	case o.Groups > 0:
		return float64(o.Groups)
	case o.dense() || p.Schema.Steps() <= denseSteps:
		return 1
	}
	return 0
}

// panel returns how many numbers the way to the Gram matrix, or to the response, keeps.
func (p Problem) panel(g *export.Gram, long bool) float64 {
	n, steps, products := float64(p.nodes()), float64(p.Schema.Steps()), float64(measure.ManyProducts)
	if !p.Workload.IsStatic() {
		return measure.ChangingNeeds(g, p.Workload, p.Network.Gossip.Matrix(), p.Schema.Steps())
	}
	panel := math.Max(n*steps, 1e6)
	if g.Method == GramLanczos.String() {
		products = float64(g.LanczosSteps)
		kept := math.Min(products, n) // numbers of a probe, and their squares
		panel = n*(products+6) + float64(g.Probes)*(kept*kept+4*kept+32)
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
	case !p.Workload.IsStatic():
		return measure.ChangingCost(p.Workload, w, steps)
	case g.Method == GramLanczos.String():
		edges := float64(p.Network.Gossip.Matrix().NNZ())
		return float64(g.Probes*g.LanczosSteps) * (edges + float64(p.nodes()*g.LanczosSteps))
	case long:
		return measure.ExactResponseCost(p.Network.Gossip, steps)
	}
	return measure.ExactCost(p.Network.Gossip, steps)
}

// nanosecondsOf returns about how long the searches take, by what they took for some hundred steps.
func (p Problem) nanosecondsOf(o Options) float64 {
	steps := float64(p.Schema.Steps())
	dense := 20 * steps * steps * steps
	switch {
	case o.Sampling == participation.Poisson:
		return 10*dense + 5e9
	case o.Sampling == participation.Bins:
		b, samples := float64(p.Schema.Separation()), float64(o.MonteCarlo.Filled().Samples)
		return 40*dense + 2e-1*samples*(b*b+100)
	case p.long(o):
		return 1e6 * steps
	case p.Objective == Worst:
		return 10 * dense
	case p.Objective == Last:
		return 30 * dense
	case o.split():
		return dense * (1 + p.matrices(o)/2)
	case !participation.IsPartition(p.Schema):
		return 20 * dense
	case !o.dense():
		return dense + 1e5*steps*steps
	}
	return dense
}

// Check finds, before any work and cheapest first, what is wrong with a problem and with the options for it, and
// whether the machine has the memory. It can be asked before the network is loaded, and then knows nothing of the
// network. The errors are a fault.Argument that names the field, and limits.ErrMemory.
func (p Problem) Check(o Options) error {
	if err := p.check(); err != nil {
		return err
	}
	if err := o.checkBudget(p); err != nil {
		return err
	}
	o = o.filled(p)
	if err := p.Needs(o).Check(); err != nil {
		return err
	}
	if err := o.check(p); err != nil {
		return err
	}
	_, err := p.method(o)
	return err
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
