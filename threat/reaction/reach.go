package reaction

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
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
	inverse blas64.Triangular // C⁻¹
	node    int
}

// playedOn returns an error for a strategy without an inverse, or what is no class.
func playedOn(s *System, c strategy.Strategy, node int, reaction Reaction) (*played, error) {
	all, err := stagesOf(s, reaction)
	if err != nil || all.unclear {
		return &played{stages: all}, err
	}
	var inverse mat.TriDense
	if err := c.NoisingTo(&inverse); err != nil {
		return nil, err
	}
	return &played{stages: all, inverse: inverse.RawTriangular(), node: node}, nil
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
	gemm.Trmm(blas.Left, transposed, 1, p.inverse, general(len(p.gates), p.m, out))
	return out
}

const (
	searchSteps = 400  // of conjugate gradients at most
	searchGain  = 1e-7 // of the last of them, in what is reached
)

// best returns a statistic that reaches nearly the most, from one to begin with or nil, and what it reaches.
func (p *played) best(ctx context.Context, linear []*answer, inputs, statistic []float64) (value float64, found []float64,
	err error) {
	signal, _ := p.show(linear, inputs, nil)
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
			return 0, nil, err
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
	_, noise := p.pull(linear, found)
	cost, mean := p.correlate(noise, blas.Trans), dot(found, signal)
	if spread := dot(cost, cost); spread > 0 && finite(mean*mean/spread) {
		value = mean * mean / spread
	}
	return value, found, nil
}

// reach returns what linear answers of the class let the attacker learn at least of a record that takes part as in a
// pattern, and the answers. From a statistic follows which end of its class is worse, for every node and step, and which
// sign of every input; they are turned there, or half of the way where that is too much.
func (p *played) reach(ctx context.Context, pattern []int, improvements int) (value float64, answers [][]float64,
	err error) {
	now, inputs := p.nearest(), make([]float64, len(p.gates)*p.m)
	for _, t := range pattern {
		inputs[t*p.m+p.node] = 1
	}
	var statistic, toward []float64
	var target [][]float64
	part := 1.0
	for range 2 * improvements {
		linear := p.answering(now)
		reached, found, err := p.best(ctx, linear, inputs, statistic)
		if err != nil {
			return 0, nil, err
		}
		switch {
		case reached > value*(1+1e-6):
			value, answers, statistic, part = reached, now, found, 1
			target, toward = p.worse(linear, inputs, found, pattern)
		case part < 0.2 || answers == nil:
			return value, answers, nil
		default:
			part /= 2
		}
		inputs = toward
		now = make([][]float64, len(answers))
		for t := range now {
			now[t] = make([]float64, p.m)
			for v, d := range answers[t] {
				now[t][v] = d + part*(target[t][v]-d)
			}
		}
	}
	return value, answers, nil
}

// worse returns the ends of classes, and the inputs, of which a statistic shows more.
func (p *played) worse(linear []*answer, inputs, statistic []float64, pattern []int) (answers [][]float64,
	turned []float64) {
	pulled, noise := p.pull(linear, statistic)
	shift := p.correlate(p.correlate(noise, blas.Trans), blas.NoTrans)
	_, models := p.show(linear, inputs, scaled(shift, -1))
	for t, classes := range p.classes {
		answers = append(answers, make([]float64, p.m))
		for v, c := range classes {
			answers[t][v] = c.costlier(pulled[t*p.m+v] * models[t][v])
		}
	}
	turned = make([]float64, len(inputs))
	for _, t := range pattern {
		turned[t*p.m+p.node] = math.Copysign(1, pulled[t*p.m+p.node])
	}
	return answers, turned
}
