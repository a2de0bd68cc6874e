package spacetime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/factorize"
	"mafalda/internal/fault"
	"mafalda/internal/parallel"
	"mafalda/optim"
	"mafalda/secrets"
)

// Setting is who shares secrets, and how much noise at most, and who colludes.
type Setting struct {
	Secrets     *secrets.Graph
	Attackers   *secrets.Attackers
	LargestPair float64 // most variance of a pair, where a node alone would need 1; 0 means DefaultLargestPair

	direct int // instead of mostDirect, if not 0
}

// GapBeside returns the gap of noise between nodes that goes with a gap of the strategy over time: thirty times as
// much.
func GapBeside(gap float64) float64 { return math.Max(30*gap, 10*MinGap) }

func (s Setting) check() error {
	switch {
	case s.Secrets == nil:
		return fault.New("Secrets", nil, "no secret graph")
	case s.Attackers == nil:
		return fault.New("Attackers", nil, "no attackers")
	case s.Secrets.Nodes() != s.Attackers.Nodes():
		return fault.New("Attackers", nil, "of %d nodes for a secret graph of %d", s.Attackers.Nodes(), s.Secrets.Nodes())
	}
	return CheckLargestPair(s.LargestPair)
}

// CheckLargestPair refuses what Setting.LargestPair cannot be.
func CheckLargestPair(variance float64) error {
	if variance != 0 && !(variance >= SmallestLargestPair && variance <= 1e4) {
		return fault.New("LargestPair", variance, "must be from %v to 1e4", SmallestLargestPair)
	}
	return nil
}

// largestPair is LargestPair with its default.
func (s Setting) largestPair() float64 { return cmp.Or(s.LargestPair, DefaultLargestPair) }

// SpaceOptions tunes Space. The zero value asks for the defaults named here.
type SpaceOptions struct {
	Gap           float64 // stop at this certified relative gap; 0 means 1e-5; at least MinGap
	MaxIterations int     `in:"[0,)"` // 0 means 100
	Start         *Point  // point to start from; nil: a guess

	// Progress, if not nil, sees every step, and what Start takes.
	Progress func(it factorize.Iteration, at Point)
}

const (
	// MinGap is the smallest gap of Space that can be asked for.
	MinGap = 1e-9
	// DefaultLargestPair bounds variances of pairs, since some want infinitely much: two nodes with the same
	// neighbours, or all nodes of a complete graph. A node that drops out leaves the noise of its pairs behind, and a
	// larger bound gains next to nothing: docs/secrets-optimum.md has numbers.
	DefaultLargestPair = 300
	// SmallestLargestPair is the least that can be asked for.
	SmallestLargestPair = 0.01

	// largestOwn bounds own variances, or n/cost where that is more: own variances of 1 protect everybody, and cost n.
	largestOwn = 1e3

	defaultGap        = 1e-5
	defaultIterations = 100
)

// Point is a point of a search: variances, and the barrier parameter that belongs to them.
type Point struct {
	Own   []float64 // variances of the n nodes' own noise
	Pairs []float64 // variances of pairs, in the order of the secret graph's
	Mu    float64   // positive: an interior point. 0: somewhere
}

// SpaceResult is the end of a search.
type SpaceResult struct {
	Noise      *secrets.Noise
	Worst      secrets.Worst // Value ≤ 1, up to rounding equal
	Loss       float64       // tr(KM) of Noise
	LowerBound float64       // no noise with max [M_A⁻¹]_vv ≤ 1 and variances up to LargestPair has less
	Gap        float64       // (Loss - LowerBound)/LowerBound; +Inf if no bound was proven
	Iterations int
	Status     optim.Status // Converged if Gap is at most the one asked for
	Point      Point        // point at which the search ended
}

// ErrSpace is wrapped by errors about a K that no search can work with.
var ErrSpace = errors.New("noise over the nodes")

// Space returns the noise of least tr(KM) on the pairs of the secret graph with max ω_v [M_A⁻¹]_vv ≤ 1 for all
// attackers A and victims v, for an n×n positive semidefinite K. ω_v is Attackers.Weight, 1 where all nodes have one
// privacy level.
//
// It is a primal-dual interior method: a Newton step factors a matrix of as many rows as there are variables, nodes and
// pairs, and needs, of every attacker, M_A⁻¹, which is an update of M⁻¹ of a rank that is the number of its neighbours.
// A step costs (n+m)³/3 multiplications for that matrix, up to (n+m)² for every attacker and n(n+m)² for the
// constraints that count; some 15 steps are needed. Memory: (n+m)² numbers. Where there are more than 20 pairs a node
// the matrix holds only the pairs that pay, 30 a node at most, or 2,500 in all: see Variables.
//
// The noise that is returned is scaled so that secrets.Noise.Worst proves it, with all rounding, and LowerBound comes
// from a dual point that is feasible beyond rounding. When ctx ends first, the best noise so far is returned with
// Status optim.Interrupted. It fails with fault.Argument or ErrSpace, and as Worst does.
func Space(ctx context.Context, k *mat.SymDense, s Setting, o SpaceOptions) (*SpaceResult, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if k.SymmetricDim() != s.Secrets.Nodes() {
		return nil, fault.New("Secrets", nil, "of %d nodes for a workload of %d", s.Secrets.Nodes(), k.SymmetricDim())
	}
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	search, err := newSpaceSearch(k, s, o)
	if err != nil {
		return nil, err
	}
	search.run(ctx)
	return search.result(context.WithoutCancel(ctx), k) // what was found is to be proven
}

func (o SpaceOptions) withDefaults() (SpaceOptions, error) {
	o.Gap, o.MaxIterations = cmp.Or(o.Gap, defaultGap), cmp.Or(o.MaxIterations, defaultIterations)
	if !(o.Gap >= MinGap) {
		return o, fault.New("Gap", o.Gap, "rounding allows no less than %v", MinGap)
	}
	return o, fault.Ranges(o)
}

// spaceSearch is one search: the interior point, what is known, and how it goes on.
type spaceSearch struct {
	setting  Setting
	opts     SpaceOptions
	interior *interior
	gram     *mat.SymDense // K; nil if all there is are costs
	all      *design       // design with all pairs
	kept     []int         // the pairs of the interior point's design, ascending; nil: all

	best       []float64 // x of the least loss, of all pairs
	loss       float64   // loss of best
	bound      float64
	dual       *working // dual point that proved bound
	at         Point    // point of the search
	iterations int
	idle       int // steps without a smaller gap
	status     optim.Status
}

func newSpaceSearch(k *mat.SymDense, s Setting, o SpaceOptions) (*spaceSearch, error) {
	if trace := mat.Trace(k); !(trace > 0) || math.IsInf(trace, 0) {
		return nil, fmt.Errorf("%w: the trace of K is %v", ErrSpace, trace)
	}
	search, err := newSearchOf(newDesign(k, s), s, o)
	if err != nil {
		return nil, err
	}
	search.gram = k
	return search, nil
}

// newSearchOf returns a search at its first point.
func newSearchOf(all *design, s Setting, o SpaceOptions) (*spaceSearch, error) {
	search := &spaceSearch{setting: s, opts: o, all: all, interior: &interior{}, loss: math.Inf(1)}
	return search, search.start()
}

// aim gives the search another K, to go on from where it is. gap is the gap of the noise so far for the new K.
func (s *spaceSearch) aim(k *mat.SymDense, gap float64) error {
	const share = 0.1 // of the gap that is made by products of multipliers
	s.gram, s.all = k, newDesign(k, s.setting)
	s.loss, s.bound, s.dual = math.Inf(1), 0, nil
	in := s.interior
	in.design = s.part()
	if !in.widen(share * s.products(gap)) {
		return fmt.Errorf("%w: no start", ErrSpace)
	}
	return nil
}

// products is what the products of multipliers and what they belong to would be if they alone made a gap.
func (s *spaceSearch) products(gap float64) float64 {
	in := s.interior
	return gap * dot(in.design.cost, in.x) / float64(worstOf*in.design.nodes+len(in.x))
}

// start makes the first interior point.
func (s *spaceSearch) start() error {
	if p := s.opts.Start; p != nil {
		if err := s.all.checkPoint(p); err != nil {
			return err
		}
	}
	if len(s.all.pairs) > cmp.Or(s.setting.direct, mostDirect)*s.all.nodes {
		s.kept, s.interior.matrix.common = s.all.firstPairs(s.opts.Start), true
	}
	d := s.part()
	s.interior.design = d
	x, mu := d.guess(), 0.3
	if p := s.opts.Start; p != nil {
		for i, v := range s.restrict(append(slices.Clone(p.Own), p.Pairs...)) {
			x[i] = math.Min(math.Max(v, 1e-9*x[i]), 0.999*d.limit[i])
		}
		mu = 1e-2
	}
	position := newPosition(d, x)
	if position == nil {
		return fmt.Errorf("%w: no start", ErrSpace)
	}
	if p := s.opts.Start; p == nil || p.Mu == 0 {
		scale := 1.2 / position.least()
		for i := range x {
			x[i] = math.Min(x[i]*scale, 0.999*d.limit[i])
		}
		mu *= dot(d.cost, x) / float64(worstOf*d.nodes+len(x))
	} else {
		mu = p.Mu
	}
	if !s.interior.start(x, mu) {
		return fmt.Errorf("%w: no start", ErrSpace)
	}
	return nil
}

// checkPoint refuses a point that is not one of the design.
func (d *design) checkPoint(p *Point) error {
	if len(p.Own) != d.nodes || len(p.Pairs) != len(d.pairs) {
		return fault.New("Start", nil, "of %d nodes and %d pairs for %d and %d", len(p.Own), len(p.Pairs), d.nodes,
			len(d.pairs))
	}
	for i, v := range slices.Concat(p.Own, p.Pairs) {
		if !(v >= 0) || v > d.limit[i] {
			return fault.New("Start", nil, "has the variance %v", v)
		}
	}
	return nil
}

// guess returns own variances that are enough alone, and such of pairs that gain what they cost: little where
// cancelling them is dear.
func (d *design) guess() []float64 {
	x := make([]float64, d.size())
	degrees := make([]float64, d.nodes)
	for _, p := range d.pairs {
		degrees[p.U]++
		degrees[p.V]++
	}
	for i := range d.nodes {
		x[i] = d.weight[i]
	}
	for i, p := range d.pairs {
		share := 0.3 / math.Max(degrees[p.U], degrees[p.V])
		dear := d.cost[d.nodes+i] / (d.cost[p.U] + d.cost[p.V])
		x[d.nodes+i] = math.Min(share/(dear+1e-9)*math.Min(d.weight[p.U], d.weight[p.V]), d.limit[d.nodes+i]/2)
	}
	return x
}

// patience is how many steps may go by without a smaller gap. Cheap ones are soon given up for others.
func (s *spaceSearch) patience() int {
	if s.interior.matrix.common {
		return 5
	}
	return 12
}

// run makes steps until the gap is reached or nothing moves any more.
func (s *spaceSearch) run(ctx context.Context) {
	least := math.Inf(1)
	s.idle = 0
	for first := s.iterations; ; s.iterations++ {
		w := s.look()
		s.at = s.point()
		gap := s.gap()
		if gap < least*(1-1e-3) {
			least, s.idle = gap, 0
		} else if s.idle++; s.idle > s.patience() {
			if !s.interior.matrix.common {
				s.status = optim.Stalled
				return
			}
			s.interior.matrix.common, s.idle = false, 0
		}
		if s.opts.Progress != nil {
			s.opts.Progress(factorize.Iteration{Count: s.iterations, Loss: s.loss, LowerBound: s.bound, Gap: gap}, s.at)
		}
		switch {
		case gap <= s.opts.Gap:
			s.status = optim.Converged
		case ctx.Err() != nil:
			s.status = optim.Interrupted
		case s.iterations-first >= s.opts.MaxIterations:
			s.status = optim.IterationLimit
		case s.step(ctx, w):
			continue
		}
		return
	}
}

// step makes a step, or leaves it behind when ctx ends, and nothing looks at the interior point any more then. It
// returns false, and says why, if the search has ended.
func (s *spaceSearch) step(ctx context.Context, w *working) bool {
	const share = 0.02 // of the gap: where products are far smaller, multipliers no longer find to the costs
	least := 0.0
	if gap := s.gap(); gap < 1 {
		least = share * s.products(gap)
	}
	moved, err := parallel.Abandonable(ctx, func(context.Context) (bool, error) { return s.interior.step(w, least), nil })
	switch {
	case err != nil:
		s.status = optim.Interrupted
	case !moved:
		s.status = optim.Stalled
	}
	return moved
}

// look measures the point where the search is.
func (s *spaceSearch) look() *working {
	in := s.interior
	p := in.position.protect()
	if p == nil && s.best == nil {
		p = in.position
	}
	if p != nil {
		if loss := dot(in.design.cost, p.x) / p.least() * in.design.unit; loss < s.loss {
			s.loss, s.best = loss, s.whole(p.x)
		}
	}
	w := gather(in.position, in.active)
	dual, bound, pull := w.repair(s.all)
	if bound > s.bound || s.dual == nil {
		s.bound, s.dual = bound, dual
	}
	if s.exchange(pull) {
		return gather(in.position, in.active)
	}
	return w
}

// protect returns the position itself if pairs keep their limit once it is scaled to protect everybody. If they do not,
// it is one nearby that protects everybody: as much of x as leaves that to own variances of 2ω, since reach is concave.
// It is nil where arithmetic finds none.
func (p *position) protect() *position {
	d, least := p.design, p.least()
	over := false
	for i, v := range p.x[d.nodes:] {
		over = over || v/least > d.limit[d.nodes+i]
	}
	if !over {
		return p
	}
	const own = 2
	share := (1 - least) / (own - least)
	x := make([]float64, len(p.x))
	for i, v := range p.x {
		x[i] = (1 - share) * v
		if i < d.nodes {
			x[i] += share * own * d.weight[i]
		}
	}
	if near := newPosition(d, x); near != nil && near.least() > 1-1e-9 {
		return near
	}
	return nil
}

func (s *spaceSearch) gap() float64 { return factorize.GapOf(s.loss, s.bound) }

// point returns a copy of the interior point.
func (s *spaceSearch) point() Point {
	n := s.all.nodes
	x := s.whole(s.interior.x)
	return Point{x[:n:n], x[n:], s.interior.mu}
}
