package reaction

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/gemm"
	"mafalda/strategy"
)

// played is what an attacker sees of nodes that answer linearly and add noise correlated by C, of any length and memory:
// a record's inputs a show as Va, noise as V(C⁻¹z). Every statistic λ of what is seen reaches (λᵀVa)²/|C⁻ᵀVᵀλ|²: it is
// an attack, however good. The best one solves VC⁻¹C⁻ᵀVᵀλ = Va, which conjugate gradients come near to: each step costs
// a run forward and one back, in which V and C⁻¹ are applied and never written down.
type played struct {
	*stages
	inverse blas64.Triangular // C⁻¹; without Data: the unit matrix
}

// playedOn returns an error for a strategy without an inverse; nil stands for independent noise.
func playedOn(all *stages, c strategy.Strategy) (*played, error) {
	if c == nil {
		return &played{stages: all}, nil
	}
	var inverse mat.TriDense
	if err := c.NoisingTo(&inverse); err != nil {
		return nil, err
	}
	return &played{stages: all, inverse: inverse.RawTriangular()}, nil
}

// show runs forward with inputs and noise of all steps and nodes, either of which may be nil: what is seen, and the
// models before each step.
func (p *played) show(linear []*answer, inputs, noise []float64) (view []float64, models [][]float64) {
	chi := make([]float64, p.n)
	for t := range linear {
		models = append(models, chi)
		g := p.gates[t]
		sigma := linear[t].move.times(chi, 1)
		for _, enters := range []struct {
			by   *operator
			what []float64
		}{{linear[t].inject, inputs}, {g.fresh, noise}} {
			if enters.what != nil {
				entered := enters.by.times(enters.what[t*p.m:(t+1)*p.m], 1)
				add(sigma, 1, entered)
				release(entered)
			}
		}
		view = append(view, g.seen.times(sigma[:p.m], 1)...)
		chi = make([]float64, p.n)
		copy(chi[p.m:], sigma[p.m:])
		if g.mix != nil {
			copy(chi, g.mix.times(sigma[:p.m], 1))
		}
		release(sigma)
	}
	return view, models
}

// pull runs back with a statistic: by how much it moves with every input, and with every noise.
func (p *played) pull(linear []*answer, statistic []float64) (inputs, noise []float64) {
	inputs, noise = make([]float64, len(linear)*p.m), make([]float64, len(linear)*p.m)
	back := make([]float64, p.n)
	for t := len(linear) - 1; t >= 0; t-- {
		sigma := make([]float64, p.n)
		copy(sigma[p.m:], back[p.m:])
		g := p.gates[t]
		if g.mix != nil {
			copy(sigma, g.mix.transposeTimes(back[:p.m], 1))
		}
		from := len(statistic) - g.seen.rows
		add(sigma[:p.m], 1, g.seen.transposeTimes(statistic[from:], 1))
		statistic = statistic[:from]
		copy(inputs[t*p.m:], linear[t].inject.transposeTimes(sigma, 1))
		copy(noise[t*p.m:], g.fresh.transposeTimes(sigma, 1))
		back = linear[t].move.transposeTimes(sigma, 1)
	}
	return inputs, noise
}

// correlate returns C⁻¹x, or C⁻ᵀx, for numbers of all steps and nodes.
func (p *played) correlate(x []float64, transposed blas.Transpose) []float64 {
	out := slices.Clone(x)
	if p.inverse.Data != nil {
		gemm.Trmm(blas.Left, transposed, 1, p.inverse, general(len(p.gates), p.m, out))
	}
	return out
}

const (
	searchSteps  = 400  // of conjugate gradients at most
	searchGain   = 1e-9 // of the last of them, in what is reached
	improvements = 12   // of attacking answers, from each of four starts
	mostSigns    = 10   // participations whose signs are tried together
	found        = 3e-7 // how near to the bound an attack must come to be the worst one
)

// solve returns a statistic near the best one for a signal, by conjugate gradients that begin with one, or with nil.
func (p *played) solve(ctx context.Context, linear []*answer, signal, statistic []float64) (found []float64, err error) {
	noiseOf := func(x []float64) []float64 {
		_, noise := p.pull(linear, x)
		out, _ := p.show(linear, nil, p.correlate(p.correlate(noise, blas.Trans), blas.NoTrans))
		return out
	}
	found = make([]float64, len(signal))
	rest := slices.Clone(signal)
	if statistic != nil {
		copy(found, statistic)
		add(rest, -1, noiseOf(found))
	}
	direction := slices.Clone(rest)
	left, gained := dot(rest, rest), 0.0
	for range searchSteps {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		across := noiseOf(direction)
		curve := dot(direction, across)
		if !(curve > 0) || !(left > 0) {
			break
		}
		step := left / curve
		add(found, step, direction)
		add(rest, -step, across)
		gained += step * left
		after := dot(rest, rest)
		if step*left < searchGain*gained && step*left < searchGain*math.Abs(dot(found, signal)) {
			break
		}
		scaled(direction, after/left)
		add(direction, 1, rest)
		left = after
	}
	return found, nil
}

// best returns a statistic that reaches nearly the most of a sum of inputs with the best signs, with these inputs and what
// it reaches. Statistics of the single ones are begun with those given, and left there.
func (p *played) best(ctx context.Context, linear []*answer, single, statistics [][]float64) (value float64, inputs,
	statistic []float64, err error) {
	k := len(single)
	m, signals := make([]float64, k*k), make([][]float64, k)
	for i, input := range single {
		signals[i], _ = p.show(linear, input, nil)
		if statistics[i], err = p.solve(ctx, linear, signals[i], statistics[i]); err != nil {
			return 0, nil, nil, err
		}
	}
	for i := range m {
		m[i] = dot(signals[i/k], statistics[i%k])
	}
	inputs, statistic = make([]float64, len(single[0])), make([]float64, len(signals[0]))
	for i, sign := range signsOf(m, k) {
		add(inputs, sign, single[i])
		add(statistic, sign, statistics[i])
	}
	signal, _ := p.show(linear, inputs, nil)
	_, noise := p.pull(linear, statistic)
	cost, mean := p.correlate(noise, blas.Trans), dot(statistic, signal)
	if spread := dot(cost, cost); spread > 0 && finite(mean*mean/spread) {
		value = mean * mean / spread
	}
	return value, inputs, statistic, nil
}

// signsOf returns the signs a with the largest aᵀMa.
func signsOf(m []float64, k int) []float64 {
	symmetrize(m, k)
	signs := slices.Repeat([]float64{1}, k)
	best, now, most := slices.Clone(signs), 0.0, 0.0
	for code := 1; code < 1<<(k-1); code++ { // a Gray code: one sign at a time
		turn := bits.TrailingZeros(uint(code))
		now += 4 * (m[turn*k+turn] - dot(m[turn*k:(turn+1)*k], signs)*signs[turn])
		signs[turn] = -signs[turn]
		if now > most {
			most = now
			copy(best, signs)
		}
	}
	return best
}

// reach returns what linear answers of the class let the attacker learn at least of a record of a node that takes part as
// in a pattern, and the answers: the most that is found from four starts, or what is as much as enough.
func (p *played) reach(ctx context.Context, node int, pattern []int, enough float64) (value float64, answers [][]float64,
	err error) {
	for _, start := range []func(v int, c Class) float64{
		func(_ int, c Class) float64 { return c.Nearest() },
		func(_ int, c Class) float64 { return c.Rho },
		func(_ int, c Class) float64 { return c.least() },
		func(v int, c Class) float64 { return c.Rho + c.Kappa*float64(1-2*(v%2)) }, // nodes that differ
	} {
		reached, found, err := p.climb(ctx, p.answersOf(start), node, pattern, enough)
		if err != nil {
			return 0, nil, err
		}
		if answers == nil || reached > value {
			value, answers = reached, found
		}
		if value >= enough {
			break
		}
	}
	return value, answers, nil
}

// climb improves answers. From a statistic follows which end of its class is worse, for every node and step, and which
// sign of every input; they are turned there, or part of the way where that is too much.
func (p *played) climb(ctx context.Context, now [][]float64, node int, pattern []int, enough float64) (value float64,
	answers [][]float64, err error) {
	var single [][]float64 // inputs, all in one where they are many
	for i, t := range pattern {
		if i == 0 || len(pattern) <= mostSigns {
			single = append(single, make([]float64, len(p.gates)*p.m))
		}
		single[len(single)-1][t*p.m+node] = 1
	}
	statistics, target, part := make([][]float64, len(single)), now, 1.0
	for range improvements {
		linear, began := p.answering(now), slices.Clone(statistics)
		reached, inputs, statistic, err := p.best(ctx, linear, single, began)
		if err != nil {
			return 0, nil, err
		}
		if part /= 2; answers == nil || reached > value*(1+1e-7) {
			value, answers, statistics, part = reached, now, began, 1
			var pulled []float64
			target, pulled = p.worse(linear, inputs, statistic)
			for at := range single[0] {
				if len(single) == 1 && inputs[at] != 0 {
					single[0][at] = math.Copysign(1, pulled[at])
				}
			}
		}
		if part < 0.1 || value >= enough {
			break
		}
		now = make([][]float64, len(answers))
		for t := range now {
			now[t] = slices.Clone(answers[t])
			floats.AddScaled(now[t], part, floats.SubTo(make([]float64, p.m), target[t], answers[t]))
		}
	}
	return value, answers, nil
}

// worse returns the ends of classes of which a statistic shows more, and by how much inputs move it.
func (p *played) worse(linear []*answer, inputs, statistic []float64) (answers [][]float64, pulled []float64) {
	pulled, noise := p.pull(linear, statistic)
	shift := p.correlate(p.correlate(noise, blas.Trans), blas.NoTrans)
	_, models := p.show(linear, inputs, scaled(shift, -1))
	for t, classes := range p.classes {
		answers = append(answers, make([]float64, p.m))
		for v, c := range classes {
			answers[t][v] = c.costlier(pulled[t*p.m+v] * models[t][v])
		}
	}
	return answers, pulled
}
