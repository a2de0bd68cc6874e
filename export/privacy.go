package export

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"mafalda/accounting"
	"mafalda/internal/rounding"
	"mafalda/secrets"
)

// ErrPrivacy is wrapped by errors about a noise level that does not follow from the guarantee it is stated with.
var ErrPrivacy = errors.New("the privacy block contradicts itself")

// contradiction returns an error that wraps ErrPrivacy.
func contradiction(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrPrivacy, fmt.Errorf(format, args...))
}

// CheckPrivacy reports whether the noise level of the manifest follows from the guarantee that it is stated with, and
// both from sens_squared, which is 1 in every export up to rounding. A manifest without a privacy block claims
// nothing that could be wrong but sens_squared. Whether that is the sensitivity of the strategy is for those who
// compute it.
//
// The noise is compared in exact arithmetic: noise_std²·μ² ≥ sens²·contribution². What it may fall short by is 2⁻⁵²,
// three roundings of a calibration in floating point, less the two units in the last place that it adds. Numbers that
// err in the other direction, more noise or a larger ε than needed, are true, but no calibration made them: they
// may differ by 10⁻⁹ (ε: by what a μ that much larger would allow). Where batches are drawn in secret, the same is
// done with the noise multiplier of Sampling, and its ε is accounted for again.
func (m *Manifest) CheckPrivacy() error {
	if !(math.Abs(m.SensSquared-1) <= 1e-6) {
		return contradiction("sens_squared is %v: strategies are exported with 1", m.SensSquared)
	}
	if m.Space != nil && !(m.Space.Worst.Value <= 1) {
		return contradiction("space.worst.value is %v: noise that is shared is exported with 1 at most", m.Space.Worst.Value)
	}
	p := m.Privacy
	if p == nil && !m.Sampled() {
		return nil
	}
	if err := cmp.Or(m.checkRanges("privacy"), m.checkRanges("sampling"), p.checkRange(m.Sampled())); err != nil {
		return contradiction("%w", err)
	}
	if m.Sampled() {
		return m.checkSampling()
	}
	if err := m.checkLevel(p); err != nil {
		return err
	}
	return m.checkLevels()
}

// checkLevel reports whether the noise of a level follows from its guarantee.
func (m *Manifest) checkLevel(p *Privacy) error {
	if math.Abs(p.Sigma*p.Mu-1) > 0x1p-50 {
		return contradiction("sigma is %v, but 1/mu is %v", p.Sigma, 1/p.Mu)
	}
	adjacency, err := accounting.ParseAdjacency(p.Adjacency)
	if err != nil {
		return contradiction("%w", err)
	}
	contribution := adjacency.Contribution(p.Clip)
	have := product(p.NoiseStd, p.NoiseStd, p.Mu, p.Mu)
	need := product(m.SensSquared, contribution, contribution)
	if have.Cmp(times(need, 1-0x1p-51)) < 0 || have.Cmp(times(need, 1+2e-9)) > 0 {
		return contradiction("noise_std is %v, but mu = %v with clip %v under %s takes %v", p.NoiseStd, p.Mu, p.Clip, p.Adjacency,
			math.Sqrt(m.SensSquared)*contribution/p.Mu)
	}
	return p.checkEpsilon()
}

// checkEpsilon compares (ε, δ) with μ, if they are there.
func (p *Privacy) checkEpsilon() error {
	if p.Delta == nil {
		return nil
	}
	holds := func(mu float64) (bool, error) {
		l, err := accounting.LogDelta(mu, *p.Epsilon)
		return err == nil && l <= rounding.Log(*p.Delta), err
	}
	enough, err := holds(p.Mu * (1 - 0x1p-48)) // 16 units in the last place: what computing δ leaves open
	if err != nil {
		return contradiction("%w", err)
	}
	more, _ := holds(p.Mu * (1 + 1e-9)) // an error is a μ out of range, for which nothing holds
	if enough && (!more || *p.Epsilon == 0) {
		return nil
	}
	least, err := accounting.Epsilon(p.Mu, *p.Delta)
	if err != nil {
		return contradiction("%w", err)
	}
	return contradiction("epsilon is %v, but mu = %v with delta = %v is epsilon = %v", *p.Epsilon, p.Mu, *p.Delta,
		least)
}

// checkRange rejects privacy blocks that lack a part of what they say. There are no μ and σ where batches are drawn in secret.
func (p *Privacy) checkRange(sampled bool) error {
	switch {
	case p == nil:
	case !sampled && (p.Mu == 0 || p.Sigma == 0):
		return errors.New("privacy has no mu, or no sigma")
	case (p.Epsilon == nil) != (p.Delta == nil):
		return errors.New("privacy has one of epsilon and delta, which belong together")
	}
	return nil
}

// product multiplies exactly.
func product(factors ...float64) *big.Float {
	p := new(big.Float).SetPrec(300).SetInt64(1)
	for _, f := range factors {
		p.Mul(p, big.NewFloat(f))
	}
	return p
}

func times(x *big.Float, f float64) *big.Float {
	return new(big.Float).SetPrec(400).Mul(x, big.NewFloat(f))
}

// Guarantee states in words what is promised. A μ that was computed for an (ε, δ) has no more digits than are written
// here; other numbers are rounded up.
func (m *Manifest) Guarantee() string {
	p := m.Privacy
	against := "everybody who sees all messages (local DP)"
	if m.Space != nil {
		const sees = "everybody who sees all messages, and against "
		switch n := m.Space.Coalitions.Size; n {
		case 0: // not everybody is curious
			against = sees + "the coalitions that were named, or parts of them, with the secrets of their pairs (SecLDP), but not against nodes in none of them"
		case 1:
			against = sees + "any one node with the secrets of its pairs (SecLDP)"
		default:
			against = fmt.Sprintf(sees+"any %d nodes with the secrets of their pairs (SecLDP)", n)
		}
	}
	if m.Budgets != nil {
		return m.levelsText() + ", against " + against
	}
	if p.Mu == 0 {
		s := fmt.Sprintf("(%s, %g)-DP against %s, if nodes draw their batches in secret, as sampling says",
			rounding.UpText(*p.Epsilon, 6), *p.Delta, against)
		if m.Binned() && m.Sampling.Confirmations > 0 {
			s += fmt.Sprintf(" (but for a chance of %.2g in the accountant's samples)", m.Sampling.Failure)
		}
		return s
	}
	s := "mu = " + rounding.UpText(p.Mu, accounting.MuDigits)
	if p.Epsilon != nil {
		s += fmt.Sprintf(", that is (%s, %g)-DP", rounding.UpText(*p.Epsilon, 6), *p.Delta)
	}
	return s + " against " + against
}

// NodeLevel is the privacy level of one node, where every node has its own. Its noise has standard deviation NoiseStd,
// for sums of gradients clipped to Clip, and is Mu-GDP. Where nodes share noise all have one NoiseStd, the unit of
// own rows and pairs' rows: these are what makes one node's noise larger than another's. The block
// "privacy" of the manifest is then a level that is strict enough for every node: the least μ with the largest clip,
// and so no less noise than any node's. A reader of that block alone protects every node.
type NodeLevel struct {
	Node     string   `json:"node" verify:"judged in privacy"` // its label; in the order of nodes.csv
	Mu       float64  `json:"mu" verify:"judged in privacy" in:"(0,)"`
	Epsilon  *float64 `json:"epsilon,omitempty" verify:"judged in privacy" in:"[0,)"`
	Delta    *float64 `json:"delta,omitempty" verify:"judged in privacy" in:"(0,1)"`
	Clip     float64  `json:"clip" verify:"judged in privacy" in:"(0,)"`
	NoiseStd float64  `json:"noise_std" verify:"judged in privacy" in:"(0,)"`
}

// LevelWeights returns how much the noise of every node counts: its variance over that of the block "privacy", (clip/μ)²
// over (the largest clip / the least μ)², at most 1.
func LevelWeights(levels []NodeLevel) []float64 {
	clip, mu := strictest(levels)
	weights := make([]float64, len(levels))
	for i, l := range levels {
		root := math.Min(l.Clip/clip*(mu/l.Mu), 1)
		weights[i] = root * root
	}
	return weights
}

// strictest returns the largest clip and the least μ.
func strictest(levels []NodeLevel) (clip, mu float64) {
	mu = math.Inf(1)
	for _, l := range levels {
		clip, mu = math.Max(clip, l.Clip), math.Min(mu, l.Mu)
	}
	return clip, mu
}

// PrivacyOf returns the level of node i (see nodes.csv): its own, or the one that all nodes have; nil for none.
func (m *Manifest) PrivacyOf(i int) *Privacy {
	if m.Budgets == nil || i >= len(m.Budgets) {
		return m.Privacy
	}
	l := m.Budgets[i]
	return &Privacy{Mu: l.Mu, Sigma: rounding.DivUp(1, l.Mu), Epsilon: l.Epsilon, Delta: l.Delta, Clip: l.Clip,
		Adjacency: m.Privacy.Adjacency, NoiseStd: l.NoiseStd}
}

// Part returns which part of a node's noise_std would protect it as well if the node shared no noise, for its level p,
// rounded down: 1 but where nodes share noise and have levels of their own.
func (m *Manifest) Part(p *Privacy) float64 {
	if m.Space == nil || m.Budgets == nil {
		return 1
	}
	return math.Min(p.Clip/m.Privacy.Clip*(m.Privacy.Mu/p.Mu), 1) * (1 - 0x1p-48)
}

// Attackers returns the coalitions of a space for nodes with these labels, in the order of nodes.csv. What they learn
// of a node is weighed by its budget, where nodes have their own: LevelWeights, rounded up. It fails as
// Coalitions.Attackers does.
func (m *Manifest) Attackers(labels []string) (*secrets.Attackers, error) {
	a, err := m.Space.Coalitions.Attackers(labels)
	if err != nil || m.Budgets == nil {
		return a, err
	}
	return a.Weighing(SharedWeights(m.Budgets))
}

// SharedWeights returns LevelWeights rounded up, for noise that nodes share.
func SharedWeights(levels []NodeLevel) []float64 {
	weights := LevelWeights(levels)
	for i := range weights {
		weights[i] *= 1 + 0x1p-48
	}
	return weights
}

// ErrLevels is wrapped by the errors of those who know one privacy level for all nodes alone.
var ErrLevels = errors.New("every node has a privacy level of its own")

// checkLevelRange refuses levels that nothing could be made of.
func (m *Manifest) checkLevelRange() error {
	switch {
	case m.Budgets == nil && m.OneLevelLoss != 0:
		return errors.New("one_level_loss is for budgets")
	case m.Budgets == nil:
		return nil
	case m.Privacy == nil || m.Graph == nil || len(m.Budgets) != m.Graph.Nodes:
		return fmt.Errorf("there are %d budgets, which need a privacy block and a graph of as many nodes", len(m.Budgets))
	case m.Sampled():
		return errors.New("budgets are for batches in turn")
	case m.Space != nil && m.OneLevelLoss != 0:
		return errors.New("one_level_loss is for nodes that share no noise")
	}
	for i, l := range m.Budgets {
		if err := m.PrivacyOf(i).checkRange(false); err != nil {
			return fmt.Errorf("budgets[%d], node %q: %w", i, l.Node, err)
		}
	}
	return nil
}

// checkLevels reports whether every node's noise follows from its level, and the block "privacy" is strict enough for all.
func (m *Manifest) checkLevels() error {
	if m.Budgets == nil {
		return nil
	}
	if clip, mu := strictest(m.Budgets); m.Privacy.Clip != clip || m.Privacy.Mu != mu {
		return contradiction("privacy has clip %v and mu = %v, the strictest of budgets %v and %v", m.Privacy.Clip, m.Privacy.Mu,
			clip, mu)
	}
	for i, l := range m.Budgets {
		var err error
		switch {
		case m.Space == nil:
			err = m.checkLevel(m.PrivacyOf(i))
		case l.NoiseStd != m.Privacy.NoiseStd: // pairs have the same rows at both ends
			err = contradiction("noise_std is %v, and all nodes' %v", l.NoiseStd, m.Privacy.NoiseStd)
		default:
			err = m.PrivacyOf(i).checkEpsilon()
		}
		if err != nil {
			return fmt.Errorf("node %q: %w", l.Node, err)
		}
	}
	return nil
}

// checkLevelNodes compares the labels of the levels with those of nodes.csv.
func (e *Export) checkLevelNodes() error {
	if e.Manifest.Budgets == nil {
		return nil
	}
	labels, err := e.NodeLabels()
	if err != nil {
		return err
	}
	if !slices.EqualFunc(labels, e.Manifest.Budgets, func(label string, l NodeLevel) bool { return label == l.Node }) {
		return fmt.Errorf("%s: budgets are of other nodes than nodes.csv has", e.Dir)
	}
	return nil
}

// levelsText says how far the levels are apart.
func (m *Manifest) levelsText() string {
	byMu := func(a, b NodeLevel) int { return cmp.Compare(a.Mu, b.Mu) }
	least, most := slices.MinFunc(m.Budgets, byMu), slices.MaxFunc(m.Budgets, byMu)
	text := func(l NodeLevel) string {
		s := "mu = " + rounding.UpText(l.Mu, accounting.MuDigits)
		if l.Epsilon != nil {
			s += fmt.Sprintf(", (%s, %g)-DP,", rounding.UpText(*l.Epsilon, 6), *l.Delta)
		}
		return s + fmt.Sprintf(" of %q", l.Node)
	}
	return fmt.Sprintf("every node has its own level (budgets), from %s to %s", text(least), text(most))
}
