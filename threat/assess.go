package threat

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"

	"mafalda/accounting"
	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/internal/lists"
	"mafalda/internal/parallel"
	"mafalda/internal/rounding"
)

// AssessOptions says what Assess reports.
type AssessOptions struct {
	Graph   *graph.Graph // names the nodes, and says whether edges have directions; needed
	Measure Measure      // what is said of each squared sensitivity; the zero value is Best
	Sigma   float64      // standard deviation of the noise over what a record moves a sum by; needed, unless nodes have levels of their own
	Alpha   float64      `in:"(1,)"`  // order of the Rényi divergence, above 1; needed
	Delta   float64      `in:"[0,1)"` // report the ε of this δ, too; 0: none
	Local   float64      // what Algorithm.Local says of the scenario, if the caller has it already; 0: it is computed

	// Reaction says how gradients answer to models, under PNDP. Where it is a class, Refine asks for the best bound of the
	// pairs that lose most at each distance, until the one that loses most has it; Worst asks for an attack on these pairs.
	Reaction Reaction
	Refine   bool
	Worst    bool

	everyPair bool // Refine is of all pairs

	// Progress, if not nil, sees how many victims are done, of how many, once there is a first one; from several goroutines,
	// one at a time.
	Progress func(done, total int)
}

func (o AssessOptions) check(s Scenario) error {
	var nodes int
	if o.Graph != nil {
		nodes = o.Graph.Nodes()
	}
	public, kind, levels := s.Attacker.Trust.Public(), o.Reaction.Kind, s.Algorithm.levels != nil
	return cmp.Or(
		fault.If(o.Graph == nil, "Graph", nil, "which nodes are these?"),
		fault.If(nodes != s.nodes(), "Graph", nil, "it has %d nodes, the gossip matrix %d", nodes, s.nodes()),
		fault.If(o.Measure < Best || o.Measure > Certain, "Measure", o.Measure, "choose %s", strings.Join(Measures(), ", ")),
		fault.If(levels && o.Sigma != 0, "Sigma", o.Sigma, "is for nodes of one level, and these have their own"),
		fault.If(!levels && (!(o.Sigma > 0) || math.IsInf(o.Sigma, 1)), "Sigma", o.Sigma, "must be positive and finite"),
		fault.If(!(o.Local >= 0), "Local", o.Local, "must be what Algorithm.Local returns"),
		fault.If(kind != AnyReaction && public, "Reaction", o.Reaction.String(),
			"is for attackers under PNDP: otherwise all messages are public"),
		fault.If(o.Measure != Best && !public && kind != FixedInputs, "Measure", o.Measure, "is of gradients that do not react to models"),
		fault.If((o.Refine || o.Worst) && !o.Reaction.classed(), "Refine", nil, "is for a class of reactions"),
		fault.Ranges(o),
		o.Reaction.check(),
	)
}

// Assess says what one attacker learns of every node, under the schema: the squared sensitivity of its view of each
// victim, and the privacy that follows, with the accounting of Cyffers et al. beside it where that applies. All numbers
// are rounded up, so that none promises more privacy than there is (but for Certain, which promises none). Attackers
// know their own gradients: their pairs are infinite. Where the rank of the view is unclear, everybody has local DP. Where
// the view is too large (ErrTooLarge), Pair.WithoutReaction is absent if that number is no guarantee, and an error if it is.
//
// Under PNDP, where hidden nodes may react, what is learned is what Options.Reaction lets be proven: of inputs that do not
// react, the squared sensitivity of the view; of a class, a bound of package reaction; of any training, local DP. The
// first one stands beside the others as Pair.WithoutReaction. Of networks or absences that are drawn all this is for one draw,
// and stands apart; what is reported is then local DP, less what no draw lets arrive.
//
// Errors: a fault.Argument that names the field of the options; the errors of Account but for ErrUnclear and, where it is
// no guarantee that is too large, ErrTooLarge; and the cause of the context, soon after it has ended.
func Assess(ctx context.Context, s Scenario, o AssessOptions) (Report, error) {
	local := func() (err error) {
		o.Local, err = s.Algorithm.Local(s.Schema)
		return err
	}
	if err := fault.First(s.check, func() error { return o.check(s) }, func() error {
		if o.Local != 0 {
			return nil
		}
		return parallel.Await(ctx, local)
	}); err != nil {
		return Report{}, err
	}
	a := &assessment{scenario: s, options: o, hops: s.hops()}
	if a.comparable() {
		a.cyffers = CyffersSquared(s.Gossip, s.Attacker.Nodes, s.steps())
	}
	err := a.victims(ctx)
	unclear := errors.Is(err, ErrUnclear)
	if !s.Attacker.Trust.Public() && o.Reaction.Kind != FixedInputs && errors.Is(err, ErrTooLarge) {
		a.unknown = err.Error() // only what holds for no training
	}
	if unclear || a.unknown != "" {
		err = a.fallBack()
	}
	if err == nil && !s.Attacker.Trust.Public() {
		err = a.react(ctx)
	}
	if err != nil {
		return Report{}, err
	}
	for _, v := range s.Attacker.insiders() {
		if err := a.add(v, math.Inf(1), nil); err != nil {
			return Report{}, err
		}
	}
	r, err := a.report()
	r.Unclear = unclear
	return r, err
}

// assessment is what Assess has found so far.
type assessment struct {
	scenario Scenario
	options  AssessOptions
	hops     []int
	cyffers  []float64 // the bound of Cyffers et al. for every node; nil where it does not apply
	why      string    // why a class of reactions is not used
	unknown  string    // why Pair.WithoutReaction is absent

	mu    sync.Mutex
	found []*finding
}

// finding is a pair, with the number of its victim.
type finding struct {
	victim int
	pair   Pair
}

// comparable reports whether the accounting of Cyffers et al. is of this scenario.
func (a *assessment) comparable() bool {
	s := a.scenario
	return !s.Attacker.Trust.Public() && a.options.Reaction.Kind == FixedInputs && !s.Attacker.SecureSummation &&
		s.Algorithm.Name() == DPDSGD().Name() && s.Algorithm.levels == nil &&
		s.Algorithm.training == nil && s.Schema.Participations() == s.steps() && !a.options.Graph.Directed()
}

// victims adds the pairs of all nodes that do not attack.
func (a *assessment) victims(ctx context.Context) error {
	pool := parallel.NewPool(ctx)
	err := parallel.Await(ctx, func() error {
		return Account(ctx, a.scenario, func(e Exposure) error {
			return pool.Do(func() error {
				squared, err := a.options.Measure.Squared(e, a.scenario.Schema, a.options.Local)
				if err != nil {
					return err
				}
				return a.add(e.Victim, squared, e.By)
			})
		})
	})
	if ctx.Err() != nil {
		return context.Cause(ctx) // something may still be computing
	}
	if failed := pool.Wait(); failed != nil {
		return failed
	}
	// of pairs that lose as much, worst takes the first one, whichever was done first
	slices.SortFunc(a.found, func(p, q *finding) int { return cmp.Compare(p.victim, q.victim) })
	return err
}

// add adds the pair of a victim and, where there are several, of the coalition that learns most of it.
func (a *assessment) add(victim int, squared float64, by []int) error {
	p, err := a.pair(victim, squared)
	if err != nil {
		return err
	}
	for _, v := range by {
		p.By = append(p.By, a.options.Graph.Label(v))
	}
	if h := a.hops[victim]; h >= 0 && len(a.scenario.Attacker.Nodes) > 0 {
		p.Distance = &h
	}
	if a.cyffers != nil {
		p.Cyffers = &a.cyffers[victim]
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.found = append(a.found, &finding{victim, p})
	if a.options.Progress != nil {
		a.options.Progress(len(a.found), a.scenario.nodes())
	}
	return nil
}

// fallBack forgets what was found, and gives every node that does not attack local DP.
func (a *assessment) fallBack() error {
	a.found = nil
	for v := range a.scenario.nodes() {
		if slices.Contains(a.scenario.Attacker.insiders(), v) {
			continue
		}
		p, err := a.pair(v, a.options.Local)
		if err != nil {
			return err
		}
		a.found = append(a.found, &finding{v, p})
	}
	return nil
}

// pair converts a squared sensitivity.
func (a *assessment) pair(victim int, squared float64) (Pair, error) {
	sigma := a.scenario.Algorithm.Sigma(victim, a.options.Sigma)
	p, err := a.options.guarantee(squared, sigma)
	if a.scenario.Algorithm.levels != nil {
		p.Sigma = &sigma
	}
	if a.options.Measure == Certain { // no privacy follows
		p.Mu, p.RDP, p.Epsilon = nil, nil, nil
	}
	p.Victim, p.Bound = a.options.Graph.Label(victim), a.options.Measure.String()
	if !a.scenario.Attacker.Trust.Public() && a.options.Reaction.Kind != FixedInputs {
		p.Bound = LocalDP // until react has found more
	}
	return p, err
}

// guarantee returns the privacy that follows from a squared sensitivity and the victim's noise, without a victim's name.
func (o AssessOptions) guarantee(squared, sigma float64) (p Pair, err error) {
	if math.IsInf(squared, 1) {
		p.Infinite = true
		return p, nil
	}
	squared = math.Max(squared, 0)
	mu, err := accounting.MuFromNoise(sigma, rounding.SqrtUp(squared), 1)
	if err != nil {
		return p, err
	}
	rdp, epsilon := 0.0, 0.0
	if mu > 0 {
		if rdp, err = accounting.RDP(mu, o.Alpha); err == nil && o.Delta > 0 {
			epsilon, err = accounting.Epsilon(mu, o.Delta)
		}
	}
	p.SensSquared, p.Mu, p.RDP = &squared, &mu, &rdp
	if o.Delta > 0 {
		p.Epsilon = &epsilon
	}
	return p, err
}

// report returns what was found, in order.
func (a *assessment) report() (Report, error) {
	s := a.scenario
	r := Report{Attacker: s.Attacker.Name(a.options.Graph), Trust: s.Attacker.Trust.String(),
		Algorithm: s.Algorithm.Name(),
		Reaction:  a.options.Reaction.Report(), Why: a.why, Unknown: a.unknown, Delta: a.options.Delta}
	if !math.IsInf(a.options.Local, 1) {
		local, err := a.options.guarantee(a.options.Local, s.Algorithm.leastSigma(a.options.Sigma))
		if err != nil {
			return r, err
		}
		r.Local, r.LocalMu, r.LocalEpsilon = a.options.Local, local.Mu, local.Epsilon
	}
	r.HoldsFor, r.DrawnHoldsFor = a.options.HoldsFor(s.Algorithm, s.Attacker.Trust)
	if t := s.Algorithm.training; t != nil {
		r.Workload = &t.Spec
		if t.Drawn() && !s.Attacker.Trust.Public() {
			r.Drawn = &t.Seed
		}
	}
	slices.SortFunc(a.found, func(p, q *finding) int {
		return cmp.Or(cmp.Compare(p.pair.hops(), q.pair.hops()), cmp.Compare(p.victim, q.victim))
	})
	r.Pairs = lists.Map(a.found, func(f *finding) Pair { return f.pair })
	return r, nil
}
