package sampled

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"

	"gonum.org/v1/gonum/mat"

	"mafalda/accounting"
	"mafalda/internal/fault"
	"mafalda/internal/limits"
	"mafalda/internal/parallel"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/threat"
)

// Scenario is a matrix mechanism with secret batches: a node adds C⁻¹Z to its sums, and a record takes part in
// random steps. The attacker sees all messages and knows all other records.
type Scenario struct {
	Strategy        strategy.Strategy      // C
	NoiseMultiplier float64                `in:"(0,)"` // standard deviation of Z that is claimed, in clipping norms
	Claim           Claim                  // what is attacked
	Actual          participation.Sampling // what the nodes really do
}

// Claim is what is said of the privacy of a mechanism.
type Claim struct {
	Epsilon   float64              `in:"[0,)"`
	Delta     float64              `in:"[0,1)"`
	Adjacency accounting.Adjacency // which data sets are neighbours: a record is there or not, or another one is in its place
	// Curve returns an upper bound of δ for other ε, so that these are attacked, too, where an attack of few runs has
	// more power than at a small δ. Nil: nothing else is claimed.
	Curve func(epsilon float64) (delta float64, err error)
}

// Options tunes Audit. The zero value of a field asks for the default named here; Random is needed.
type Options struct {
	Random     rand.Source // source of the simulated noise and batches
	Runs       int         // number of runs, with the record and without, each; 0 means 50000
	Confidence float64     // probability that no right claim fails; 0 means 0.999
	NoiseScale float64     // what the nodes really multiply their noise by; 0 means 1, as the claim has it
	Noising    mat.Matrix  // C⁻¹ that the nodes really use, T×T; nil: the strategy's own filter
	KnownDraw  bool        // the attacker knows what is drawn, as from a seed that is published

	// Progress, if not nil, sees how many runs have been made, of how many, with and without the record; from several
	// goroutines.
	Progress func(done, total int)
}

// DefaultRuns is how many runs Audit makes of each kind if nothing else is said: enough to find half the
// noise from ε = 0.5 on.
const DefaultRuns = 50000

// Result is what an attack on a mechanism with secret batches found, against what is claimed. Limits hold all
// together with the confidence of the options.
type Result struct {
	Epsilon    float64 `json:"claimed_epsilon"`
	Delta      float64 `json:"claimed_delta"`
	EpsilonLow float64 `json:"epsilon_low"` // lower confidence limit of ε at the claimed δ
	Runs       int     `json:"runs"`
	Points     []Point `json:"points"`
	Passed     bool    `json:"passed"` // no point is exceeded
}

// Point is one (ε, δ) of the claim, attacked in one direction.
type Point struct {
	// Direction is remove: a run with the record is to be told from ones without; or add; or, where another record takes
	// its place, replace and replace back.
	Direction  string  `json:"direction"`
	Epsilon    float64 `json:"epsilon"`
	Delta      float64 `json:"delta"`       // claimed for Epsilon
	DeltaLow   float64 `json:"delta_low"`   // lower confidence limit of the real one
	EpsilonLow float64 `json:"epsilon_low"` // lower confidence limit of the real ε at Delta
	Passed     bool    `json:"passed"`      // DeltaLow is not above Delta
}

// Audit attacks a mechanism with secret batches: it runs it with random noise, with and without a record that
// contributes one clipping norm in one direction whenever it takes part, or with one and with another in its place,
// which contributes the opposite (Claim.Adjacency), and applies to the messages the likelihood ratio test of what the
// nodes really do, which no test is better than. From how often its events happen follow lower limits of δ and ε
// (Clopper-Pearson; thresholds are chosen on one half of the runs and judged on the other), at several points of the
// claimed curve and in both directions. The messages are made by the strategy's filter; only the test comes from
// formulas, and a wrong test can only make the attack weaker. The errors are threat.ErrAudit, threat.ErrStrategy,
// limits.ErrMemory for what memory does not hold, a fault.Argument that names the field, what Claim.Curve returns, and
// the context's, soon after it has ended: an audit that is stopped has not passed.
func Audit(ctx context.Context, s Scenario, opts Options) (Result, error) {
	opts = opts.withDefaults()
	if err := errors.Join(s.check(), opts.check(s.Strategy)); err != nil {
		return Result{}, err
	}
	return parallel.Abandonable(ctx, func(ctx context.Context) (Result, error) { return s.audit(ctx, opts) })
}

func (o Options) withDefaults() Options {
	o.Runs = cmp.Or(o.Runs, DefaultRuns)
	base := threat.AuditOptions{Confidence: o.Confidence, NoiseScale: o.NoiseScale}.Filled()
	o.Confidence, o.NoiseScale = base.Confidence, base.NoiseScale
	return o
}

func (o Options) check(c strategy.Strategy) error {
	base := threat.AuditOptions{Random: o.Random, Runs: o.Runs, Sigma: 1, Confidence: o.Confidence,
		NoiseScale: o.NoiseScale}
	if err := base.Check(); err != nil {
		return err
	}
	if o.Noising != nil && c != nil {
		if r, n := o.Noising.Dims(); r != c.Steps() || n != r {
			return fmt.Errorf("%w: C⁻¹ is %d×%d, not of %d steps", threat.ErrStrategy, r, n, c.Steps())
		}
	}
	return limits.Fits(fmt.Sprintf("an audit of %d runs", o.Runs), 4*8*float64(o.Runs))
}

func (s Scenario) check() error {
	switch {
	case s.Strategy == nil:
		return fault.New("Strategy", nil, "is needed")
	case s.Actual == nil:
		return fault.New("Actual", nil, "is needed")
	}
	return cmp.Or(fault.Ranges(s), fault.Ranges(s.Claim), s.Claim.Adjacency.Check())
}

func (s Scenario) audit(ctx context.Context, opts Options) (Result, error) {
	c, err := columnsOf(s.Strategy)
	if err != nil {
		return Result{}, err
	}
	attack, err := attackUnder(s.Claim.Adjacency, s.Actual, c, s.NoiseMultiplier*opts.NoiseScale)
	if err != nil {
		return Result{}, err
	}
	if opts.KnownDraw {
		attack = attack.knowing(c, s.NoiseMultiplier*opts.NoiseScale)
	}
	points, err := s.Claim.points()
	if err != nil {
		return Result{}, err
	}
	run := sampledRun{columns: c, attack: attack, std: s.NoiseMultiplier * opts.NoiseScale, runs: opts.Runs,
		seeds: rand.New(opts.Random)}
	if opts.Progress != nil {
		var done atomic.Int64
		run.made = func(runs int) { opts.Progress(int(done.Add(int64(runs))), 2*opts.Runs) }
	}
	if run.filter, err = noisingFilter(s.Strategy, opts.Noising); err != nil {
		return Result{}, err
	}
	without, err := run.logRatios(ctx, false)
	if err != nil {
		return Result{}, err
	}
	with, err := run.logRatios(ctx, true)
	if err != nil {
		return Result{}, err
	}
	return judge(s.Claim, points, with, without, opts.Confidence), nil
}
