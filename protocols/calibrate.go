package protocols

import (
	"context"
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/parallel"
)

// Constants are C′ and λ of the sensitivity estimate (Equation 22).
type Constants struct{ C, Lambda float64 }

// PaperConstants are those of the experiments of Zhou et al. (Figure 2, the perceptron with one shared layer). They are not sound for
// any network: a sound C′ is 1 or more.
var PaperConstants = Constants{0.78, 0.55}

// check refuses what the recursion cannot use.
func (c Constants) check() error {
	if !(c.C > 0) || math.IsInf(c.C, 1) || !(c.Lambda > 0 && c.Lambda < 1) {
		return fmt.Errorf("constants C' = %v and lambda = %v: must be positive, and lambda below 1", c.C, c.Lambda)
	}
	return nil
}

// What is sound. Let x_j(k) be what node j adds in round k: its perturbation and its noise, and in round 0 its value. Before mixing in
// round t, messages are
//
//	s_i = Σ_k Σ_j Φ_ij(k) x_j(k),     Φ(k) = W(t-1) W(t-2) ⋯ W(k),   Φ(t) = I,
//
// so that two messages differ by at most Σ_j Σ_k |Φ_aj(k) - Φ_bj(k)| ‖x_j(k)‖₁. The recursion gives S_j = 2C′ Σ_k λ^(t-k) ‖x_j(k)‖₁.
// It follows that max S_j is enough, whatever the x, if for all a, b, t
//
//	½ Σ_j max_k |Φ_aj(k) - Φ_bj(k)| λ^-(t-k) ≤ C′;                                              (*)
//
// and only if: otherwise let every node spend S_j = 1 in the round k where the maximum is, with the sign of Φ_aj - Φ_bj. In particular
// C′ ≥ 1 (k = t: the identity). Let τ_s be the largest ergodicity coefficient of s rounds. The rows of a product that starts with B
// rounds differ by τ_B times a difference of two averages of rows of the rest, so that lags of B and more contribute no more than
// τ_B λ^-B times what smaller ones do to the column's range: a finite computation.

const (
	leastLambda   = 0.01
	mixed         = 1e-4 // lags are looked at until τ has fallen so far
	tailShare     = 0.1  // τ_B λ^-B of the λ that are considered
	mostLags      = 20000
	productsShare = 0.6 // of the work, for progress
	upward        = 1 + 1e-9
)

// mostNumbers is how many numbers calibration may store.
var mostNumbers = 2e8

// products are Φ of all lags below len(lags), for every phase of the last round: lags[s][e] is W(e-1)⋯W(e-s), n×n.
type products struct {
	lags    [][]*mat.Dense
	ergodic []float64 // τ_s, of all lags up to len(lags), rounded up
	limited bool      // to a horizon: longer lags do not occur
}

// CalibrateOptions says for what constants are wanted.
type CalibrateOptions struct {
	Horizon  int                    // the number of rounds after which everybody synchronizes; 0: never
	Progress func(fraction float64) // called now and then, if not nil
}

// products multiplies until the network has mixed, or up to the horizon if there is one.
func (s *Sequence) products(ctx context.Context, o CalibrateOptions) (*products, error) {
	n, period := s.Nodes(), s.Period()
	if numbers := 2 * float64(n) * float64(n) * float64(period); numbers > mostNumbers {
		return nil, fmt.Errorf("%w: calibrating C' and lambda for %d nodes takes products of %d×%d weights: "+
			"give --c-prime and --lambda, or --estimate paper or real",
			ErrTooLarge, n, n, n)
	}
	p := &products{}
	last := make([]*mat.Dense, period)
	for e := range last {
		last[e] = mat.NewDense(n, n, nil)
		for i := range n {
			last[e].Set(i, i, 1)
		}
	}
	for lag := 0; ; lag++ {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		var tau float64
		for _, phi := range last {
			tau = math.Max(tau, ergodicity(ctx, phi))
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if lag > 0 {
			tau = math.Min(tau+float64(n)*0x1p-50, p.ergodic[lag-1]) // rounding; it never grows
		}
		p.ergodic = append(p.ergodic, tau)
		p.limited = o.Horizon > 0 && lag == o.Horizon
		if p.limited || lag > 0 && tau < mixed {
			return p, nil
		}
		if o.Progress != nil {
			done := math.Log(tau) / math.Log(mixed)
			if o.Horizon > 0 {
				done = math.Max(done, float64(lag)/float64(o.Horizon))
			}
			o.Progress(productsShare * done)
		}
		p.lags = append(p.lags, last)
		if numbers := float64(len(p.lags)+1) * float64(n*n*period); lag == mostLags || numbers > mostNumbers {
			return nil, fmt.Errorf("%w: calibrating C' and lambda needs more than %.2g numbers of memory for %d nodes that mix slowly (tau = %.3g after %d rounds): give --c-prime and --lambda, or synchronize",
				ErrTooLarge, mostNumbers, n, tau, lag)
		}
		next := make([]*mat.Dense, period)
		for e := range next {
			next[e] = timesSparse(ctx, last[e], s, ((e-lag-1)%period+period)%period)
		}
		last = next
	}
}

// timesSparse returns Φ·W(t), or something else if the context is done.
func timesSparse(ctx context.Context, phi *mat.Dense, s *Sequence, t int) *mat.Dense {
	n := s.Nodes()
	product := mat.NewDense(n, n, nil)
	w := s.Weights(t)
	parallel.For(n, func(i int) {
		if ctx.Err() != nil {
			return
		}
		w.MulVecTo(product.RawRowView(i), true, phi.RawRowView(i))
	})
	return product
}

// ergodicity returns half the largest ‖·‖₁ distance of two rows (Dobrushin), or something else if the context is done.
func ergodicity(ctx context.Context, phi *mat.Dense) float64 {
	n, _ := phi.Dims()
	most := make([]float64, n)
	parallel.For(n, func(a int) {
		if ctx.Err() != nil {
			return
		}
		for b := range a {
			var sum float64
			other := phi.RawRowView(b)
			for j, x := range phi.RawRowView(a) {
				sum += math.Abs(x - other[j])
			}
			most[a] = math.Max(most[a], sum/2)
		}
	})
	var tau float64
	for _, v := range most {
		tau = math.Max(tau, v)
	}
	return tau
}

// Calibration is what sound estimates of a sequence take.
type Calibration struct {
	Constants
	Ergodicity []float64 // τ_0 = 1, τ_1, …: the largest ergodicity coefficients of so many rounds; nil: S is of the constants alone
	Horizon    int       // everybody must synchronize after so many rounds, or fewer; 0: no matter
}

// Calibrate returns ergodicity coefficients, and constants for which Equation 22 is sound on this sequence, whatever the nodes add (the condition (*) above, proved
// in docs/protocols.md). λ is what makes the sum of
// all C′λ^s small; C′ the smallest for it, but for the lags beyond those where τ has fallen below 1e-4, which are bounded. O(n³) for
// each lag.
func (s *Sequence) Calibrate(ctx context.Context, o CalibrateOptions) (Calibration, error) {
	p, err := s.products(ctx, o)
	if err != nil {
		return Calibration{}, err
	}
	lags := len(p.lags)
	from := leastLambda
	if end := p.ergodic[len(p.ergodic)-1]; !p.limited && end > 0 {
		from = math.Max(from, math.Pow(end/tailShare, 1/float64(lags)))
	}
	best, lambda := math.Inf(1), 0.0
	const steps = 400
	for i := range steps {
		l := from + (1-from)*float64(i)/steps
		c := 0.0
		for lag := range lags {
			c = math.Max(c, p.ergodic[lag]*math.Pow(l, -float64(lag)))
		}
		total := c / (1 - l)
		if p.limited {
			total *= 1 - math.Pow(l, float64(lags))
		}
		if total < best {
			best, lambda = total, l
		}
	}
	_, c, err := p.constant(ctx, lambda, o.Progress)
	if err != nil {
		return Calibration{}, err
	}
	return Calibration{Constants{c, lambda}, p.ergodic, o.Horizon}, nil
}

// SoundConstant returns the smallest C′ for which Equation 22 with this λ is sound on the sequence, as far as lags have been looked at
// (until τ is below 1e-4, or up to the horizon), and one that is enough for all lags; +Inf if none is known to be.
func (s *Sequence) SoundConstant(ctx context.Context, lambda float64, o CalibrateOptions) (necessary, enough float64, err error) {
	if err := (Constants{1, lambda}).check(); err != nil {
		return 0, 0, err
	}
	p, err := s.products(ctx, o)
	if err != nil {
		return 0, 0, err
	}
	return p.constant(ctx, lambda, o.Progress)
}

// constant evaluates the condition (*).
func (p *products) constant(ctx context.Context, lambda float64, progress func(fraction float64)) (necessary,
	enough float64, err error) {
	period := len(p.lags[0])
	n, _ := p.lags[0][0].Dims()
	tail := 0.0
	if !p.limited {
		tail = p.ergodic[len(p.ergodic)-1] * math.Pow(lambda, -float64(len(p.lags)))
	}
	// columnRange[j] = max over lags and phases of the range of column j, times λ^-s: what longer lags can add to, times the tail
	columnRange := make([]float64, n)
	if tail > 0 {
		for lag, phases := range p.lags {
			if ctx.Err() != nil {
				return 0, 0, context.Cause(ctx)
			}
			scale := math.Pow(lambda, -float64(lag))
			for _, phi := range phases {
				for j := range n {
					low, high := math.Inf(1), 0.0
					for a := range n {
						low, high = math.Min(low, phi.At(a, j)), math.Max(high, phi.At(a, j))
					}
					columnRange[j] = math.Max(columnRange[j], scale*(high-low))
				}
			}
		}
	}
	scales := make([]float64, len(p.lags))
	for lag := range scales {
		scales[lag] = math.Pow(lambda, -float64(lag))
	}
	needs, suffices := make([]float64, n), make([]float64, n)
	var mu sync.Mutex
	pairs := 0
	parallel.For(n, func(a int) {
		most := make([]float64, n)
		for e := range period {
			for b := range a {
				if ctx.Err() != nil {
					return
				}
				clear(most)
				for lag, phases := range p.lags {
					left, right, scale := phases[e].RawRowView(a), phases[e].RawRowView(b), scales[lag]
					for j, x := range left {
						most[j] = math.Max(most[j], scale*math.Abs(x-right[j]))
					}
				}
				var sum, bounded float64
				for j, x := range most {
					sum += x
					bounded += math.Max(x, tail*columnRange[j])
				}
				needs[a], suffices[a] = math.Max(needs[a], sum/2), math.Max(suffices[a], bounded/2)
			}
		}
		if progress != nil {
			mu.Lock()
			defer mu.Unlock()
			pairs += a
			progress(productsShare + (1-productsShare)*float64(pairs)/float64(n*(n-1)/2))
		}
	})
	if ctx.Err() != nil {
		return 0, 0, context.Cause(ctx)
	}
	for a := range n {
		necessary, enough = math.Max(necessary, needs[a]), math.Max(enough, suffices[a])
	}
	if tail >= 1 {
		return necessary, math.Inf(1), nil
	}
	return necessary, enough * upward, nil
}
