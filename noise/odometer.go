package noise

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"mafalda/accounting"
	"mafalda/accounting/sampling"
	"mafalda/export"
	"mafalda/internal/rounding"
	"mafalda/strategy"
)

// Spent is what a node has given away when the rows 0..Steps-1 are out. Its numbers are rounded up.
type Spent struct {
	Steps   int      `json:"steps"`
	Mu      *float64 `json:"mu,omitempty"` // nil where batches are drawn in secret
	Epsilon *float64 `json:"epsilon,omitempty"`
	Delta   *float64 `json:"delta,omitempty"`
	By      Proof    `json:"by"`
	Node    string   `json:"node,omitempty"` // label of the node that has spent the most, where several nodes have different numbers
}

// Proof says where the numbers of a Spent come from.
type Proof string

// The proofs of Spent.
const (
	ByBlock     Proof = "leading block"        // sensitivity of C[:t,:t], exact for vector contributions
	ByBound     Proof = "leading block, bound" // the same, where only a bound of the sensitivity is known
	ByRounds    Proof = "rounds"               // of Poisson sampling up to the step, composed by the accountant
	ByBlocks    Proof = "blocks"               // of random allocation that have begun, each counted as a whole
	ByKnownDraw Proof = "known draw"           // leading block, as if everybody knew the draw of random bins
	ByPlan      Proof = "plan"                 // the guarantee of the whole plan, which holds after every step
)

// Limit is a privacy budget of a node: Epsilon at Delta (0: the δ of the export), or Mu.
type Limit struct {
	Epsilon float64 `json:"epsilon,omitempty"`
	Delta   float64 `json:"delta,omitempty"`
	Mu      float64 `json:"mu,omitempty"`
}

// ErrBudget is wrapped by the errors about a row that would pass a Limit.
var ErrBudget = errors.New("the privacy budget is spent")

// ErrOdometer is wrapped by the errors of an export that says too little for an odometer.
var ErrOdometer = errors.New("the export does not say what is spent")

// Odometer says what a node gives away from row to row. After t rows the mechanism is the leading block C[:t,:t] with
// patterns cut at t (strategy.Growth), against everybody who sees all messages, and with shared noise against
// everybody in the export's coalitions, for whom the rows of a pair before t are independent of its later ones. Under
// Poisson sampling the accountant composes the rounds before t, under random allocation the blocks that have begun.
// For random bins no number of a single step is proven but that for a draw that is known, and the whole plan's.
//
// No number is above the plan's. A number is for a run whose end does not depend on the records: whoever stops
// because of what a model shows can claim the plan's guarantee alone.
type Odometer struct {
	node         string // label of the node, the first one of several that have the same numbers
	manifest     *export.Manifest
	privacy      *export.Privacy  // the node's level
	growth       *strategy.Growth // nil where a draw is accounted for
	std          float64          // standard deviation of the node's Z
	contribution float64          // the most that one record can move the sum by
	mu           float64          // μ of the plan with this noise; 0 where batches are drawn in secret
	delta        float64          // 0: none
	multiplier   float64          // noise multiplier where a draw is accounted for
	adjacency    accounting.Adjacency
	known        map[sampling.Draw]float64 // ε of what has begun where batches are drawn in secret
}

// OpenOdometer reads an export, checks it as Open does, and returns the odometer of a node, named by its label, or,
// for an empty label, of all nodes: the largest numbers of any. delta is for ε; 0 takes the export's. It fails as
// Open does, and with ErrOdometer for an export without a privacy level, and for a delta that its numbers do not hold
// for.
func OpenOdometer(dir, node string, delta float64) (Odometers, error) {
	e, err := load(dir)
	if err != nil {
		return nil, err
	}
	if e.Shared != nil {
		if err := checkWorst(e); err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
	}
	labels, err := labelsOf(e)
	if err != nil {
		return nil, err
	}
	if labels == nil {
		labels = []string{node}
	} else if node != "" && !slices.Contains(labels, node) {
		return nil, noNode(node)
	}
	var all Odometers
	type kind struct {
		layer         int
		std, mu, clip float64
	}
	seen, layers := map[kind]bool{}, map[int]strategy.Strategy{}
	for i, label := range labels {
		if node != "" && node != label {
			continue
		}
		privacy, layer := e.Manifest.PrivacyOf(i), layerOf(e.Manifest, i)
		std, err := level(privacy, Options{})
		if err != nil {
			return nil, fmt.Errorf("%s: %w: %w", dir, ErrOdometer, err)
		}
		of := kind{layer, std, privacy.Mu, privacy.Clip}
		if seen[of] {
			continue
		}
		seen[of] = true
		c, known := layers[layer]
		if !known {
			if c, err = strategyAt(e, i); err != nil {
				return nil, err
			}
			layers[layer] = c
		}
		o := &Odometer{node: label, manifest: e.Manifest, privacy: privacy, std: std, delta: delta}
		if err := o.start(c); err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		all = append(all, o)
	}
	return all, nil
}

// layerOf returns the number of the strategy that a node runs.
func layerOf(m *export.Manifest, node int) int {
	if m.PerNode == nil {
		return 0
	}
	return m.PerNode.Layers[node]
}

// start fills in what follows from a manifest, a level, the standard deviation of a node's Z, at least its level's, and
// a δ, 0 for its level's, for a node that runs c.
func (o *Odometer) start(c strategy.Strategy) error {
	m, p := o.manifest, o.privacy
	if p == nil {
		return fmt.Errorf("%w: it was made without a privacy level", ErrOdometer)
	}
	o.std *= m.Part(p)
	o.known = map[sampling.Draw]float64{}
	if o.delta == 0 && p.Delta != nil {
		o.delta = *p.Delta
	}
	err := o.checkDelta()
	if err != nil {
		return err
	}
	if o.adjacency, err = accounting.ParseAdjacency(p.Adjacency); err != nil {
		return unusable(err)
	}
	o.contribution = o.adjacency.Contribution(p.Clip)
	switch {
	case m.Sampled() && !m.Binned():
		o.multiplier = m.Sampling.NoiseMultiplier
		if o.std > p.NoiseStd {
			o.multiplier = math.Max(o.multiplier, rounding.Below(o.std/o.contribution))
		}
		return nil
	case !m.Sampled():
		if o.mu, err = accounting.MuFromNoise(o.std, rounding.SqrtUp(m.SensSquared), o.contribution); err != nil {
			return fmt.Errorf("%w: %w", ErrOdometer, err)
		}
		o.mu = math.Min(o.mu, p.Mu)
	}
	schema, err := m.Schema()
	if err != nil {
		return unusable(err)
	}
	o.growth, err = strategy.NewGrowth(c, schema)
	return err
}

// checkDelta refuses a δ that is none, or that the export has no numbers for.
func (o *Odometer) checkDelta() error {
	p := o.privacy
	switch {
	case o.delta != 0 && !(o.delta > 0 && o.delta < 1):
		return fmt.Errorf("%w: delta %v must be above 0 and below 1", ErrOdometer, o.delta)
	case o.manifest.Binned() && o.delta != *p.Delta:
		return fmt.Errorf("%w for delta %v: with random bins its guarantee is for delta %v alone", ErrOdometer, o.delta,
			*p.Delta)
	}
	return nil
}

// Steps returns the number of steps, T.
func (o *Odometer) Steps() int { return o.manifest.Steps }

// After returns what is spent when the rows before step t are out. It fails for t outside 0..T, and as the accountant
// does.
func (o *Odometer) After(t int) (Spent, error) {
	s := Spent{Steps: t, By: ByBlock}
	if o.delta != 0 {
		s.Delta = &o.delta
	}
	switch sampled := o.manifest.Sampled(); {
	case t < 0 || t > o.Steps():
		return Spent{}, fmt.Errorf("step %d is not one of 0..%d", t, o.Steps())
	case t == 0:
		nothing := 0.0
		if !sampled {
			s.Mu = &nothing
		}
		if o.delta != 0 {
			s.Epsilon = &nothing
		}
		return s, nil
	case sampled && !o.manifest.Binned() && o.delta == 0:
		return s, fmt.Errorf("%w without a delta", ErrOdometer)
	case sampled && !o.manifest.Binned():
		return s, o.addDraws(&s)
	}
	return s, o.addBlock(&s)
}

// addBlock fills in what the leading block of the strategy gives away.
func (o *Odometer) addBlock(s *Spent) error {
	sens, err := o.growth.Sensitivity(s.Steps)
	if err != nil {
		return err
	}
	mu, err := accounting.MuFromNoise(o.std, rounding.SqrtUp(sens.Squared), o.contribution)
	if err != nil {
		return err
	}
	if !sens.Exact {
		s.By = ByBound
	}
	if o.manifest.Binned() {
		return o.addKnownDraw(s, mu)
	}
	if mu >= o.mu {
		mu = o.mu
		if s.By == ByBound {
			s.By = ByPlan
		}
	}
	s.Mu = &mu
	if o.delta == 0 {
		return nil
	}
	epsilon, err := accounting.Epsilon(mu, o.delta)
	if p := o.privacy; p.Delta != nil && o.delta == *p.Delta {
		epsilon = math.Min(epsilon, *p.Epsilon)
	}
	s.Epsilon = &epsilon
	return err
}

// addKnownDraw fills in ε as if the draw of random bins were known, which gives away no less than a secret one: a
// mixture of pairs of distributions is no easier to tell apart than the pair that is easiest to. Or it is the plan's.
func (o *Odometer) addKnownDraw(s *Spent, mu float64) error {
	epsilon, err := accounting.Epsilon(mu, o.delta)
	if s.By = ByKnownDraw; err != nil || epsilon >= *o.privacy.Epsilon {
		epsilon, s.By = *o.privacy.Epsilon, ByPlan
	}
	s.Epsilon = &epsilon
	return nil
}

// addDraws fills in ε of what a record can have gone through in the steps, that of the worst group.
func (o *Odometer) addDraws(s *Spent) error {
	of, p, worst := o.manifest.Sampling, o.privacy, 0.0
	all, err := of.Kind().Begun(of.Numbers(o.Steps(), o.adjacency), s.Steps)
	for _, begun := range all {
		epsilon, known := o.known[begun]
		if !known {
			if epsilon, err = begun.Epsilon(o.delta, o.multiplier); err != nil {
				return err
			}
			o.known[begun] = epsilon
		}
		worst = math.Max(worst, epsilon)
	}
	if s.By = ByBlocks; of.Kind().Traits().Independent {
		s.By = ByRounds
	}
	if o.delta == *p.Delta && worst > *p.Epsilon {
		worst, s.By = *p.Epsilon, ByPlan
	}
	s.Epsilon = &worst
	return err
}

// rowsWithin returns how many rows may go out within a limit, for the odometer's δ, T if all of them, with what they spend. The
// row after them would pass the limit. It fails with ErrBudget if the first row does, and with ErrOdometer for a limit that is
// none, or that the export has no numbers for.
func (o *Odometer) rowsWithin(limit Limit) (int, error) {
	if err := o.checkLimit(limit); err != nil {
		return 0, err
	}
	low, high := 0, o.Steps()+1 // low rows are within the limit, high rows are not
	for try := o.Steps(); high-low > 1; try = low + (high-low)/2 {
		switch s, err := o.After(try); {
		case err != nil:
			return 0, err
		case limit.holds(s):
			low = try
		case try == 1:
			return 0, fmt.Errorf("%w: row 0 alone gives away %v, more than %v", ErrBudget, s, limit)
		default:
			high = try
		}
	}
	return low, nil
}

// checkLimit refuses limits that say nothing, or that the export has no numbers for.
func (o *Odometer) checkLimit(l Limit) error {
	number := l.Epsilon + l.Mu
	switch {
	case (l.Epsilon != 0) == (l.Mu != 0):
		return fmt.Errorf("%w: a limit has an epsilon or a mu", ErrOdometer)
	case !(number > 0) || math.IsInf(number, 1):
		return fmt.Errorf("%w: a limit of %v must be positive and finite", ErrOdometer, number)
	case l.Mu != 0 && o.manifest.Sampled():
		return fmt.Errorf("%w as a mu: its batches are drawn in secret", ErrOdometer)
	case l.Epsilon != 0 && l.Delta == 0 && o.delta == 0:
		return fmt.Errorf("%w as an epsilon: it has no delta, and none is given", ErrOdometer)
	}
	return nil
}

// holds reports whether what is spent is within the limit.
func (l Limit) holds(s Spent) bool {
	if l.Mu != 0 {
		return *s.Mu <= l.Mu
	}
	return *s.Epsilon <= l.Epsilon
}

// String says the limit as it was given.
func (l Limit) String() string {
	if l.Mu != 0 {
		return fmt.Sprintf("mu = %v", l.Mu)
	}
	return fmt.Sprintf("epsilon = %v", l.Epsilon)
}

// String says the numbers, rounded up.
func (s Spent) String() string {
	text := ""
	if s.Mu != nil {
		text = "mu = " + rounding.UpText(*s.Mu, 6)
	}
	if s.Epsilon != nil {
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("epsilon = %s at delta = %g", rounding.UpText(*s.Epsilon, 6), *s.Delta)
	}
	return text
}

// stopAt sets the row that would pass a limit, if there is one.
func (s *Stream) stopAt(limit *Limit) error {
	if limit == nil {
		return nil
	}
	s.limit = *limit
	o, err := s.odometer()
	if err == nil {
		s.end, err = o.rowsWithin(*limit)
	}
	return err
}

// Limit returns the budget that the stream was opened with; zero: none. A state may have a smaller one, see End.
func (s *Stream) Limit() Limit { return s.limit }

// odometer returns the odometer of the stream, at the δ of its limit, if that has one. It is not kept: where T is
// large it takes as much memory as C.
func (s *Stream) odometer() (*Odometer, error) {
	o := &Odometer{manifest: s.manifest, privacy: s.privacy, std: s.std, delta: s.limit.Delta}
	return o, o.start(s.strategy)
}

// End returns the first row that does not come any more: T, or the row that would pass the node's budget.
func (s *Stream) End() int { return s.end }

// Spent returns what has been given away by the rows that may have been sent: all that were drawn but those that the
// next one carries. It fails with ErrOdometer for an export without a privacy level, and for noise that protects
// nothing.
func (s *Stream) Spent() (Spent, error) {
	if !s.Private() {
		return Spent{}, fmt.Errorf("%w: this noise protects nothing", ErrOdometer)
	}
	return s.spentAfter(s.next - s.carried)
}

// SpentLine says in a line for the node's log what is spent so far, and when the last row is out. It is empty for
// noise that protects nothing, and for an export without a privacy level.
func (s *Stream) SpentLine() string {
	now, err := s.Spent()
	if errors.Is(err, ErrOdometer) {
		return ""
	}
	all, err := s.spentAfter(s.end)
	if err != nil {
		return fmt.Sprintf("spent: unknown, %v", err)
	}
	return fmt.Sprintf("spent after %d of %d steps: %v; after step %d in all: %v", now.Steps, s.steps, now,
		all.Steps, all)
}

// spentAfter returns what is spent when a number of rows are out.
func (s *Stream) spentAfter(rows int) (Spent, error) {
	o, err := s.odometer()
	if err != nil {
		return Spent{}, err
	}
	return o.After(rows)
}

// endError says which row would pass the budget.
func (s *Stream) endError() error {
	next, err := s.spentAfter(s.end + 1)
	if err != nil {
		return err
	}
	return fmt.Errorf("%w before row %d, which would make it %v", ErrBudget, s.end, next)
}

// Odometers are the odometers of several nodes of one export.
type Odometers []*Odometer

// Steps returns the number of steps, T.
func (all Odometers) Steps() int { return all[0].Steps() }

// After returns what the node has spent that has spent the most: see Odometer.After.
func (all Odometers) After(t int) (worst Spent, err error) {
	for i, o := range all {
		s, err := o.After(t)
		if err != nil {
			return Spent{}, err
		}
		if i == 0 || s.Mu != nil && *s.Mu > *worst.Mu || s.Mu == nil && *s.Epsilon > *worst.Epsilon {
			worst = s
			if len(all) > 1 {
				worst.Node = o.node
			}
		}
	}
	return worst, nil
}

// Curve returns what is spent after every step of a list. The numbers never fall from step to step, but for what the
// proofs of two of them differ by, 10⁻⁶.
func (all Odometers) Curve(steps []int, progress func(done, total int)) ([]Spent, error) {
	curve := make([]Spent, len(steps))
	for i, t := range steps {
		var err error
		if curve[i], err = all.After(t); err != nil {
			return nil, err
		}
		if progress != nil {
			progress(i+1, len(steps))
		}
	}
	return curve, nil
}
