package threat

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/strategy"
)

// Exposure is what an attacker learns of one victim.
type Exposure struct {
	Victim int
	// M is the T×T matrix of what the attacker learns: gradients that change by ΔG, with rows of the T steps, move the
	// attacker's best statistic by √tr(ΔGᵀ M ΔG) standard deviations. It is the victim's block of CᵀB⁺BC in Bellet et
	// al., Theorem 7; participation turns it into a sensitivity, squared. Nil if Infinite.
	M *mat.SymDense
	// The coalition By learns most of the victim; nil without Attacker.Any.
	By []int
	// Infinite: some combination of the victim's gradients is seen without any noise. Attackers themselves are.
	Infinite bool
}

// Account computes what an attacker learns of every victim in T steps, and hands it to visit, one victim at a time, in
// any order; attackers are no victims. For noise that is independent over the steps, or correlated by a strategy of
// small memory, it costs O(T m³ + T^1.5 m²) operations a victim and O(T m²) memory, with m the nodes the attacker does
// not see (times one plus the memory of the noise). Nothing of size nT is formed.
//
// A dense strategy under PNDP goes by a direct method of O((pT)²) memory, with p the messages seen in a round, up to
// MaxDirect; ErrTooLarge beyond.
//
// Under PNDP it is for gradients that do not react to what hidden nodes learned: see Condition.
//
// With a Training, an attacker under PNDP sees its messages. Under LDP and SecLDP, M is the matrix for the noisy
// gradients themselves, of which all messages are made: what they say where it is less is not looked at.
//
// Errors: an attacker that does not exist (ErrAttacker), a strategy of other length (ErrStrategy), the context's, those
// of visit, and views whose rank floating point cannot decide (ErrUnclear), which the caller must treat as LDP.
func Account(ctx context.Context, s Scenario, visit func(Exposure) error) error {
	if err := s.check(); err != nil {
		return err
	}
	if len(s.Attacker.insiders()) == s.nodes() {
		return nil // no node is left
	}
	return s.inOwnUnits().view()(ctx, visit)
}

// view returns the way to the matrices M of the scenario.
func (s Scenario) view() func(context.Context, func(Exposure) error) error {
	switch a, trust := s.Algorithm, models[s.Attacker.Trust]; {
	case a.zip || !trust.public && a.dense == nil:
		return s.filtered
	case !trust.public:
		return s.direct
	case a.SharesNoise() && !trust.tells:
		return s.publicShared
	}
	return s.alone // own noise is all that hides
}

// filtered is the view by a Kalman filter.
func (s Scenario) filtered(ctx context.Context, visit func(Exposure) error) error {
	var all []*gains
	sys, err := s.build()
	if err == nil {
		all, err = sys.forward(ctx)
	}
	if err != nil {
		return err
	}
	return sys.respond(ctx, all, sys.backward(all), func(i int, m *mat.SymDense) error {
		if sys.slack > 0 {
			m.ScaleSym(1+sys.slack, m)
		}
		return visit(Exposure{Victim: sys.victims[i], M: m, Infinite: m == nil})
	})
}

func (a Algorithm) fits(steps int) error {
	length := steps
	if a.filter != nil && a.filter.Steps() != 0 {
		length = a.filter.Steps()
	}
	for _, c := range a.dense {
		if c.Steps() != steps {
			length = c.Steps()
		}
	}
	return errorIf(length != steps, ErrStrategy, "%d steps, not %d", length, steps)
}

// alone is the view of all messages and of all noise but a node's own.
func (s Scenario) alone(_ context.Context, visit func(Exposure) error) error {
	for v := range s.nodes() {
		if slices.Contains(s.Attacker.insiders(), v) {
			continue
		}
		m, err := s.Algorithm.LocalMatrix(v, s.steps())
		if err != nil {
			return err
		}
		if err := visit(Exposure{Victim: v, M: m, Infinite: m == nil}); err != nil {
			return err
		}
	}
	return nil
}

// LocalMatrix returns the T×T matrix of local DP, which stands for what is learned of a node whatever the attacker
// sees: the M of an Exposure to all messages, CᵀC over the variance of the noise that the node draws for itself. It is
// nil where there is no such noise. ErrStrategy for another number of steps.
func (a Algorithm) LocalMatrix(node, steps int) (*mat.SymDense, error) {
	if err := a.fits(steps); err != nil {
		return nil, err
	}
	own := a.own(node)
	if a.zip || own == 0 {
		return nil, nil
	}
	m := strategy.GramOf(a.correlation(node, steps))
	if own != 1 {
		m.ScaleSym((1+0x1p-50)/(own*own), m)
	}
	return m, nil
}

// noisingOf returns C⁻¹.
func noisingOf(c strategy.Strategy) (*mat.Dense, error) {
	var noising mat.TriDense
	if err := c.NoisingTo(&noising); err != nil {
		return nil, fmt.Errorf("inverting the strategy: %w", err)
	}
	return mat.DenseCopyOf(&noising), nil
}
