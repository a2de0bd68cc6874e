package plan

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"mafalda/accounting"
	"mafalda/accounting/bins"
	"mafalda/accounting/sampling"
	"mafalda/export"
	"mafalda/factorize"
	"mafalda/internal/fault"
	"mafalda/internal/rounding"
	"mafalda/participation"
	"mafalda/strategy"
)

// Options says how a Problem is solved. The zero value asks for the defaults named here.
type Options struct {
	Class       factorize.Class      // strategies to choose from; nil means DefaultClass, or what Budget says
	Budget      *Budget              // class and width are chosen to fit it; nil: Class
	Sampling    participation.Scheme // how batches are drawn: in turn, unless it says otherwise
	Batches     sampling.Batches     // limits of Sampling Truncated; Most 0: sampling.Enough
	PerNode     bool                 // a strategy for every node
	Groups      int                  // number of strategies that the nodes share; 0: one
	Tolerance   float64              // certified relative gap to stop at; 0 means Problem.Tolerance
	MonteCarlo  bins.MonteCarlo      // samples of the accountant of Sampling Bins
	Privacy     *Privacy             // the noise is calibrated for it; nil: for none. With Problem.Levels only its Adjacency counts
	NoBaselines bool                 // leave out DP-D-SGD, AntiPGD and D-MF

	StartFrom  string          // folder of an earlier export of the same T, whose strategy the search for the dense optimum starts from
	Checkpoint string          // file that keeps the search while it runs, every ten seconds
	Resume     bool            // go on with the search in Checkpoint, if that is there
	Parts      factorize.Parts // where the strategies of PerNode or Groups are computed; nil: here
	Partial    bool            // if ctx ends, certify and return the best result so far, however long its proof takes (noise that is shared)
	Progress   func(Event)     // if not nil, sees how far Solve is, one call at a time

	known knownGrams // Gram matrices for the same network, workload and steps; nil: none
}

// Event is what Progress sees: how far a phase is, an iteration of a search, or a note.
type Event struct {
	Phase    string  // what is being computed
	Fraction float64 // part of the phase that is done, from 0 to 1
	// Iteration is of the search, or of a half of one for shared noise (without X); nil in other phases. It is valid
	// during the call.
	Iteration *factorize.Iteration
	Note      string // a sentence for the user, and then nothing else
	Warning   bool   // the note is about something that went wrong, but not with the result
}

// split reports whether more than one strategy is asked for.
func (o Options) split() bool { return o.PerNode || o.Groups > 0 }

// dense reports whether the class is Dense, which contains every strategy.
func (o Options) dense() bool { return o.Class == factorize.Class(factorize.Dense{}) }

// filled returns the options with the defaults for a problem, which has been checked.
func (o Options) filled(p Problem) Options {
	switch {
	case o.Class != nil:
	case o.Budget != nil:
		o.Class = o.budgetClass(p)
	default:
		o.Class = DefaultClass(o.Sampling, p.Schema)
	}
	if p.Levels != nil {
		adjacency := accounting.ZeroOut
		if o.Privacy != nil {
			adjacency = o.Privacy.Adjacency
		}
		o.Privacy = p.Levels.strictest(adjacency)
	}
	if n := o.Batches.Records; sampling.Of(o.Sampling).Traits().Largest && o.Batches.Most == 0 && o.Privacy != nil &&
		n > 0 && n <= sampling.MaxRecords {
		s := p.Schema // the least that cost nearly nothing, whatever the number of bands
		o.Batches = sampling.EnoughForBands(n, s.Steps(), s.Separation(), o.Privacy.Delta)
	}
	if o.Tolerance == 0 {
		o.Tolerance = p.Tolerance()
	}
	return o
}

// DefaultClass returns the class to take if none is asked for: banded, with the best number of bands, where batches are
// drawn in secret, and dense otherwise.
func DefaultClass(sampling participation.Scheme, schema participation.Schema) factorize.Class {
	if sampling == participation.InTurn {
		return factorize.DefaultClass(schema)
	}
	return factorize.Banded{}
}

// budgetClass returns the class that stands for all that fit until one of them is chosen.
func (o Options) budgetClass(p Problem) factorize.Class {
	schema := p.Schema
	numbers := o.Budget.Floats()
	switch {
	case o.Sampling != participation.InTurn:
		return DefaultClass(o.Sampling, schema)
	case numbers >= schema.Steps() && participation.IsPartition(schema):
		return factorize.Dense{}
	case numbers < schema.Steps() && schema.Steps() > strategy.LongSteps:
		return longClasses(p, numbers)[0]
	}
	return factorize.Banded{Bandwidth: min(numbers+1, schema.Steps())}
}

// Tolerance is the default certified relative gap at which a search stops: the objective's default, or the last step's
// where the noise of other steps costs nothing.
func (p Problem) Tolerance() float64 {
	if p.Objective == Mean && p.Workload.HasFreeNoise(p.Schema.Steps()) {
		return Last.Tolerance()
	}
	return p.Objective.Tolerance()
}

// checkBudget refuses what does not go together with a budget, which chooses the class. The options are not filled.
func (o Options) checkBudget(p Problem) error {
	if o.Budget == nil {
		return nil
	}
	steps := p.Schema.Steps()
	least, long := o.Budget.Floats() < steps, steps > strategy.LongSteps
	return cmp.Or(
		o.Budget.Check(),
		fault.If(o.Class != nil, "Memory", nil,
			"[Memory] chooses class and width: leave out [Class], [Bandwidth] and [Buffers]"),
		fault.If(least && long && o.Sampling != participation.InTurn, "Memory", nil,
			"[Memory] is for at most %d steps with [Sampling] %v, unless all of them fit: choose [Class] instead",
			strategy.LongSteps, o.Sampling),
		fault.If(least && !long && (p.Objective != Mean || o.split()), "Memory", nil,
			"[Objective] %v and strategies of nodes are dense, which keeps %d numbers for each parameter: %d fit",
			p.Objective, steps, o.Budget.Floats()),
	)
}

// check finds what is wrong with the options in every mode; they have been filled, and the mode has checked what is
// its own.
func (o Options) check(p Problem) error {
	steps := p.Schema.Steps()
	least := factorize.MinGap(steps)
	_, privacy := o.Privacy.calibrate(1)
	return cmp.Or(
		o.checkMonteCarlo(),
		o.checkBatches(),
		o.checkClass(p),
		o.checkStart(),
		fault.Positive("Tolerance", o.Tolerance),
		fault.If(o.Tolerance < least && !p.long(o), "Tolerance", o.Tolerance,
			"rounding allows no less than %s for T = %d",
			strconv.FormatFloat(rounding.Up(least, 1), 'g', 1, 64), steps),
		fault.If(o.Groups < 0, "Groups", o.Groups, "must be at least 1"),
		privacy,
	)
}

// checkClass compares the parameters of the class with the steps.
func (o Options) checkClass(p Problem) error {
	steps, chosen := p.Schema.Steps(), o.Class.Parameters()
	w, d := chosen.Bandwidth, chosen.Buffers
	_, other := o.Class.With(chosen) // a parameter of other classes
	comb, is := o.Class.(factorize.Comb)
	_, cyclic := p.Schema.(participation.Cyclic)
	scaled, period := is && chosen.ScaleColumns, cmp.Or(w, p.Schema.Separation())
	return cmp.Or(
		fault.If(w < 0 || w > steps, "Bandwidth", w, "must be from 1 to T = %d", steps),
		fault.If(d < 0 || d > 0 && d >= max(steps, 2), "Buffers", d, "must be at least 1 and less than T = %d", steps),
		fault.If(d > factorize.MostBuffers, "Buffers", d,
			"at most %d: for more numbers a node choose [Class] toeplitz or comb", factorize.MostBuffers),
		fault.If(chosen.ScaleColumns && !participation.IsPartition(p.Schema), "ScaleColumns", nil,
			"is not for %s participation, whose patterns overlap", p.Schema.Name()),
		fault.Because("Class", other),
		fault.If(is && w == 0 && period >= steps, "Class", nil,
			"[Class] comb is for records that take part again, unless [Bandwidth] is its period"),
		fault.If(is && period >= steps, "Bandwidth", period, "the period of a comb must be less than T = %d", steps),
		fault.If(is && period == 1, "Class", nil,
			"[Class] comb of period 1 is a blt of one buffer more: choose [Class] blt"),
		fault.If(scaled && !cyclic, "ScaleColumns", nil, "[ScaleColumns] of a comb is for [Schema] cyclic and single"),
		fault.If(scaled && steps > strategy.LongSteps && factorize.Supports(comb, factorize.ManySteps, p.Schema) != nil,
			"ScaleColumns", nil, "[ScaleColumns] of a comb takes too long for k·T = %d·%d", p.Schema.Participations(), steps),
	)
}

// checkStart finds out whether the search can start where it should, and be kept.
func (o Options) checkStart() error {
	err := cmp.Or(
		fault.If(o.Resume && o.Checkpoint == "", "Resume", nil, "[Resume] needs [Checkpoint] FILE"),
		fault.If(o.Resume && o.StartFrom != "", "StartFrom", nil, "[StartFrom] and [Resume]: only one of them"),
	)
	if err != nil || o.Checkpoint == "" {
		return err
	}
	return checkPlace(o.Checkpoint, o.Resume)
}

// checkPlace finds out, before anything is computed, whether a checkpoint can be kept.
func checkPlace(path string, resume bool) error {
	if !resume {
		if _, err := os.Lstat(path); err == nil {
			return fault.New("Resume", nil, "%s exists already: [Resume] goes on with it, or remove it", path)
		}
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fault.New("Checkpoint", path, "is not a regular file")
	}
	probe, err := os.CreateTemp(filepath.Dir(path), ".mafalda-*")
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// Privacy is how much privacy every node is to have against everybody who sees all messages (local DP).
type Privacy struct {
	accounting.Target         // μ, or (ε, δ)
	Clip              float64 // norm to which the gradient of each record is clipped; 0 means 1
	Adjacency         accounting.Adjacency
}

// clip returns the clip, or its default.
func (p *Privacy) clip() float64 { return cmp.Or(p.Clip, 1) }

// calibrate returns the noise for a strategy of sensitivity sens; nil for no privacy. The errors are a fault.Argument.
func (p *Privacy) calibrate(sens float64) (*export.Privacy, error) {
	if p == nil {
		return nil, nil
	}
	clip := p.clip()
	if err := fault.Positive("Clip", clip); err != nil {
		return nil, err
	}
	c, err := accounting.Calibrate(p.Target, sens, clip, p.Adjacency)
	if err != nil {
		return nil, fault.Because("Privacy", err)
	}
	out := &export.Privacy{Mu: c.Mu, Sigma: c.Sigma, Clip: clip, Adjacency: p.Adjacency.String(), NoiseStd: c.NoiseStd}
	if c.Delta != 0 {
		out.Epsilon, out.Delta = &c.Epsilon, &c.Delta
	}
	return out, nil
}
