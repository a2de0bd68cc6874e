package export

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/accounting"
	"mafalda/accounting/bins"
	"mafalda/accounting/pld"
	"mafalda/accounting/sampling"
	"mafalda/participation"
)

// Sampling says how nodes draw the batches of their steps. C of SchemePoisson, SchemeTruncated and SchemeAllocation has Groups
// bands and columns of norm at most 1. C of SchemeBins has no negative entry and sens(C) = 1 under the participation.
type Sampling struct {
	Scheme string `json:"scheme" verify:"given" in:"{schemes}"` // SchemeCyclic, and then there is nothing else, or one of the others below

	// Groups is w of SchemePoisson, b of SchemeBins: a node puts every record once, independently of all others, into
	// one of these groups; step t draws from group t mod w, every record independently with Probability = w/b, in at most
	// Rounds = ⌈T/w⌉ steps. Bins have Probability 1 and k Rounds, and what is secret is the group. SchemeAllocation has k Rounds,
	// its blocks.
	Groups      int     `json:"groups,omitempty" verify:"exactly in sampling" in:"[1,)" of:"poisson! bins! allocation! truncated!"`
	Probability float64 `json:"probability,omitempty" verify:"judged in privacy" in:"(0,1]" of:"poisson! bins! allocation! truncated!"`
	Rounds      int     `json:"rounds,omitempty" verify:"judged in privacy" in:"[1,)" of:"poisson! bins! allocation! truncated!"`

	// MaxBatch, of SchemeTruncated, is the most records in a step: others that are drawn for it are dropped. Records is the
	// most that a node may have, and Overflow bounds how likely it is that a record is drawn for a step that drops.
	MaxBatch int     `json:"max_batch,omitempty" verify:"given" in:"[1,)" of:"truncated!"`
	Records  int     `json:"records,omitempty" verify:"given" in:"[1,)" of:"truncated!"`
	Overflow float64 `json:"overflow,omitempty" verify:"judged in privacy" in:"[0,1)" of:"truncated"`

	// NoiseMultiplier is the standard deviation of Z over the clip.
	NoiseMultiplier float64 `json:"noise_multiplier,omitempty" verify:"within noise in sampling" in:"(0,)" of:"poisson! bins! allocation! truncated!"`
	// Epsilon and EpsilonLower are the accountant's bounds of the least ε for Delta; of bins there is no lower one.
	Epsilon      *float64    `json:"epsilon,omitempty" verify:"judged in privacy" in:"[0,)" of:"poisson! bins! allocation! truncated!"`
	EpsilonLower *float64    `json:"epsilon_lower,omitempty" verify:"judged in privacy" in:"[0,)" of:"poisson!"`
	Delta        float64     `json:"delta,omitempty" verify:"judged in privacy" in:"(0,1)" of:"poisson! bins! allocation! truncated!"`
	Candidates   []Candidate `json:"candidates,omitempty" of:"poisson bins! allocation truncated"` // numbers of bands that were compared, ascending
	// LowerBound is a number that no strategy, whatever its class, has a smaller error than under this sampling, in the
	// unit of Manifest.ErrorAtPrivacy; 0: none is proved.
	LowerBound float64 `json:"lower_bound,omitempty" verify:"within secret in secret bound; network" in:"[0,)" of:"poisson bins truncated"`

	// SchemeBins: the guarantee is one of samples, from this seed, and may be wrong with a probability of Failure.
	// The candidates have equal shares of it, and confirmation i the share of a candidate over 2^i. Samples are of each
	// direction and confirmation.
	// Confirmations is the number of the confirmation that succeeded, with that upper bound of δ; 0 is a bound that takes
	// no samples: then there is nothing here but ConfirmedDelta. NoiseMultiplierEstimate is what the samples say without
	// confidence.
	Failure                 float64 `json:"failure_probability,omitempty" verify:"judged in sampling" in:"(0,0.5]" of:"bins"`
	Samples                 int     `json:"samples,omitempty" verify:"judged in sampling" in:"[1024,16777216]" of:"bins"`
	Seed                    *uint64 `json:"seed,omitempty" verify:"judged in sampling" of:"bins"`
	Confirmations           int     `json:"confirmations,omitempty" verify:"judged in sampling" in:"[0,12]" of:"bins"`
	ConfirmedDelta          float64 `json:"confirmed_delta,omitempty" verify:"judged in sampling" in:"(0,1)" of:"bins!"`
	NoiseMultiplierEstimate float64 `json:"noise_multiplier_estimate,omitempty" verify:"unchecked" in:"(0,)" of:"bins"`
}

// Candidate is what strategies of this number of bands (of bins: T for dense ones) cost at the same ε and δ.
type Candidate struct {
	Bandwidth       int     `json:"bandwidth" verify:"judged in sampling" in:"[1,)"`
	NoiseMultiplier float64 `json:"noise_multiplier" verify:"within noise in sampling" in:"(0,)"`
	ErrorAtPrivacy  float64 `json:"error_at_privacy" verify:"within candidate in candidates" in:"(0,)"`
	// OptimizedFor says what the strategy is best for, under SchemeBins: SchemeCyclic, where the draw is known, or
	// SchemeBins; both without a certificate.
	OptimizedFor string `json:"optimized_for,omitempty" verify:"unchecked" in:"cyclic bins" of:"bins"`
}

// The schemes of Sampling.
const (
	SchemeCyclic  = "cyclic"  // attackers may know when a record takes part
	SchemePoisson = "poisson" // in secret, every record independently
	SchemeBins    = "bins"    // every record once, in secret, into one of the batches, which are visited in turn
	// SchemeAllocation: in secret, every record in one step of each of Rounds blocks of its group's steps.
	SchemeAllocation = "allocation"
	SchemeTruncated  = "truncated" // SchemePoisson with batches of at most MaxBatch records
)

// Sampled reports whether the privacy that is claimed holds only for batches that are drawn in secret.
func (m *Manifest) Sampled() bool { return m.Sampling != nil && m.Sampling.Scheme != SchemeCyclic }

// Binned reports whether that is so, and the batches are random bins.
func (m *Manifest) Binned() bool { return m.Sampled() && m.Sampling.Scheme == SchemeBins }

// scheme returns how batches are drawn, for neighbours of this kind.
func (s *Sampling) scheme(adjacency accounting.Adjacency) sampling.Scheme {
	of, _ := participation.ParseScheme(s.Scheme) // others are out of range
	return sampling.Scheme{Of: of, Adjacency: adjacency, Batches: s.Batches()}
}

// Kind returns what is known of the scheme.
func (s *Sampling) Kind() sampling.Kind { return s.scheme(accounting.ZeroOut).Kind() }

// Numbers returns what the block says of the draws of so many steps, for neighbours of this kind.
func (s *Sampling) Numbers(steps int, adjacency accounting.Adjacency) sampling.Numbers {
	return sampling.Numbers{Scheme: s.scheme(adjacency), Steps: steps, Groups: s.Groups, Rounds: s.Rounds, Probability: s.Probability}
}

// How says in words how a node draws batches.
func (s *Sampling) How() string { return s.Kind().Condition(s.Numbers(0, accounting.ZeroOut)) }

// Condition says what else a guarantee takes whose batches are drawn in secret.
func (s *Sampling) Condition() string {
	return fmt.Sprintf("private only with batches drawn in secret (%s): %s; sums are divided by the expected size", s.Scheme, s.How())
}

// ErrSampled is wrapped by the errors of those who cannot run, or judge, an export that is private for batches drawn in
// secret only.
var ErrSampled = errors.New("its privacy is for batches that are drawn in secret")

// Schema returns the schema that sens_squared is for: the participation, or, under Poisson sampling, a single one: the
// columns of a record's group have no rows in common, and what drawing gives away is accounted for round by round. It
// fails as Participation.Of does.
func (m *Manifest) Schema() (participation.Schema, error) {
	s, err := m.Participation.Of(m.Steps)
	if err != nil || !m.Sampled() || m.Binned() {
		return s, err
	}
	return participation.Single(s), nil
}

// bounded reports whether there is a lower bound of ε, too.
func (s *Sampling) bounded() bool {
	t := s.Kind().Traits()
	return t.Independent && !t.Largest
}

// Account fills in the accountant's ε after these steps for neighbours of this kind, and how likely it is that a record is
// drawn for a step that drops: not for bins. It fails as sampling.BoundsOf does.
func (s *Sampling) Account(steps int, adjacency accounting.Adjacency) error {
	d, err := s.Numbers(steps, adjacency).Draw()
	if err != nil {
		return err
	}
	b, overflow, err := sampling.BoundsOf(d, s.Delta, s.NoiseMultiplier)
	if s.Epsilon, s.Overflow = &b.Upper, overflow; s.bounded() {
		s.EpsilonLower = &b.Lower
	}
	return err
}

// checkRange rejects keys that contradict the scheme.
func (s *Sampling) checkRange(steps int) error {
	if s == nil {
		return nil
	}
	unlike := func(c Candidate) bool { return c.Bandwidth > steps || s.Scheme == SchemeBins && c.OptimizedFor == "" }
	switch is := s.Kind().Traits(); {
	case s.Scheme == SchemeCyclic:
		return nil
	case s.Groups > steps || s.Rounds > steps || len(s.Candidates) > steps+2 || slices.ContainsFunc(s.Candidates, unlike):
		return fmt.Errorf("sampling: %d groups, %d rounds, %d candidates that say what they are, for %d steps", s.Groups, s.Rounds,
			len(s.Candidates), steps)
	case s.EpsilonLower != nil && s.Epsilon != nil && *s.EpsilonLower > *s.Epsilon:
		return errors.New("sampling.epsilon_lower is above epsilon")
	case !is.Banded:
		return s.checkBins()
	case is.Largest && s.Overflow >= s.Delta:
		return fmt.Errorf("sampling.overflow is %v: must be below delta", s.Overflow)
	}
	if err := s.Batches().Check(); err != nil {
		return fmt.Errorf("sampling truncated: %w", err)
	}
	return nil
}

// Batches are the largest ones; none if they are of any size.
func (s *Sampling) Batches() sampling.Batches {
	return sampling.Batches{Records: s.Records, Most: s.MaxBatch}
}

// checkSampling reports whether the noise level follows from the noise multiplier, and the guarantee from both. Under
// Poisson sampling each record of a group takes part in at most Rounds rounds, in columns of C that have no rows in
// common. What samples of bins say takes C (Manifest.ConfirmBins).
func (m *Manifest) checkSampling() error {
	p, s := m.Privacy, m.Sampling
	if p == nil || p.Epsilon == nil || p.Delta == nil || *p.Delta != s.Delta || p.Mu != 0 || p.Sigma != 0 {
		return contradiction("sampling %s takes an epsilon and its own delta, no mu and no sigma", s.Scheme)
	}
	adjacency, unknown := accounting.ParseAdjacency(p.Adjacency)
	asked, err := m.Participation.Of(m.Steps)
	if err = cmp.Or(err, unknown); err != nil {
		return contradiction("%w", err)
	}
	_, cyclic := asked.(participation.Cyclic)
	kind, want := s.Kind(), s.scheme(adjacency).For(asked, s.Groups)
	switch {
	case adjacency != accounting.ZeroOut && (m.Space != nil || !kind.Traits().Independent):
		return contradiction("sampling %s is accounted for under %v, not %s", s.Scheme, accounting.ZeroOut, p.Adjacency)
	case m.PerNode != nil || !m.Binned() && (m.Strategy.Class != "banded" || m.Strategy.Bandwidth > s.Groups):
		return contradiction("sampling %s from %d groups takes one strategy, of at most as many bands", s.Scheme, s.Groups)
	case m.Binned() && (!cyclic || m.Space != nil):
		return contradiction("bins are for cyclic participation, not %v, and for nodes that share no noise", asked)
	case s.Groups != want.Groups || s.Rounds != want.Rounds || s.Probability != want.Probability:
		return contradiction("%d groups have %d rounds in %d steps, with probability %v, not %d groups %d, with probability %v", want.Groups,
			want.Rounds, m.Steps, want.Probability, s.Groups, s.Rounds, s.Probability)
	case s.LowerBound > m.ErrorAtPrivacy*(1+1e-9):
		return contradiction("sampling.lower_bound is %v, above error_at_privacy, %v", s.LowerBound, m.ErrorAtPrivacy)
	case *s.Epsilon > *p.Epsilon:
		return contradiction("sampling.epsilon is %v, privacy.epsilon %v", *s.Epsilon, *p.Epsilon)
	case !m.Binned() && m.SensSquared > 1:
		return contradiction("columns have a squared norm of %v, above 1", m.SensSquared)
	}
	have, need := product(p.NoiseStd), product(s.NoiseMultiplier, p.Clip)
	if have.Cmp(need) < 0 || have.Cmp(times(need, 1+1e-9)) > 0 {
		return contradiction("noise_std is %v, but a noise multiplier of %v with clip %v takes %v", p.NoiseStd,
			s.NoiseMultiplier, p.Clip, s.NoiseMultiplier*p.Clip)
	}
	if m.Binned() {
		return nil
	}
	if err := kind.Check(asked); err != nil {
		return contradiction("%w", err)
	}
	is := *s
	if err := is.Account(m.Steps, adjacency); err != nil {
		return contradiction("%w", err)
	}
	const near, ofLargest = 1e-8, 1e-3 // what sums lose in another order, on another processor; as δ less the overflows is
	upper, least := *s.Epsilon, *s.Epsilon*(1-near)
	var lower, proven, most float64
	if kind.Traits().Largest {
		least = upper * (1 - ofLargest)
	}
	if s.bounded() {
		lower, proven = *s.EpsilonLower, *is.EpsilonLower
		most = lower * (1 + near)
		if !(pld.EpsilonBounds{Upper: upper, Lower: lower}).Accurate() { // more is proven now than by an earlier program
			least, most = 0, math.Inf(1)
		}
	}
	switch {
	case math.Abs(is.Overflow-s.Overflow) > 1e-6*is.Overflow:
		return contradiction("a record is drawn for a step that drops with a probability of %v; sampling.overflow is %v", is.Overflow,
			s.Overflow)
	case !(*is.Epsilon >= least && *is.Epsilon <= upper*(1+near) && proven >= lower*(1-near) && proven <= most):
		return contradiction("epsilon is from %v to %v; sampling says from %v to %v, privacy %v", proven, *is.Epsilon, lower, upper,
			*p.Epsilon)
	}
	return nil
}

// MaxSamples is how many samples a guarantee can be made of.
const MaxSamples = 1 << 24

// unsampled reports whether the guarantee of bins is one that takes no samples, and none are said.
func (s *Sampling) unsampled() bool { return s.Confirmations == 0 && s.Samples == 0 }

// checkBins rejects numbers that say nothing of random bins.
func (s *Sampling) checkBins() error {
	switch {
	case s.Probability != 1:
		return fmt.Errorf("sampling.probability is %v: a record of a bin is in every batch of it", s.Probability)
	case s.unsampled() && (s.Failure != 0 || s.Seed != nil || s.NoiseMultiplierEstimate != 0):
		return errors.New("sampling: no samples, but a failure_probability, a seed, or a noise_multiplier_estimate")
	case !s.unsampled() && (s.Failure == 0 || s.Samples == 0 || s.Seed == nil || s.NoiseMultiplierEstimate == 0):
		return errors.New("sampling: no samples, failure_probability, seed or noise_multiplier_estimate")
	case s.ConfirmedDelta > s.Delta:
		return errors.New("sampling: no confirmed_delta up to delta")
	}
	return nil
}

// MonteCarlo returns what the accountant of random bins was asked for. All candidates hold together with a probability
// of 1 - Failure, so that the choice among them costs nothing more: each has an equal share. It is the zero value for a
// guarantee without samples.
func (s *Sampling) MonteCarlo() bins.MonteCarlo {
	if s.unsampled() {
		return bins.MonteCarlo{}
	}
	return bins.MonteCarlo{Samples: s.Samples, Failure: s.Failure / float64(len(s.Candidates)), Seed: *s.Seed}
}

// otherProcessor is what an upper bound by the same samples may differ by.
const otherProcessor = 1e-10

// ConfirmBins computes the accountant's confirmation again, for the exported C. The error wraps ErrPrivacy where it
// fails: for a C with a negative entry, and where the δ that C, noise multiplier and samples give is not the one that
// the manifest says, or above what it claims.
func (m *Manifest) ConfirmBins(ctx context.Context, c mat.Matrix) error {
	s := m.Sampling
	b, err := bins.New(c, s.Groups)
	if err != nil {
		return contradiction("%w", err)
	}
	d, err := b.Confirm(ctx, bins.Privacy{Epsilon: *s.Epsilon, NoiseMultiplier: s.NoiseMultiplier,
		Rounds: s.Confirmations}, s.MonteCarlo())
	if ctx.Err() != nil {
		return err
	}
	if err != nil {
		return contradiction("%w", err)
	}
	apart := math.Abs(d.Upper - s.ConfirmedDelta)
	if s.Confirmations == 0 && s.Samples > 0 { // by an older accountant, which said what a known draw has
		apart = d.Upper - s.ConfirmedDelta
	}
	if !(apart <= otherProcessor*d.Upper) || d.Upper > s.Delta*(1+otherProcessor) {
		return contradiction("with a noise multiplier of %v delta is at most %v for epsilon = %v; sampling says %v, claimed are %v",
			s.NoiseMultiplier, d.Upper, *s.Epsilon, s.ConfirmedDelta, s.Delta)
	}
	return nil
}
