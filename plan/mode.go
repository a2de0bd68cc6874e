package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/internal/fault"
	"mafalda/internal/limits"
	"mafalda/internal/rounding"
	"mafalda/measure"
	"mafalda/optim"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/workload"
)

// mode is a way to solve problems. All about it is in its file: which problems are its own, what it refuses and
// needs, how it solves, and what it says in a manifest.
type mode interface {
	// takes reports whether a problem asks for the mode.
	takes(p Problem, o Options) bool

	// check refuses all that the mode is not for, other modes that are asked for among it. The options have their
	// defaults.
	check(p Problem, o Options) error

	// exactOnly says why an estimate of the Gram matrix would not do; empty: it would.
	exactOnly() string

	// needs returns what solving takes, before any work. The problem may have faults, and no network yet.
	needs(j *job) Resources

	// solve fills in the solution: strategies, quality and bound, ending, noise.
	solve(ctx context.Context, j *job) error

	// describe writes the mode's part of the manifest, whose other parts are there.
	describe(s *Solution, m *export.Manifest)
}

// ordinary is embedded in modes: of what it has they write only what differs.
type ordinary struct{}

// exactOnly has no reason.
func (ordinary) exactOnly() string { return "" }

// describe writes nothing.
func (ordinary) describe(*Solution, *export.Manifest) {}

// modes are all modes but turnMode, which takes what no other does. All that a problem asks for check it, in this
// order, and the last of them solves it: nodes that share noise may draw batches in secret, and nothing that is asked
// for is left out silently.
var modes = []mode{poissonMode{}, binsMode{}, longMode{}, sharingMode{}, splitMode{}}

// job is a solution that is being made.
type job struct {
	*Solution
	asked    []mode // the modes that are asked for; the last one is the solution's
	kernel   *workload.Kernel
	gram     *mat.SymDense                     // Gram matrix of the nodes' mean, T×T
	estimate workload.Estimate                 // estimate that kernel and gram come from; nil: they are exact
	optima   map[string]*factorize.Result      // optima that are known, by schema; nil: none is kept
	many     factorize.Objective               // the objective of very many steps, in the place of the kernel
	bands    Bands                             // the best number of bands, where batches are drawn in secret
	family   factorize.Family                  // problems of which it is one, unknown which
	reached  []float64                         // losses of the best strategies for each of them alone
	mixture  []float64                         // how much the Gram matrix of each of them counts
	dmf      func() (strategy.Strategy, error) // the baseline that is looked for beside the optimum; nil: after it
}

// newJob fills in the defaults, chooses the modes and, with it, how the Gram matrix is computed. It does so once,
// before any check: err says why there is no way to the matrix, which may follow from another fault. There is a job
// in any case, of a problem that has been checked itself.
func newJob(p Problem, o Options) (j *job, err error) {
	o = o.filled(p)
	asked := slices.DeleteFunc(slices.Clone(modes), func(m mode) bool { return !m.takes(p, o) })
	if len(asked) == 0 {
		asked = []mode{turnMode{}}
	}
	j = &job{Solution: &Solution{Problem: p, Options: o, mode: asked[len(asked)-1]}, asked: asked}
	g, err := p.method(o, j.mode.exactOnly())
	if err == nil {
		j.Gram = *g
	}
	return j, err
}

// prepare returns the job for a problem, after looking for all that is wrong with it, before any work and cheapest
// first.
func prepare(p Problem, o Options) (*job, error) {
	if err := fault.First(p.check, func() error { return o.checkBudget(p) }); err != nil {
		return nil, err
	}
	j, noGram := newJob(p, o)
	checks := []func() error{j.mode.needs(j).Check, o.checkScheme, func() error { return p.checkTogether(j.Options) }, p.checkLevels}
	for _, m := range j.asked {
		checks = append(checks, func() error { return m.check(p, j.Options) })
	}
	return j, fault.First(append(checks, func() error { return cmp.Or(j.Options.check(p), noGram) })...)
}

func (o Options) checkScheme() error {
	return fault.If(!o.Sampling.Known(), "Sampling", int(o.Sampling), "is unknown; use %s", strings.Join(participation.Schemes(), ", "))
}

// Solve returns the best strategy, with all that a manifest says of it. For a bad argument it fails as Check does.
//
// When ctx ends first, the best so far is returned with Status optim.Interrupted and a nil error, as it is with the
// other endings of searches; what was not begun is left out then. Before there is a strategy, and of very many steps,
// there is nothing to return but the context's error.
func Solve(ctx context.Context, p Problem, o Options) (*Solution, error) {
	started := time.Now()
	j, err := prepare(p, o)
	if err == nil {
		err = fault.First(p.checkNetwork, func() error { return j.mode.solve(ctx, j) })
	}
	if err != nil {
		return nil, err
	}
	j.Took, j.PeakBytes = time.Since(started), limits.PeakBytes()
	return j.Solution, nil
}

// checkNetwork refuses a problem whose network is missing.
func (p Problem) checkNetwork() error {
	return fault.If(p.Network == nil && p.Workload.Kind != workload.Prefix, "Network", nil,
		"there is none for the workload %v", p.Workload.Kind)
}

// Check finds, before any work and cheapest first, what is wrong with a problem and with the options for it, and
// whether the machine has the memory. It can be asked before the network is loaded, and then knows nothing of the
// network. The errors are a fault.Argument that names the field, and limits.ErrMemory.
func (p Problem) Check(o Options) error {
	_, err := prepare(p, o)
	return err
}

func (s *job) schema() participation.Schema { return s.Problem.Schema }

// show reports how far a phase is.
func (s *job) show(phase string, fraction float64) {
	if s.Options.Progress != nil {
		s.Options.Progress(Event{Phase: phase, Fraction: fraction})
	}
}

// counts returns the callback that reports how much of a phase is done.
func (s *job) counts(phase string) func(done, total int) {
	return func(done, total int) { s.show(phase, float64(done)/float64(max(total, 1))) }
}

// source returns what errors depend on; computing it is a phase.
func (s *job) source(phase string) measure.Source {
	on := s.Problem.source(&s.Gram)
	on.Progress, on.Weights, on.Mixture = s.counts(phase), s.Problem.Levels.weights(), s.mixture
	return on
}

func (s *job) note(warning bool, format string, args ...any) {
	if s.Options.Progress != nil {
		s.Options.Progress(Event{Note: fmt.Sprintf(format, args...), Warning: warning})
	}
}

// iteration reports an iteration of the search for the optimum, and keeps it.
func (s *job) iteration(it factorize.Iteration) {
	s.History = append(s.History, export.Point{Loss: it.Loss, LowerBound: it.LowerBound})
	if s.Options.Progress != nil {
		s.Options.Progress(Event{Phase: "optimum", Fraction: fraction(it.Gap, s.Options.Tolerance), Iteration: &it})
	}
}

// fraction says how far a gap has come from 1 down to a tolerance, on a logarithmic scale.
func fraction(gap, tolerance float64) float64 {
	f := math.Log(gap) / math.Log(tolerance)
	if !(f > 0) { // above 1, or a tolerance of 1
		return 0
	}
	return math.Min(f, 1)
}

// knownGrams are Gram matrices on one network with optima, which several solutions share.
type knownGrams map[gramKey]knownGram

// gramKey says what a Gram matrix is of, and how it is computed.
type gramKey struct {
	training string // workload and curvature; empty: those of the first problem with as many steps
	steps    int
	gram     export.Gram
	weighted bool // whether nodes are weighted by their levels
}

type knownGram struct {
	kernel   *workload.Kernel
	estimate workload.Estimate
	optima   map[string]*factorize.Result // dense, by schema
}

// help has a source use what is known of the network.
func (k knownGrams) help(on *measure.Source, steps int) {
	first := k[gramKey{steps: steps, gram: asked(*on.Gram), weighted: on.Weights != nil}]
	if on.Sketch, _ = first.estimate.(*workload.Sketch); first.estimate == nil && on.Weights == nil {
		on.Known = first.kernel
	}
}

// asked returns how a Gram matrix is computed, without what was found out of it.
func asked(g export.Gram) export.Gram {
	g.LossError, g.ExcessBound = nil, nil
	return g
}

// keptNumbers bounds the entries of the Gram matrices that are kept: 256 MiB, and as much for what they come from.
const keptNumbers = 1 << 25

// measures computes what strategies are measured by, unless it is known.
func (s *job) measures(ctx context.Context) error {
	on, steps := s.source("Gram matrix"), s.schema().Steps()
	key := gramKey{fmt.Sprint(s.Problem.Workload, s.Problem.Curvature), steps, asked(s.Gram), on.Weights != nil}
	g, known := s.Options.known[key]
	if !known {
		s.Options.known.help(&on, steps)
		var err error
		if g.kernel, g.estimate, err = on.Kernel(ctx, steps); err != nil {
			return fmt.Errorf("computing the Gram matrix: %w", err)
		}
		if known := s.Options.known; known != nil && len(known)*steps*steps < keptNumbers {
			g.optima = map[string]*factorize.Result{}
			known[key] = g
			if key.training = ""; known[key].kernel == nil {
				known[key] = g
			}
		}
	}
	s.kernel, s.estimate, s.gram, s.optima = g.kernel, g.estimate, g.kernel.Gram(), g.optima
	return nil
}

// objective returns what strategies are measured by.
func (s *job) objective() factorize.Objective {
	if s.kernel == nil {
		return s.many
	}
	if s.Problem.Objective == Mean {
		return factorize.Mean(s.gram)
	}
	return s.Problem.Objective.ForKernel(s.kernel)
}

// judge says how far off an estimate may be, if there is time.
func (s *job) judge(ctx context.Context) error {
	if s.estimate == nil || ctx.Err() != nil {
		return nil
	}
	s.show("error of the estimate", 0)
	d, err := measure.Judge(&s.Gram, s.estimate, s.gram, s.Strategy())
	if err == nil && s.OfClass == nil {
		err = d.Optimum(s.Optimum.Gap)
	}
	return err
}

// isEnd reports whether err says that a context has ended.
func isEnd(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// best returns what all nodes run, or would if nodes had strategies of their own.
func (s *Solution) best() *factorize.Result {
	if s.OfClass != nil {
		return s.OfClass
	}
	return s.Optimum
}

// setQuality fills in the quality of the solution with a bound that no strategy is below.
func (s *Solution) setQuality(q factorize.Quality, bound float64) {
	if s.Quality, s.LowerBound = q, bound; bound > 0 {
		s.Gap = rounding.DivUp(q.Loss-bound, bound)
	}
}

// endingOf returns how the first search that did not converge has ended, or the last one.
func endingOf(ctx context.Context, searches ...*factorize.Result) Ending {
	var e Ending
	for _, r := range searches {
		if e = (Ending{r.Status, r.Iterations, r.Gap}); r.Status != optim.Converged {
			break
		}
	}
	if ctx.Err() != nil {
		e.Status = optim.Interrupted
	}
	return e
}

// GramMatrix returns H of a problem that Check accepts, exact or estimated as Problem.Gram says.
func (p Problem) GramMatrix(ctx context.Context) (*mat.SymDense, error) {
	return p.gramMatrix(ctx, Options{})
}

func (p Problem) gramMatrix(ctx context.Context, o Options) (*mat.SymDense, error) {
	j, err := newJob(p, o)
	if err == nil {
		err = j.measures(ctx)
	}
	return j.gram, err
}
