package pld

import (
	"math"
	"slices"

	"mafalda/accounting"
	"mafalda/accounting/internal/gaussian"
	"mafalda/internal/fault"
	"mafalda/internal/rounding"
)

// A Distribution is what Poisson-subsampled Gaussian mechanisms, run one after the other, adaptively or not, tell
// about a record: the distribution of the privacy loss of their dominating pairs, of a removed and of an added
// record, or of a replaced one. It is immutable.
type Distribution struct {
	events  []Rounds
	rounds  int  // number of rounds of all events together
	replace bool // neighbours replace a record
}

// Compose returns the privacy loss of events run one after the other. The errors are a fault.Argument of the
// field Probability, NoiseMultiplier or Rounds of an event, of Events if none is given, or of Adjacency.
func Compose(adjacency accounting.Adjacency, events ...Rounds) (*Distribution, error) {
	if err := adjacency.Check(); err != nil {
		return nil, fault.New("Adjacency", nil, "%v", err)
	}
	if len(events) == 0 {
		return nil, fault.New("Events", nil, "there are none")
	}
	d := &Distribution{replace: adjacency == accounting.ReplaceOne}
	for _, e := range events {
		if err := e.check(); err != nil {
			return nil, err
		}
		if d.rounds += e.Rounds; d.rounds > MaxRounds {
			return nil, fault.New("Rounds", e.Rounds, "are more than %d with the other events'", MaxRounds)
		}
		d.add(e)
	}
	return d, nil
}

// add appends an event, or adds its rounds to an event of the same mechanism.
func (d *Distribution) add(e Rounds) {
	for i := range d.events {
		if d.events[i].Mechanism == e.Mechanism {
			d.events[i].Rounds += e.Rounds
			return
		}
	}
	d.events = append(d.events, e)
}

// Epsilon returns bounds of the smallest ε ≥ 0 for which the events are (ε, δ)-DP. Upper is an ε that holds; with lower
// it does not, or it is 0. EpsilonBounds says how accurate they are. Parameter: 0 < δ < 1.
func (d *Distribution) Epsilon(delta float64) (upper, lower float64, err error) {
	b, err := d.EpsilonBounds(delta)
	return b.Upper, b.Lower, err
}

// EpsilonBounds returns Epsilon's bounds, and what proves the upper one. They are Accurate where a grid can hold the
// losses, which is so for ε up to some thousands and δ from 1e-12 to 0.5, of records that are drawn at least once in a
// thousand runs of all rounds; outside of that they need not be, and Lower may be 0. Where a grid shows less, and for δ below
// leastDelta, Upper is the ε of noise in every round, and By says so.
func (d *Distribution) EpsilonBounds(delta float64) (EpsilonBounds, error) {
	b, exact, err := d.formulas(delta)
	if exact || err != nil || delta < leastDelta {
		return b, err
	}
	removed, lower := d.direction(false, delta).epsilon(delta, 0)
	added := d.largestLoss()
	if added > lower && d.hasSampling() && !d.replace {
		u, l := d.direction(true, delta).epsilon(delta, removed)
		added, lower = math.Min(added, u), math.Max(lower, l)
	}
	if d.replace { // one direction is as the other
		added = 0
	}
	if grid := math.Max(removed, added); grid <= b.Upper {
		b.Upper, b.By = grid, Losses
	}
	b.Lower = math.Min(lower, b.Upper)
	return b, nil
}

// upperEpsilon returns Epsilon's upper bound, or nearly, for half the work: for a removed record, or for both
// directions. The guide belongs to a removed record.
func (d *Distribution) upperEpsilon(delta float64, both bool, g *guide) (float64, error) {
	b, exact, err := d.formulas(delta)
	if exact || err != nil || delta < leastDelta {
		return b.Upper, err
	}
	most := d.direction(false, delta).upperEpsilon(delta, g)
	if added := d.largestLoss(); both && added > most && !d.replace {
		most = math.Max(most, math.Min(added, d.direction(true, delta).upperEpsilon(delta, &guide{})))
	}
	return math.Min(most, b.Upper), nil
}

// formulas returns the bounds that take no grid, and whether they are exact.
func (d *Distribution) formulas(delta float64) (b EpsilonBounds, exact bool, err error) {
	if !(delta > 0 && delta < 1) {
		return b, false, fault.New("Delta", delta, "must be above 0 and below 1")
	}
	if d.variation() <= delta {
		return EpsilonBounds{By: Nothing}, true, nil
	}
	upper, err := accounting.Epsilon(d.fullBatchMu(), delta)
	if err != nil {
		return b, false, err
	}
	if lower := lowerEpsilon(d.fullBatchMu(), upper, delta); lower > 0 && !d.hasSampling() {
		return EpsilonBounds{upper, lower, NoSampling}, true, nil
	}
	return EpsilonBounds{Upper: upper, By: EveryRound}, false, nil
}

// distance is the distance of two neighbours' contributions in clipping norms.
func (d *Distribution) distance() float64 {
	if d.replace {
		return 2
	}
	return 1
}

// variation bounds δ(0), the total variation of all rounds: with p = q(2Φ(a/(2s)) - 1) for one round, a apart, a round
// can be drawn together with and without the record so that it differs with probability p, and all rounds with 1 - Π(1-p).
func (d *Distribution) variation() float64 {
	log := 0.0
	for _, e := range d.events {
		one := e.Probability * math.Erf(d.distance()/(2*math.Sqrt2*e.NoiseMultiplier))
		log += float64(e.Rounds) * math.Log1p(-math.Min(one*(1+1e-14), 1))
	}
	return -math.Expm1(log * (1 + 1e-9))
}

// largestLoss bounds the loss of an added record, Σ -log(1-q).
func (d *Distribution) largestLoss() float64 {
	sum := 0.0
	for _, e := range d.events {
		sum -= float64(e.Rounds) * math.Log1p(-e.Probability)
	}
	return sum * (1 + 1e-9)
}

// hasSampling reports whether there is any sampling: without it a removed and an added record are the same.
func (d *Distribution) hasSampling() bool {
	return slices.ContainsFunc(d.events, func(e Rounds) bool { return e.Probability < 1 })
}

// Delta returns bounds of the smallest δ for which the events are (ε, δ)-DP. Parameter: ε ≥ 0, finite.
func (d *Distribution) Delta(epsilon float64) (upper, lower float64, err error) {
	if !(epsilon >= 0) || math.IsInf(epsilon, 1) {
		return 0, 0, fault.New("Epsilon", epsilon, "must be zero or more, and finite")
	}
	upper, err = accounting.Delta(d.fullBatchMu(), epsilon)
	if err != nil {
		return 0, 0, err
	}
	upper = math.Min(upper, d.variation())
	removed, lower := d.direction(false, leastDelta).delta(epsilon)
	if d.largestLoss() > epsilon && d.hasSampling() && !d.replace {
		u, l := d.direction(true, leastDelta).delta(epsilon)
		removed, lower = math.Max(removed, u), math.Max(lower, l)
	}
	upper = math.Min(upper, removed)
	return upper, math.Min(lower, upper), nil
}

// leastDelta is a δ below which there is no grid for an ε, and Delta is less accurate.
const leastDelta = 1e-20

// fullBatchMu returns the μ of the same Gaussian mechanisms with every record in every round, which are never more private:
// δ is convex in a mixture, and no δ is smaller than the δ of a record that is not drawn.
func (d *Distribution) fullBatchMu() float64 {
	mus := make([]float64, len(d.events))
	for i, e := range d.events {
		mus[i] = d.distance() * math.Sqrt(float64(e.Rounds)) / e.NoiseMultiplier * (1 + 0x1p-50)
	}
	mu, err := accounting.Compose(mus...)
	if err != nil {
		return math.Inf(1)
	}
	return mu
}

// lowerEpsilon returns an ε of noise of this μ a little below an upper bound that does not hold, or 0 if that is not
// clear.
func lowerEpsilon(mu, upper, delta float64) float64 {
	m, lower := mu*(1-1e-12), upper*(1-1e-9)
	if l, _ := gaussian.LogDelta(m, lower); l > rounding.Log(delta) {
		return lower
	}
	return 0
}

// Fractions of δ that may be cut off from the losses, and of a round's mass at the low end, where it hardly counts.
const (
	cutOff    = 1e-9
	cutOffLow = 1e-13
)

// A direction is the events' loss under removal, or addition, of a record.
type direction struct {
	pairs    []lossPair
	rounds   []int
	from, to []float64 // outcomes that count
	composition
	total float64
}

func (d *Distribution) direction(add bool, delta float64) *direction {
	r := &direction{total: float64(d.rounds)}
	for _, e := range d.events {
		p := lossPair{q: e.Probability, s: e.NoiseMultiplier, add: add, replace: d.replace}
		from, to := p.support(cutOff*delta/r.total, cutOffLow/r.total)
		r.pairs, r.rounds = append(r.pairs, p), append(r.rounds, e.Rounds)
		r.from, r.to = append(r.from, from), append(r.to, to)
		r.composition = append(r.composition, p.cumulants(from, to, e.Rounds))
	}
	return r
}

// accuracy is the difference of the two bounds, relative to ε, that grids are made for; and tries how many grids
// there may be to come below goodEnough.
const (
	accuracy   = 5e-4
	goodEnough = 1.2e-3
	tries      = 4
)

// step returns a grid for a saddle: of a round's loss, the variance grows by about step²/6 on the pessimistic side,
// and falls by a little more on the optimistic one, which moves δ by the factor e^{(τ+1)τ/2·rounds·step²(1/6+1/5)}. A
// grid that is small for that is made finer. None is so fine as an approximation asks for that was poor.
func (r *direction) step(s saddle, slope, accuracy float64) float64 {
	_, _, variance := r.evaluate(math.Max(s.tilt, 0) * restraint)
	std := math.Sqrt(variance) // of the losses as they are tilted for the saddle
	goal := accuracy * math.Max(s.epsilon, 0.05*math.Sqrt(s.variance))
	step := math.Sqrt(goal / (0.18 * r.total * (math.Max(slope, 0) + 1)))
	step = math.Max(math.Min(step, math.Max(s.epsilon, 16*std)/smallGrid), step/2)
	return rounding.Few(math.Max(math.Min(step, 0.5), std*3e-5))
}

// smallGrid is a number of points that costs little.
const smallGrid = 1 << 12

// lattices returns the events' losses on a grid, from above or from below.
func (r *direction) lattices(step float64, s saddle, above bool) ([]lossLattice, error) {
	var all []lossLattice
	for i, p := range r.pairs {
		nodes, ok := r.composition[i].grade([2]float64{p.loss(r.from[i]), p.loss(r.to[i])}, step, r.total, s)
		if !ok {
			return nil, fault.New("NoiseMultiplier", p.s, "is too small for a grid of at most %d losses", maxNodes)
		}
		h := p.histogram(r.from[i], r.to[i], step, nodes)
		if above {
			all = append(all, h.pessimistic())
		} else {
			all = append(all, h.optimistic(r.rounds[i]))
		}
	}
	return all, nil
}

// bounds returns the two curves around a saddle; the lower one is nil if not asked for, and where it would show nothing or
// its grid has too many points.
func (r *direction) bounds(s saddle, step float64, both bool) (upper, lower *privacyCurve, err error) {
	u, err := r.side(s, step, true)
	if err != nil {
		return nil, nil, err
	}
	c := u.upper()
	if !both {
		return &c, nil, nil
	}
	l, err := r.side(s, step, false)
	if err != nil {
		return &c, nil, nil
	}
	o := l.lower()
	return &c, &o, nil
}

// side composes the losses from above or from below.
func (r *direction) side(s saddle, step float64, above bool) (*composedLoss, error) {
	parts, err := r.lattices(step, s, above)
	if err != nil {
		return nil, err
	}
	return compose(parts, r.rounds, r.composition, r.window(s, step), above)
}
