package dpps

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
	"mafalda/internal/lists"
	"mafalda/internal/parallel"
	"mafalda/protocols/internal/consensus"
)

// ErrTooLarge is wrapped by errors about networks that are too large to calibrate estimates for. It is the same in
// all rooms of protocols.
var ErrTooLarge = consensus.ErrTooLarge

// SizeError says that calibration would take more numbers than fit into memory. It wraps ErrTooLarge. Constants that
// are known already take no calibration.
type SizeError struct {
	Rounds int // rounds after which the network has not mixed: synchronizing helps; 0: a single product is too large
	error
}

// Unwrap returns what wraps ErrTooLarge.
func (e *SizeError) Unwrap() error { return e.error }

const (
	mixed    = 1e-4  // τ at which no more lags are looked at
	mostLags = 20000 // most lags that are looked at
)

var mostNumbers = 2e8 // numbers that calibration may store

// products are Φ of all lags below len(lags), for every phase of the last round: lags[s][e] is W(e-1)⋯W(e-s), n×n.
type products struct {
	lags    [][]*mat.Dense
	ergodic []float64 // τ_s, of all lags up to len(lags), rounded up
	limited bool      // lags longer than a horizon do not occur
}

// products multiplies until the network has mixed, or up to the horizon if there is one.
func (s *Sequence) products(ctx context.Context, horizon int, progress func(fraction float64)) (*products, error) {
	n, period := s.Nodes(), s.Period()
	if numbers := 2 * float64(n) * float64(n) * float64(period); numbers > mostNumbers {
		return nil, &SizeError{0, fmt.Errorf("%w: calibrating C' and lambda for %d nodes takes products of %[2]d×%[2]d weights",
			ErrTooLarge, n)}
	}
	p := &products{}
	last := lists.Make(period, func(int) *mat.Dense { return dense.Identity(n) })
	for lag := 0; ; lag++ {
		tau, err := largestErgodicity(ctx, last, n)
		if err != nil {
			return nil, err
		}
		if lag > 0 {
			tau = math.Min(tau+float64(n)*0x1p-50, p.ergodic[lag-1]) // rounding; it never grows
		}
		p.ergodic = append(p.ergodic, tau)
		p.limited = horizon > 0 && lag == horizon
		if p.limited || lag > 0 && tau < mixed {
			return p, nil
		}
		if progress != nil {
			done := math.Log(tau) / math.Log(mixed)
			if horizon > 0 {
				done = math.Max(done, float64(lag)/float64(horizon))
			}
			progress(productsShare * done)
		}
		p.lags = append(p.lags, last)
		if numbers := float64(len(p.lags)+1) * float64(n*n*period); lag == mostLags || numbers > mostNumbers {
			return nil, &SizeError{lag, fmt.Errorf("%w: calibrating C' and lambda needs more than %.2g numbers of memory for %d "+
				"nodes that mix slowly (tau = %.3g after %d rounds)", ErrTooLarge, mostNumbers, n, tau, lag)}
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
		if ctx.Err() == nil {
			w.MulVecTo(product.RawRowView(i), true, phi.RawRowView(i))
		}
	})
	return product
}

// largestErgodicity returns the largest ergodicity coefficient of n×n matrices: half the largest ‖·‖₁ distance of two
// rows of one (Dobrushin). It fails only when the context ends.
func largestErgodicity(ctx context.Context, list []*mat.Dense, n int) (float64, error) {
	most := make([]float64, n)
	for _, phi := range list {
		parallel.For(n, func(a int) {
			for b := 0; b < a && ctx.Err() == nil; b++ {
				most[a] = math.Max(most[a], floats.Distance(phi.RawRowView(a), phi.RawRowView(b), 1)/2)
			}
		})
	}
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	return slices.Max(most), nil
}
