package threat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"mafalda/internal/fault"
	"mafalda/internal/limits"
	"mafalda/internal/parallel"
	"mafalda/internal/rounding"
	"mafalda/participation"
	"mafalda/threat/reaction"
)

// AuditOptions tunes Audit. The zero value of a field asks for the default named here; Random is needed.
type AuditOptions struct {
	Random     rand.Source // the source of the simulated noise
	Runs       int         `in:"[10,)"` // runs of the protocol, without and with the victim's record each; 0 means 4000
	Confidence float64     `in:"(0,1)"` // the confidence of the two-sided interval; 0 means 0.999
	Sigma      float64     `in:"(0,)"`  // standard deviation of the noise over what a record moves a sum by; 0: the victim's, where nodes have levels of their own, else 1
	NoiseScale float64     `in:"(0,)"`  // what the nodes really multiply their noise by; 0 means 1, as the claim has it
	Scaled     []int       // the nodes whose own noise NoiseScale is for; nil: all noise of all nodes
	Noising    mat.Matrix  // C⁻¹ that the nodes really use, T×T; nil: the algorithm's, as its export has it
	Answer     Answer      // how hidden nodes react to their models; nil: they do not
	Colluding  []int       // nodes that really attack; nil: the scenario's, as the claim has it; needed with Any

	// Taking says in which steps the victim's records really take part; nil: as the schema of the claim has it.
	Taking participation.Schema

	// Progress, if not nil, sees how many steps of all runs have been made, of how many, once the runs have begun.
	Progress func(done, total int)
}

// MaxAudit is the largest number of messages in the view, and of nodes times steps, that Audit takes: the view is
// written out.
const MaxAudit = 3000

// AuditResult is what an attack found, against what is claimed.
type AuditResult struct {
	Claimed   float64 `json:"claimed_mu"`   // μ of the claimed Gaussian DP, for gradients of norm 1 and noise of Sigma
	Empirical float64 `json:"empirical_mu"` // μ of the attack: distance of its statistic's two means, in standard deviations
	Low       float64 `json:"ci_low"`       // confidence interval of Empirical
	High      float64 `json:"ci_high"`
	// Reachable is μ of this attack if the algebra is right: Claimed, or less if that is a bound; 0 of clipped answers.
	Reachable float64 `json:"reachable_mu"`
	Exposed   bool    `json:"exposed,omitempty"` // it sees a gradient without noise, and Reachable is no limit, but 0
	Runs      int     `json:"runs"`
	Passed    bool    `json:"passed"` // Low is not above Claimed

	HoldsFor string   `json:"holds_for,omitempty"` // what Claimed is for: Reaction.HoldsFor
	Local    *float64 `json:"ldp_mu,omitempty"`    // μ of local DP, which is for all else; absent where that is infinite

	LocalHolds *bool `json:"ldp_holds,omitempty"` // Low is not above Local; nil without an Answer

	Reacting *Reacting `json:"reaction,omitempty"` // what is proven of an Answer under PNDP; nil where nothing but local DP is
}

// Reacting is what is proven of nodes that react, and what is not.
type Reacting struct {
	ReactionReport         // the class of steps that the answers are in, and the answer
	Bound          float64 `json:"bound_mu"`                // μ that holds for every training of the class
	Without        float64 `json:"without_reaction_mu"`     // μ if gradients do not react, which holds for no training
	Judged         bool    `json:"bound_judged"`            // Bound is the claim
	Holds          bool    `json:"bound_holds"`             // Low is not above Bound, nor is Reachable
	Broken         bool    `json:"without_reaction_broken"` // Low or, of linear answers, Reachable is above Without
}

// ErrAudit is wrapped by errors about what cannot be audited.
var ErrAudit = errors.New("cannot be audited")

// Audit attacks the real protocol: it runs it with random noise, with and without a record of the victim, gives the
// attacker what it sees, and applies the best linear test for the worst gradients of a pattern. The claim is made by
// Account and Best for the schema. The attack is on the simulated messages; only its direction is computed from the
// view (Explicit, so n and T must be small), and a wrong direction can only make it weaker. A claim that is too small
// shows as a lower confidence limit above it.
//
// With an Answer nodes react to the models that they hold, as in training. The direction is then the best one for
// linear answers, and the limits hold for a threshold, which hold whatever the distribution is. A claim under
// PNDP is not for such networks (Condition), and Local is; Reacting has the bound for the class of the answer. For
// the Worst answers of a class that bound is the claim, and Reachable, which is exact, may not exceed it either.
// Answers are for plain gradient descent, without a Training; the Worst ones for PNDP and noise that nodes do not
// share.
//
// The errors are ErrAudit, ErrAttacker, ErrStrategy, limits.ErrMemory for
// what memory does not hold, a fault.Argument that names the field of the options, and the context's, soon after it has
// ended: an audit that is stopped has not passed.
func Audit(ctx context.Context, s Scenario, victim int, opts AuditOptions) (AuditResult, error) {
	if s.Algorithm.levels != nil && victim >= 0 && victim < len(s.Algorithm.levels) {
		if opts.Sigma != 0 {
			return AuditResult{}, fault.New("Sigma", opts.Sigma, "is for nodes of one level, and these have their own")
		}
		opts.Sigma = s.Algorithm.levels[victim].Sigma
	}
	opts = opts.Filled()
	if err := opts.Check(); err != nil {
		return AuditResult{}, err
	}
	return parallel.Abandonable(ctx, func(ctx context.Context) (AuditResult, error) {
		return s.audit(ctx, victim, opts)
	})
}

// Filled returns the options with the defaults in the place of zeros.
func (o AuditOptions) Filled() AuditOptions {
	o.Runs, o.Confidence = cmp.Or(o.Runs, 4000), cmp.Or(o.Confidence, 0.999)
	o.Sigma, o.NoiseScale = cmp.Or(o.Sigma, 1), cmp.Or(o.NoiseScale, 1)
	return o
}

// minRuns is how many runs it takes for a confidence interval to mean something.
const minRuns = 10

// Check rejects options out of range, with a fault.Argument that names the field. Defaults must have been filled in.
func (o AuditOptions) Check() error {
	switch {
	case o.Random == nil:
		return fault.New("Random", nil, "is needed")
	case o.Answer != nil && o.Taking != nil:
		return fault.New("Taking", o.Taking, "is for nodes that do not answer")
	case o.Answer != nil:
		return cmp.Or(fault.Ranges(o), o.Answer.check())
	}
	return fault.Ranges(o)
}

func (s Scenario) audit(ctx context.Context, victim int, opts AuditOptions) (AuditResult, error) {
	if opts.Taking != nil && opts.Taking.Steps() != s.steps() {
		return AuditResult{}, fault.New("Taking", opts.Taking, "is not for %d steps", s.steps())
	}
	if s.Attacker.Any != nil && opts.Colluding == nil {
		return AuditResult{}, fault.New("Colluding", nil, "is needed: which of the coalitions attacks?")
	}
	real := s // with the nodes that really attack
	if opts.Colluding != nil {
		real.Attacker.Any, real.Attacker.Nodes = nil, opts.Colluding
	}
	p, err := real.auditable(ctx, opts)
	if err != nil {
		return AuditResult{}, err
	}
	local, err := s.Algorithm.Local(s.Schema)
	if err != nil {
		return AuditResult{}, err
	}
	exposure, claimed, err := s.claim(ctx, victim, local)
	if err != nil {
		return AuditResult{}, err
	}
	if exposure.Infinite || math.IsInf(claimed, 1) {
		return AuditResult{}, fmt.Errorf("%w: a gradient of the victim is seen without noise, so that nothing is claimed",
			ErrAudit)
	}
	change := worstChange(exposure.M, cmp.Or(opts.Taking, s.Schema))
	if opts.Colluding != nil {
		if exposure, _, err = real.claim(ctx, victim, local); err != nil {
			return AuditResult{}, err
		}
	}
	out := AuditResult{Claimed: rounding.DivUp(claimed, opts.Sigma), Runs: opts.Runs, Exposed: exposure.Infinite,
		HoldsFor: Reaction{Kind: FixedInputs}.HoldsFor(s.Attacker.Trust)}
	if !math.IsInf(local, 1) {
		out.Local = new(rounding.DivUp(rounding.SqrtUp(local), opts.Sigma))
	}
	if !out.Exposed {
		out.Reachable = math.Sqrt(mat.Inner(change, exposure.M, change)) / opts.Sigma
	}
	var test *mat.VecDense
	if opts.Answer != nil {
		worst, err := s.judgeReaction(ctx, victim, opts, &out)
		if err != nil {
			return AuditResult{}, err
		}
		if change, test, err = real.answered(p, victim, change, opts, worst, &out); err != nil {
			return AuditResult{}, err
		}
	}
	if out.Reachable == 0 && !out.Exposed {
		out.Passed = true // nothing of the victim reaches the attacker
		return out, nil
	}
	if err := p.use(opts.Noising); err != nil {
		return AuditResult{}, err
	}
	if test == nil {
		view, err := Explicit(real)
		if err != nil {
			return AuditResult{}, err
		}
		if test, err = view.test(victim, change); err != nil {
			return AuditResult{}, err
		}
	}
	if opts.Progress != nil {
		done := 0
		p.stepped = func() { done++; opts.Progress(done, 2*p.steps) }
	}
	drawn := samples{rng: rand.New(opts.Random), runs: opts.Runs, scale: opts.Sigma, victim: victim,
		other: opts.NoiseScale, scaled: opts.Scaled}
	without, err := p.attack(ctx, drawn, test)
	if err != nil {
		return AuditResult{}, err
	}
	drawn.change = change
	with, err := p.attack(ctx, drawn, test)
	if err != nil {
		return AuditResult{}, err
	}
	if opts.Answer == nil {
		out.Empirical, out.Low, out.High = separation(without, with, opts.Confidence)
	} else {
		shown, err := TradeoffOf(without, with, opts.Confidence)
		if err != nil {
			return AuditResult{}, err
		}
		out.Empirical, out.Low, out.High = shown.Mu, shown.Low, shown.High
		if c, clips := opts.Answer.(Clip); clips && !c.linear() {
			out.Reachable = 0
		}
		if r := out.Reacting; r != nil {
			reached := max(out.Low, out.Reachable*(1-1e-9)) // less than rounding of what is exact
			r.Holds, r.Broken = reached <= r.Bound, reached > r.Without
		}
		if out.Local != nil {
			out.LocalHolds = new(out.Low <= *out.Local)
		}
	}
	out.Passed = out.Low <= out.Claimed
	if claims(opts.Answer) {
		out.Passed = out.Reacting.Holds
	}
	return out, nil
}

// judgeReaction fills in what is proven of nodes that react, makes it the claim where the answer says so, and returns
// the worst answers of all nodes.
func (s Scenario) judgeReaction(ctx context.Context, victim int, o AuditOptions, out *AuditResult) ([][]float64, error) {
	if s.Algorithm.training != nil {
		return nil, fmt.Errorf("%w: answers are for plain gradient descent", ErrAudit)
	}
	c := o.Answer.Class()
	var bound *reaction.Result
	if o.Colluding == nil {
		var err error
		if bound, err = s.reacting(ctx, victim, c); err != nil {
			return nil, err
		}
	}
	if bound == nil {
		if claims(o.Answer) {
			return nil, fmt.Errorf("%w: the worst answers of a class are for nodes that attack under pndp, and noise of "+
				"single nodes; choose linear or clipped answers", ErrAudit)
		}
		return nil, nil
	}
	out.Reacting = &Reacting{ReactionReport: ReactionReport{c.Rho, c.Kappa, o.Answer.String()}, Holds: true,
		Judged: claims(o.Answer), Without: out.Claimed, Bound: rounding.DivUp(rounding.SqrtUp(bound.SensSquared), o.Sigma)}
	if claims(o.Answer) {
		out.Claimed, out.HoldsFor = out.Reacting.Bound, ""
	}
	return bound.Answers, nil
}

// auditable returns the protocol of an audit that is neither too large to write out nor for the memory.
func (s Scenario) auditable(ctx context.Context, opts AuditOptions) (*protocol, error) {
	n, steps, rounds := s.nodes(), s.steps(), max(s.Algorithm.rounds, s.Algorithm.Training().Spec.GossipRounds)
	if n > MaxAudit || steps > MaxAudit/n || rounds > MaxAudit/steps {
		return nil, fmt.Errorf("%w: %d nodes in %d steps of %d rounds are more than %d messages; take fewer steps",
			ErrAudit, n, steps, rounds, MaxAudit)
	}
	p, err := s.protocol()
	if err != nil {
		return nil, err
	}
	if err := p.run(ctx, oneRun()); err != nil { // to count
		return nil, err
	}
	rows := len(p.rows)
	if rows > MaxAudit {
		return nil, fmt.Errorf("%w: %d messages of %d nodes in %d steps are more than %d; take fewer steps", ErrAudit,
			rows, n, steps, MaxAudit)
	}
	width := float64(symbols{p}.width())
	if err := limits.Fits(fmt.Sprintf("the view of %d messages of %d nodes in %d steps", rows, n, steps),
		8*width*float64(4*rows+3*n)); err != nil {
		return nil, err
	}
	drawn := width/2 + float64(rows+4*n+4) // rows of numbers, one for each run
	return p, limits.Fits(fmt.Sprintf("an audit of %d runs", opts.Runs), 8*drawn*float64(opts.Runs))
}

// test returns the weights of the best linear statistic of what the attacker knows, for a change of the victim's
// gradients: (BBᵀ)⁻¹ A_u ΔG, with a little added to the diagonal, since rows can depend on each other.
func (v *View) test(victim int, change *mat.VecDense) (*mat.VecDense, error) {
	reduced := v.Reduce()
	rows, _ := reduced.A.Dims()
	moved := mat.NewVecDense(rows, nil)
	for t := range v.Steps {
		moved.AddScaledVec(moved, change.AtVec(t), reduced.A.ColView(t*v.Nodes+victim))
	}
	covariance := symmetric(mulT(reduced.B, reduced.B))
	ridge := 1e-9 * mat.Trace(covariance) / float64(rows)
	for i := range rows {
		covariance.SetSym(i, i, covariance.At(i, i)+ridge)
	}
	var chol mat.Cholesky
	if !chol.Factorize(covariance) {
		return nil, ErrUnclear
	}
	var weights mat.VecDense
	err := chol.SolveVecTo(&weights, moved)
	if _, is := errors.AsType[mat.Condition](err); is {
		err = nil // the ridge makes it a large one, which is harmless: a worse direction is a weaker test
	}
	return &weights, err
}

// attack runs the protocol, all runs side by side with fresh noise, and returns the statistic of each.
func (p *protocol) attack(ctx context.Context, s samples, test *mat.VecDense) ([]float64, error) {
	s.drawn = map[[3]int][]float64{}
	if err := p.run(ctx, &s); err != nil {
		return nil, err
	}
	out := make([]float64, s.runs)
	for i, row := range p.rows {
		floats.AddScaled(out, test.AtVec(i), row)
	}
	p.rows = nil
	return out, nil
}

// separation returns the distance of two means in standard deviations, with its confidence interval: for normal samples
// of N each its variance is (2 + d²/4)/N, up to O(1/N²).
func separation(without, with []float64, confidence float64) (distance, low, high float64) {
	mean0, variance0 := stat.MeanVariance(without, nil)
	mean1, variance1 := stat.MeanVariance(with, nil)
	distance = (mean1 - mean0) / math.Sqrt((variance0+variance1)/2)
	z := distuv.UnitNormal.Quantile((1 + confidence) / 2)
	margin := z * math.Sqrt((2+distance*distance/4)/float64(len(with)))
	return distance, distance - margin, distance + margin
}
