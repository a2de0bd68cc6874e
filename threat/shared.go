package threat

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/internal/lists"
	"mafalda/secrets"
	"mafalda/strategy"
)

// sharing is noise that nodes share in pairs, in the proportions of an export, and who must not learn more than it says.
type sharing struct {
	noise *export.SharedNoise
	claim *secrets.Attackers
}

// withShared is the algorithm with the noise of an export's space. It goes by the direct method. The noise of an own
// row, and of one that a pair shares, is in units of the export's noise_std: a node with noise of its own alone would
// have 1.
func (a Algorithm) withShared(e *export.Export) (Algorithm, error) {
	claim, err := e.Manifest.Attackers(e.Shared.Labels)
	if err != nil {
		return a, err
	}
	a.space = &sharing{e.Shared, claim}
	a.filter, a.dense = nil, a.origin.strategies
	return a, nil
}

// Withstands reports whether no coalition that an export allows learns more of its noise, with all rounding, than of
// noise of variance one, which is what its strategy needs; nil where nodes share none. The errors are export.ErrPrivacy
// and the context's.
func Withstands(ctx context.Context, e *export.Export) error {
	if e.Shared == nil {
		return nil
	}
	attackers, err := e.Manifest.Attackers(e.Shared.Labels)
	if err != nil {
		return err
	}
	worst, err := e.Shared.WorstWithin(ctx, attackers, 1)
	if err == nil && !(worst.Value <= 1) {
		err = fmt.Errorf("%w: node %q is hidden by less noise than its strategy needs: [M_A⁻¹]_vv is %v", export.ErrPrivacy,
			e.Shared.Labels[worst.Victim], worst.Value)
	}
	return err
}

// Claim returns the coalitions that the noise of an export is meant to withstand; nil where nodes share none.
func (a Algorithm) Claim() *secrets.Attackers {
	if a.space == nil {
		return nil
	}
	return a.space.claim
}

// Worst returns whichever of the attackers learns most of a step's noise, and of whom, by its level: [M_A⁻¹]_vv. The
// victim is one among those given, or any if there are none. The errors are ErrAttacker of an algorithm whose nodes
// share no noise, or of other nodes, and the context's.
func (a Algorithm) Worst(ctx context.Context, attackers *secrets.Attackers, victims ...int) (secrets.Worst, error) {
	if a.space == nil || attackers.Nodes() != len(a.space.noise.Own) {
		return secrets.Worst{}, fmt.Errorf("%w: coalitions are for noise that these nodes share in pairs", ErrAttacker)
	}
	most, err := a.exposedTo(ctx, attackers)
	if err != nil {
		return secrets.Worst{}, err
	}
	less := func(a, b secrets.Worst) int { return cmp.Compare(a.Value, b.Value) }
	if len(victims) == 0 {
		return slices.MaxFunc(most, less), nil
	}
	return slices.MaxFunc(lists.Map(victims, func(v int) secrets.Worst { return most[v] }), less), nil
}

// promised returns a squared sensitivity, and at most what the export promises: where nodes share noise, the coalitions that
// it allows learn no more than with noise of variance one, whatever its files say.
func (s Scenario) promised(squared float64) (float64, error) {
	n, by := s.Algorithm.space, s.Attacker
	if n == nil || models[by.Trust].tells || by.Any == nil && !n.claim.Allow(by.Nodes) || by.Any != nil && by.Any != n.claim {
		return squared, nil
	}
	most, err := Best.Squared(Exposure{M: strategy.GramOf(s.Algorithm.correlation(0, s.steps()))}, s.Schema, math.Inf(1))
	return math.Min(squared, most), err
}

// checkShared refuses noise that is shared between other nodes, and what is not accounted for with it.
func (s Scenario) checkShared() error {
	n := s.Algorithm.space
	if n == nil {
		return errorIf(s.Attacker.Any != nil, ErrAttacker, "coalitions are for noise that nodes share in pairs")
	}
	return cmp.Or(
		errorIf(len(n.noise.Own) != s.nodes(), ErrStrategy, "noise of %d nodes for %d", len(n.noise.Own), s.nodes()),
		errorIf(!s.Attacker.Trust.Public() && s.Algorithm.training != nil, ErrStrategy, "with an optimizer, noise that nodes share "+
			"is accounted for under SecLDP, which holds under PNDP, too"),
	)
}

// exposures returns what is learned of every node in a step, rounded up, by its level: by the attacking nodes or by the
// coalition that learns most of it.
func (s Scenario) exposures(ctx context.Context) ([]secrets.Worst, error) {
	if s.Attacker.Any != nil {
		return s.Algorithm.exposedTo(ctx, s.Attacker.Any)
	}
	learned, err := s.Algorithm.drawn(s.Gossip).Learned(s.Attacker.insiders())
	all := make([]secrets.Worst, len(learned))
	for v, l := range learned {
		part := s.Algorithm.part(v)
		all[v] = secrets.Worst{Victim: v, Value: l * (part * part) * (1 + 0x1p-48)}
	}
	return all, err
}

// exposedTo is secrets.Noise.Exposed, by the levels of the nodes.
func (a Algorithm) exposedTo(ctx context.Context, attackers *secrets.Attackers) ([]secrets.Worst, error) {
	if a.levels != nil {
		weights := lists.Map(a.levels, func(l OwnLevel) float64 { return l.Part * l.Part * (1 + 0x1p-48) })
		var err error
		if attackers, err = attackers.Weighing(weights); err != nil {
			return nil, err
		}
	}
	return a.space.noise.Exposed(ctx, attackers)
}

// publicShared is the view of all messages, by attackers who know their own secrets, of noise of the covariance
// M ⊗ (CᵀC)⁻¹: what is learned of a victim is [M_A⁻¹]_vv CᵀC.
func (s Scenario) publicShared(ctx context.Context, visit func(Exposure) error) error {
	learned, err := s.exposures(ctx)
	if err != nil {
		return err
	}
	gram := strategy.GramOf(s.Algorithm.correlation(0, s.steps()))
	for v, l := range learned {
		if slices.Contains(s.Attacker.insiders(), v) {
			continue
		}
		e := Exposure{Victim: v, By: l.Attacker, Infinite: math.IsInf(l.Value, 1)}
		if !e.Infinite {
			e.M = mat.NewSymDense(gram.SymmetricDim(), nil)
			e.M.ScaleSym(l.Value*(1+0x1p-51), gram)
		}
		if err := visit(e); err != nil {
			return err
		}
	}
	return nil
}

// exposed returns the node with the least noise of its own, beside its level, which is all that is left of noise whose
// other parts some node knows.
func (a Algorithm) exposed() int {
	nodes := lists.UpTo(len(a.space.noise.Own))
	return slices.MinFunc(nodes, func(i, j int) int { return cmp.Compare(a.own(i), a.own(j)) })
}

// unknownPairs returns all pairs that touch no attacker.
func (n *sharing) unknownPairs(attackers []int) []secrets.Shared {
	return slices.DeleteFunc(slices.Clone(n.noise.Pairs), func(p secrets.Shared) bool {
		return slices.Contains(attackers, p.U) || slices.Contains(attackers, p.V) || p.Deviation == 0
	})
}
