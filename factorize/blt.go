package factorize

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"mafalda/internal/series"
	"mafalda/participation"
	"mafalda/strategy"
)

// BLT is the class of buffered linear Toeplitz strategies. Buffers is the number of poles d, at most MostBuffers; 0
// means 4, or T-1 if that is less.
type BLT = classOf[bltStrategies]

type bltStrategies struct{}

const defaultBuffers = 4

// MostBuffers is the most buffers that are searched for: the time of a search grows with them, and more gain little.
const MostBuffers = 64

func (bltStrategies) traits() Traits {
	return Traits{
		Name:    strategy.BLTClass,
		About:   "a rational function, d buffers kept (default 4)",
		Buffers: defaultBuffers,
		Kinds:   []Kind{MeanError, ManySteps},
	}
}

// optimize minimizes the loss from seeded starts with poles near 1 and near exp(±2πij/b), where the optimum has them
// for k > 1. All poles and zeros stay within the unit circle. There is no certificate. For Long see Toeplitz. It fails
// as Supports does, for fewer than one buffer or more than T-1 or MostBuffers, and with ErrGram.
func (bltStrategies) optimize(
	ctx context.Context, o Objective, schema participation.Schema, opts Options,
	p Parameters,
) (*Result, error) {
	return optimizeSeries(ctx, o, schema, opts, rationalSeries{p.Buffers}, false)
}

// rationalSeries is the family of products of sections. A pair of poles within the unit circle is b = tanh u and a =
// (1+b) tanh v, the triangle of stability; the zeros p, q likewise. Parameters are (u, v) of poles and zeros for each
// pair, and v of pole and zero for a single one.
type rationalSeries struct{ buffers int }

func (f rationalSeries) dimension() int { return 2 * f.buffers }

func (f rationalSeries) strategy(steps int, x, _ []float64) (strategy.Strategy, error) {
	return strategy.NewBLT(steps, 1, f.sectionsOf(x))
}

func (f rationalSeries) sectionsOf(x []float64) []strategy.Section {
	var sections []strategy.Section
	for i := 0; i+1 < f.buffers; i += 2 {
		b, q := math.Tanh(x[0]), math.Tanh(x[2])
		a, p := (1+b)*math.Tanh(x[1]), (1+q)*math.Tanh(x[3])
		sections = append(sections, strategy.Section{A: a, B: b, P: p, Q: q})
		x = x[4:]
	}
	if f.buffers%2 == 1 {
		sections = append(sections, strategy.Section{A: math.Tanh(x[0]), P: math.Tanh(x[1])})
	}
	return sections
}

// seriesTo knows the gradient by r = 1/c, too, which is of the family with poles and zeros exchanged.
func (f rationalSeries) seriesTo(c, r, x []float64) pull {
	clear(c)
	clear(r)
	c[0], r[0] = 1, 1
	for _, s := range f.sectionsOf(x) {
		s.Multiply(c)
		s.Inverse().Multiply(r)
	}
	if !allFinite(c) || !allFinite(r) {
		return nil
	}
	x, c, r = slices.Clone(x), slices.Clone(c), slices.Clone(r) // which a comb goes on with
	return func(dst, gc, gr []float64) {
		f.slopes(dst, x, c, gc)
		other := make([]float64, len(dst))
		f.slopes(other, swapRoots(x), r, gr)
		floats.Add(dst, swapRoots(other))
	}
}

// swapRoots exchanges the parameters of poles and zeros.
func swapRoots(x []float64) []float64 {
	y := make([]float64, len(x))
	i := 0
	for ; i+4 <= len(x); i += 4 {
		copy(y[i:], []float64{x[i+2], x[i+3], x[i], x[i+1]})
	}
	if i < len(x) { // a single pole
		y[i], y[i+1] = x[i+1], x[i]
	}
	return y
}

// slopes writes the gradient by x of the series c, from that by c: with y = c/den_i, ∂c/∂a_i = x·y and ∂c/∂b_i = -x²·y, and for y = c/num_i, ∂c/∂p_i = -x·y and ∂c/∂q_i = x²·y.
func (f rationalSeries) slopes(dst, x, c, gc []float64) {
	shifted := func(a, b float64) (one, two float64) { // Σ gc_{j+1} y_j, Σ gc_{j+2} y_j
		y := slices.Clone(c)
		series.Divide(y, a, b)
		for j := range y {
			if j+1 < len(gc) {
				one += gc[j+1] * y[j]
			}
			if j+2 < len(gc) {
				two += gc[j+2] * y[j]
			}
		}
		return one, two
	}
	sech2 := func(v float64) float64 { t := math.Tanh(v); return 1 - t*t }
	sections := f.sectionsOf(x)
	for i, s := range sections {
		ga, gb := shifted(s.A, s.B)
		gp, gq := shifted(s.P, s.Q)
		gb, gp = -gb, -gp
		if i == len(sections)-1 && f.buffers%2 == 1 {
			dst[0], dst[1] = ga*sech2(x[0]), gp*sech2(x[1])
			break
		}
		dst[0] = (gb + ga*math.Tanh(x[1])) * sech2(x[0])
		dst[1] = ga * (1 + s.B) * sech2(x[1])
		dst[2] = (gq + gp*math.Tanh(x[3])) * sech2(x[2])
		dst[3] = gp * (1 + s.Q) * sech2(x[3])
		dst, x = dst[4:], x[4:]
	}
}

// starts draws points with the poles where optima have them.
func (f rationalSeries) starts(separation int) [][]float64 {
	rng := rand.New(rand.NewPCG(20, 19))
	var points [][]float64
	for draw := range 48 {
		var x []float64
		spread := 0.02 + 0.1*rng.Float64()
		pair := func(radius, angle float64) { // of poles, with zeros a little inside
			if draw%4 >= 2 {
				angle *= 0.7 + 0.6*rng.Float64()
			}
			for _, r := range []float64{radius, radius * (1 - spread*(0.5+rng.Float64()))} {
				b := r * r
				x = append(x, math.Atanh(b), math.Atanh(2*r*math.Cos(angle)/(1+b)))
			}
		}
		harmonic := 1
		realPair := draw%2 == 0 && f.buffers%2 == 0
		for i := 0; i+1 < f.buffers; i += 2 {
			if realPair {
				realPair = false
				x = append(x, pairOf(0.99-0.1*rng.Float64(), 0.5*rng.Float64())...)
				x = append(x, pairOf(0.85-0.2*rng.Float64(), 0.3*rng.Float64())...)
				continue
			}
			pair(0.99-0.1*rng.Float64(), 2*math.Pi*float64(harmonic)/float64(max(separation, 3)))
			harmonic++
		}
		if f.buffers%2 == 1 {
			x = append(x, math.Atanh(0.99-0.2*rng.Float64()), math.Atanh(0.7-0.4*rng.Float64()))
		}
		points = append(points, x)
	}
	return points
}

// pairOf returns the parameters of two real roots.
func pairOf(r1, r2 float64) []float64 {
	b := r1 * r2
	return []float64{math.Atanh(b), math.Atanh((r1 + r2) / (1 + b))}
}
