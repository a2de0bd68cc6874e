package threat

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
	"mafalda/internal/gemm"
	"mafalda/internal/lists"
	"mafalda/strategy"
)

// Exposure is what an attacker learns of one victim.
type Exposure struct {
	Victim int
	// M is the T×T matrix of what the attacker learns: gradients that change by ΔG, with rows of the T steps, move the
	// attacker's best statistic by √tr(ΔGᵀ M ΔG) standard deviations. It is the victim's block of CᵀB⁺BC in Bellet et
	// al., Theorem 7; participation turns it into a sensitivity, squared. Nil if Infinite.
	M *mat.SymDense
	// By is, with Attacker.Any, the coalition that learns most of the victim.
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
	if len(s.Attacker.Nodes) == s.nodes() {
		return nil // nobody is left
	}
	s = s.inOwnUnits()
	switch {
	case s.Attacker.Trust == LDP && s.Algorithm.SharesNoise():
		return s.alone(visit)
	case s.Algorithm.dense != nil && s.Algorithm.training != nil && s.Attacker.Trust == PNDP:
		return s.directTrained(ctx, visit)
	case s.Algorithm.dense != nil:
		return s.direct(ctx, visit)
	}
	sys, err := s.build()
	if err != nil {
		return err
	}
	all, err := sys.forward(ctx)
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
	if a.dense != nil {
		length = a.steps
	}
	for _, c := range a.each {
		if c.Steps() != steps {
			length = c.Steps()
		}
	}
	if length != steps {
		return fmt.Errorf("%w: %d steps, not %d", ErrStrategy, length, steps)
	}
	return nil
}

// MaxDirect is the largest pT of the direct method: 200 MB and some minutes.
const MaxDirect = 5000

// ErrTooLarge is returned for views beyond MaxDirect.
var ErrTooLarge = errors.New("view is too large for a dense strategy: use a structured one")

// direct works with the covariance of everything the attacker sees: with responses h_j of what is seen to messages j
// rounds earlier, noise B = h(C⁻¹ ⊗ I), M = hᵀ(BBᵀ)⁻¹h.
func (s Scenario) direct(ctx context.Context, visit func(Exposure) error) error {
	switch {
	case s.Attacker.Trust != PNDP && s.Algorithm.space != nil:
		return s.publicShared(ctx, visit)
	case s.Attacker.Trust != PNDP: // all messages: every node's own noise is all there is
		return s.public(visit)
	}
	steps, p := s.steps(), s.pieces()
	if p.h == nil {
		return nothing(p.victims, steps, visit)
	}
	if s.Algorithm.tooWide() {
		return ErrUnclear
	}
	seen, _ := p.h.Dims()
	size := seen * steps
	if size > MaxDirect {
		return fmt.Errorf("%w (%d messages in %d steps make %d, more than %d)", ErrTooLarge, seen, steps, size,
			MaxDirect)
	}
	responses := p.impulses(steps)
	chol, err := s.seenNoise(ctx, p.nodes, responses, size)
	if err != nil {
		return err
	}
	column := lists.Places(p.nodes)
	for _, victim := range p.victims {
		if err := ctx.Err(); err != nil {
			return err
		}
		h := toeplitz(responses, column[victim], steps)
		var solved mat.Dense
		if err := chol.SolveTo(&solved, h); err != nil {
			return ErrUnclear
		}
		if err := visit(Exposure{Victim: victim, M: symmetric(mul(h.T(), &solved))}); err != nil {
			return err
		}
	}
	return nil
}

// seenNoise returns the factor of BBᵀ, the covariance of the noise in all that is seen: size numbers.
func (s Scenario) seenNoise(ctx context.Context, nodes []int, responses []*mat.Dense,
	size int) (*dense.Cholesky, error) {
	covariance := blas64.Symmetric{N: size, Stride: size, Data: make([]float64, size*size), Uplo: blas.Upper}
	for i, v := range nodes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		z, err := noisingOf(s.Algorithm.dense(v))
		if err != nil {
			return nil, err
		}
		b := mul(toeplitz(responses, i, s.steps()), z)
		variance := 1.0
		if n := s.Algorithm.space; n != nil {
			own := n.noise.Own[v] / s.Algorithm.part(v)
			variance = own * own
		}
		gemm.Syrk(blas.NoTrans, variance, b.RawMatrix(), 1, covariance)
	}
	if err := s.addPairs(ctx, nodes, responses, covariance); err != nil {
		return nil, err
	}
	var chol dense.Cholesky
	if !chol.Factorize(mat.NewSymDense(size, covariance.Data)) {
		return nil, ErrUnclear
	}
	return &chol, nil
}

// public is the view of all messages under noise that every node correlates for itself: M = CᵀC.
func (s Scenario) public(visit func(Exposure) error) error {
	for v := range s.nodes() {
		if slices.Contains(s.Attacker.Nodes, v) {
			continue
		}
		if err := visit(Exposure{Victim: v, M: strategy.GramOf(s.Algorithm.dense(v))}); err != nil {
			return err
		}
	}
	return nil
}

// alone is the view of all messages and of all noise but a node's own.
func (s Scenario) alone(visit func(Exposure) error) error {
	for v := range s.nodes() {
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

// nothing is the view of an attacker that sees nothing.
func nothing(victims []int, steps int, visit func(Exposure) error) error {
	for _, v := range victims {
		if err := visit(Exposure{Victim: v, M: mat.NewSymDense(steps, nil)}); err != nil {
			return err
		}
	}
	return nil
}

// impulses returns the responses of what is seen, seen×nodes, to messages 0, 1, ... rounds earlier.
func (p *pieces) impulses(steps int) []*mat.Dense {
	out := []*mat.Dense{p.h}
	if p.g == nil {
		return out
	}
	after := p.g // state×nodes
	loop := mul(p.g, p.j)
	for range steps - 1 {
		out = append(out, mul(mul(p.h, p.j), after))
		after = mul(loop, after)
	}
	return out
}

// toeplitz returns what the attacker sees of one node's messages: (step, message)×steps.
func toeplitz(responses []*mat.Dense, node, steps int) *mat.Dense {
	seen, _ := responses[0].Dims()
	h := mat.NewDense(seen*steps, steps, nil)
	for t := range steps {
		for s := max(0, t-len(responses)+1); s <= t; s++ {
			for o := range seen {
				h.Set(t*seen+o, s, responses[t-s].At(o, node))
			}
		}
	}
	return h
}

// LocalMatrix returns the T×T matrix of local DP, which stands for what is learned of a node whatever the attacker
// sees: the M of an Exposure to all messages, CᵀC over the variance of the noise that the node draws for itself. It is
// nil where there is no such noise. ErrStrategy for another number of steps.
func (a Algorithm) LocalMatrix(node, steps int) (*mat.SymDense, error) {
	if err := a.fits(steps); err != nil {
		return nil, err
	}
	if a.zip || a.alone == 0 || a.space != nil && a.space.noise.Own[node] == 0 {
		return nil, nil
	}
	if a.dense != nil {
		m := strategy.GramOf(a.dense(node))
		if a.space != nil {
			own := a.space.noise.Own[node] / a.part(node)
			m.ScaleSym((1+0x1p-50)/(own*own), m)
		}
		return m, nil
	}
	m := mat.NewSymDense(steps, nil)
	noising := a.noising(steps)
	var inverse, c mat.Dense
	if err := inverse.Inverse(noising); err != nil {
		if condition, is := errors.AsType[mat.Condition](err); !is || math.IsInf(float64(condition), 1) {
			return nil, fmt.Errorf("inverting the noise: %w", err)
		}
	}
	c.CloneFrom(inverse.T())
	dense.SymOuterK(m, 1/(a.alone*a.alone), &c)
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

// noising returns C⁻¹ of the filter, T×T.
func (a Algorithm) noising(steps int) *mat.Dense {
	z := mat.NewDense(steps, steps, nil)
	for s := range steps {
		z.Set(s, s, 1)
	}
	if a.filter == nil {
		return z
	}
	kept, unit := make([][]float64, a.filter.Memory()), make([]float64, steps)
	for t := range steps {
		unit[t] = 1
		a.filter.StepTo(z.RawRowView(t), unit, kept, t)
		unit[t] = 0
	}
	return z
}
