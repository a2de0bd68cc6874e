package factorize

import (
	"context"
	"fmt"
	"math"

	"mafalda/internal/series"
	"mafalda/participation"
	"mafalda/strategy"
)

// Toeplitz is the class of Toeplitz strategies of few coefficients, and with a scale for every column if that is asked
// for: Bandwidth is the number of coefficients w, 0 means b.
type Toeplitz = classOf[toeplitzStrategies]

type toeplitzStrategies struct{}

func (toeplitzStrategies) traits() Traits {
	return Traits{
		Name:         strategy.ToeplitzClass,
		About:        "w coefficients, w-1 rows kept (default b)",
		Bandwidth:    participation.Schema.Separation,
		ScaleColumns: true,
		Kinds:        []Kind{MeanError, ManySteps},
		refuses: func(p Parameters, k Kind, schema participation.Schema) error {
			if p.ScaleColumns && (k == ManySteps || !participation.IsPartition(schema)) {
				return fmt.Errorf("column scaling: %w for many steps, or where patterns overlap", ErrUnsupported)
			}
			return nil
		},
	}
}

// optimize minimizes the loss by L-BFGS from several starts, since the problem is not convex; there is no certificate.
// The loss takes the true sensitivity where it is exact, and otherwise the sum of |X| over a pattern, an upper bound:
// for coefficients with changing signs no formula for monotone ones is used. An evaluation costs O(T² +
// k²w) and allocates nothing of size T². Under min-sep a wider strategy is measured against the patterns that are
// worst for it, at a cost of O(T²) memory and O(T² + Tbk) time an evaluation, and with b, 2b, 4b, ... coefficients no
// worse than with fewer.
//
// For Long an evaluation costs O(Tw + Tk); where Tk is above 5·10⁷ the loss takes the majorant of the sensitivity, which is
// exact where no coefficient of C is negative. It fails as Supports does, for a bandwidth outside 1..T, and with ErrGram.
func (toeplitzStrategies) optimize(
	ctx context.Context, o Objective, schema participation.Schema, opts Options,
	p Parameters,
) (*Result, error) {
	return optimizeSeries(ctx, o, schema, opts, freeSeries{bands: p.Bandwidth}, p.ScaleColumns)
}

// freeSeries is the family of all series c of a number of coefficients, or of r = 1/c: the parameters are all but the first.
type freeSeries struct {
	bands   int
	inverse bool
}

func (f freeSeries) dimension() int { return f.bands - 1 }

func (f freeSeries) strategy(steps int, x, columns []float64) (strategy.Strategy, error) {
	coefficients := append([]float64{1}, x...)
	if f.inverse {
		return strategy.NewBandedInverse(steps, coefficients)
	}
	return strategy.NewToeplitz(steps, coefficients, columns)
}

// seriesTo uses dr = -r*r*dc for the gradient: the transposed filters 1/c, twice.
func (f freeSeries) seriesTo(c, r, x []float64) pull {
	if f.inverse {
		c, r = r, c
	}
	for _, s := range [][]float64{c, r} {
		clear(s)
		s[0] = 1
	}
	copy(c[1:], x)
	divisor := series.NewDivisor(c[:f.bands])
	divisor.Divide(r)
	if !allFinite(r) {
		return nil
	}
	return func(dst, gc, gr []float64) {
		if f.inverse {
			gc, gr = gr, gc
		}
		for range 2 {
			divisor.DivideBack(gr)
		}
		for j := range dst {
			dst[j] = gc[j+1] - gr[j+1]
		}
	}
}

func allFinite(c []float64) bool {
	for _, v := range c {
		if v-v != 0 || math.Abs(v) > 1e100 {
			return false
		}
	}
	return true
}

// starts are square roots of several bandwidths, with some decay, or their inverses.
func (f freeSeries) starts(separation int) [][]float64 {
	var points [][]float64
	add := func(root []float64, decay float64) {
		x := make([]float64, f.bands-1)
		for i, v := range root[1:] {
			x[i] = v * math.Pow(decay, float64(i+1))
		}
		points = append(points, x)
	}
	if f.inverse {
		for _, decay := range []float64{1, 0.9, 0.6} {
			add(series.Invert(series.PrefixRoot(f.bands), f.bands), decay)
		}
		return points
	}
	root := func(width int) []float64 { return series.PrefixRoot(min(f.bands, max(1, width))) }
	add(root(separation), 1)
	add(root(separation/2), 0.95)
	if f.bands > separation {
		add(root(f.bands), 1-1/float64(separation+1))
		add(root(2*separation), 0.98)
	}
	return points
}
