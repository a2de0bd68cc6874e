package bins

import (
	"cmp"
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/accounting"
	"mafalda/accounting/internal/parameter"
	"mafalda/internal/parallel"
)

// Tangent says how much noise random bins need for an (ε, δ), and how that depends on the strategy, to first order:
// with Gram matrices G' of the m_j near this one's, ν² is about ⟨Weights, G'⟩, and for G itself exactly the square of
// NoiseMultiplier. All of it is estimated, for searches; NoiseMultiplier is what noise is calibrated by.
type Tangent struct {
	NoiseMultiplier float64
	Weights         *mat.SymDense // b×b, no entry is negative
}

// Tangent returns the tangent of ν² at the mechanism's Gram matrix. With p the posterior distribution over the bins,
// given x, and A = G/ν²,
//
//	∂δ/∂A_ij = e^(2ε)/2 · E_Q[p_i p_j; e^L = e^ε],
//
// and what the weights have to be is then said by ν² being of degree one in G (Euler). Noise of more than that for a
// known draw is never asked for. An eighth of the samples goes into each trial of a multiplier. The errors are those
// of NoiseMultiplier.
func (b *Mechanism) Tangent(ctx context.Context, epsilon, delta float64, o MonteCarlo) (*Tangent, error) {
	o, err := o.withDefaults()
	if err := cmp.Or(err, parameter.NonNegative("epsilon", epsilon), parameter.Probability(delta)); err != nil {
		return nil, err
	}
	mu, err := accounting.MuFromDP(epsilon, delta)
	if err != nil {
		return nil, err
	}
	noise := b.gaussianMu(1) / mu
	n := b.Number()
	if n == 1 || b.gaussianMu(noise) > largestMu {
		known := mat.NewDense(n, n, nil) // the largest pattern alone
		largest := floats.MaxIdx(b.diagonal)
		known.Set(largest, largest, 1)
		return b.tangent(noise, known), nil
	}
	c := calibration{bins: b, options: o, target: delta, largest: noise,
		at: func(noise float64) point { return point{epsilon, noise} }}
	if noise, err = c.root(ctx, bracket{noise, 0.7, 3e-4}, max(o.Samples/8, 1024), false); err != nil {
		return nil, err
	}
	m := newMixture(b, noise, epsilon, o.Seed)
	sums := make([]*mat.Dense, (o.Samples+chunkSize-1)/chunkSize)
	parallel.For(len(sums), func(i int) {
		if ctx.Err() == nil {
			sums[i] = m.posteriors(stream{o.Seed, forProposedRemoval, 0}.chunk(i))
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, s := range sums[1:] {
		sums[0].Add(sums[0], s)
	}
	return b.tangent(noise, sums[0]), nil
}

// tangent scales weights of some direction.
func (b *Mechanism) tangent(noise float64, weights *mat.Dense) *Tangent {
	n := b.Number()
	t := &Tangent{NoiseMultiplier: noise, Weights: mat.NewSymDense(n, nil)}
	var inner float64
	for i := range n {
		for j := range n {
			inner += weights.At(i, j) * b.covered[i*n+j]
		}
	}
	for i := range n {
		for j := range i + 1 {
			t.Weights.SetSym(i, j, noise*noise/inner*(weights.At(i, j)+weights.At(j, i))/2)
		}
	}
	return t
}

// nearLoss is how far from ε a loss may be to count as ε: wide enough for many samples.
func nearLoss(epsilon float64) float64 { return 0.02 * math.Max(epsilon, 0.5) }

// posteriors returns the sum of p pᵀ over a chunk of samples near L = ε, by their weights.
func (m *mixture) posteriors(random *normals) *mat.Dense {
	d := m.newDrawer(random)
	n := len(d.y)
	sum := mat.NewDense(n, n, nil)
	posterior := mat.NewVecDense(n, nil)
	near := nearLoss(m.epsilon)
	shifted := *m
	shifted.epsilon -= near // so that losses a little below ε count, too
	d.mixture = &shifted
	for range chunkSize {
		v := d.removal()
		if v == 0 {
			continue
		}
		largest, total, loss := meanExp(d.y)
		if loss > m.epsilon+near {
			continue
		}
		for j, y := range d.y {
			posterior.SetVec(j, math.Exp(y-largest)/total)
		}
		weight := v / -math.Expm1(shifted.epsilon-loss) // P/R
		sum.RankOne(sum, weight, posterior, posterior)
	}
	return sum
}
