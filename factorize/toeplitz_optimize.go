package factorize

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/series"
	"mafalda/participation"
	"mafalda/strategy"
)

// ToeplitzOptions tunes OptimizeToeplitz. The zero value asks for the defaults named here.
type ToeplitzOptions struct {
	Bandwidth     int  // coefficients; 0 means T
	ScaleColumns  bool // fit the scale of each column, too
	MaxIterations int  // of each start; 0 means 2000
}

// OptimizeToeplitz minimizes the loss over Toeplitz strategies, by L-BFGS from several starts, since the problem is not
// convex; there is no certificate. The loss is that of the true sensitivity where it is exact, and of the sum of |X| over
// a pattern, an upper bound, otherwise: for coefficients with changing signs no formula for monotone ones is used. An
// evaluation costs O(T² + k²w) and allocates nothing of size T². Under min-sep a wider strategy is measured against the patterns
// that are worst for it, at a cost of O(T²) memory and O(T² + Tbk) time an evaluation, and with b, 2b, 4b, ... coefficients no
// worse than with fewer. The errors are a bandwidth outside 1..T, and ErrGram.
func OptimizeToeplitz(ctx context.Context, h *mat.SymDense, schema participation.Schema, opts ToeplitzOptions) (*SeriesResult, error) {
	bands := opts.Bandwidth
	if bands == 0 {
		bands = schema.Steps()
	}
	if err := strategy.CheckBandwidth(bands, schema.Steps()); err != nil {
		return nil, err
	}
	best, err := optimizeSeries(ctx, h, schema, freeSeries(bands), freeStarts(bands, schema.Separation()), opts)
	if err != nil {
		return nil, err
	}
	return best.result(best.strategy, h, schema)
}

// freeSeries is the family of all series of so many coefficients, c_0 = 1.
type freeSeries int

func (f freeSeries) dimension() int { return int(f) - 1 }

func (f freeSeries) fresh() family { return f }

func (f freeSeries) seriesTo(c, x []float64) bool {
	clear(c)
	c[0] = 1
	copy(c[1:], x)
	return true
}

func (f freeSeries) pullTo(dst, gc []float64) { copy(dst, gc[1:f]) }

// freeStarts returns square roots of several bandwidths, with some decay.
func freeStarts(bands, separation int) [][]float64 {
	var points [][]float64
	add := func(width int, decay float64) {
		x := make([]float64, bands-1)
		for i, v := range series.PrefixRoot(width)[1:] {
			x[i] = v * math.Pow(decay, float64(i+1))
		}
		points = append(points, x)
	}
	add(min(bands, separation), 1)
	add(min(bands, max(1, separation/2)), 0.95)
	if bands > separation {
		add(bands, 1-1/float64(separation+1))
		add(min(bands, 2*separation), 0.98)
	}
	return points
}
