package reaction

import (
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

// What an attack on noise of any memory is said to reach is what the definition says of its answers, and it finds nearly
// what the attack finds that knows the noise's state.
func TestAttacksOnCorrelatedNoise(t *testing.T) {
	good, cases := 0.0, 0.0
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 12))
		s, pattern := randomCase(t, r)
		c, class := randomStrategy(t, r, len(s.Steps)), randomClass(r)
		victim := Victim{Node: r.IntN(s.Nodes), Schema: listed(s, [][]int{pattern})}
		p, err := playedOn(mustStages(t, s, class), c)
		if err != nil {
			rt.Fatal(err)
		}
		value, answers, err := p.reach(context.Background(), victim.Node, pattern, math.Inf(1))
		if err != nil {
			rt.Fatal(err)
		}
		correlated, err := s.Correlated(c)
		if err != nil {
			rt.Fatal(err)
		}
		if answers == nil {
			return // nothing is seen
		}
		exact := largest(explicitM(t, correlated, answers, victim.Node, pattern))
		if value > exact*(1+1e-9)+1e-11 || len(pattern) == 1 && value < exact*(1-1e-4)-1e-10 {
			rt.Fatalf("a statistic reaches %v, its definition is %v", value, exact)
		}
		own, err := boundAttacked(correlated, victim, Everywhere(class))
		if err != nil {
			rt.Fatal(err)
		}
		if value > own.SensSquared*(1+1e-9)+1e-11 {
			rt.Fatalf("%v is reached, the bound is %v", value, own.SensSquared)
		}
		if len(pattern) == 1 {
			cases++
			if value > 0.99*own.WorstAnswer-1e-10 {
				good++
			}
		}
	})
	if good < 0.9*cases {
		t.Errorf("of %v attacks %v find what the attack on the noise's state finds", cases, good)
	}
}

// Nonlinear answers of a class, played with noise many times with the record and without: what a threshold of the
// statistic shows that is best against the worst linear answers found proves less than the bound, with confidence.
func TestNonlinearAnswersReachLess(t *testing.T) {
	ratios := tally{}
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 13))
		s, pattern := randomCase(t, r)
		if r.IntN(3) == 0 {
			s = correlated(t, r, s)
		}
		class, node, d := randomClass(r), r.IntN(s.Nodes), 1+r.IntN(3)
		got, err := boundAlone(s, Victim{Node: node, Schema: listed(s, [][]int{pattern})}, Everywhere(class))
		if err != nil {
			rt.Fatal(err)
		}
		p, err := playedOn(mustStages(t, s, class), nil)
		if err != nil {
			rt.Fatal(err)
		}
		_, answers, err := p.reach(context.Background(), node, pattern, math.Inf(1))
		if err != nil {
			rt.Fatal(err)
		}
		if answers == nil {
			return // nothing is seen
		}
		inputs := make([]float64, len(s.Steps)*s.Nodes)
		for _, at := range pattern {
			inputs[at*s.Nodes+node] = 1
		}
		_, _, statistic, err := p.best(context.Background(), p.answering(answers), [][]float64{inputs}, make([][]float64, 1))
		if err != nil {
			rt.Fatal(err)
		}
		low := shown(p, s, class, answers, inputs, statistic, d, r)
		ratios.add(kindOf(class)+" nonlinear", low*low/got.SensSquared)
		if low > math.Sqrt(got.SensSquared) {
			rt.Fatalf("nonlinear answers reach μ = %v at least, the bound is %v", low, math.Sqrt(got.SensSquared))
		}
	})
	ratios.log(t, "lower limit of a nonlinear attack / bound")
}

// mustStages returns the stages of nodes that are all in one class.
func mustStages(t *testing.T, s *System, class Class) *stages {
	t.Helper()
	all, err := stagesOf(s, Everywhere(class))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// shown returns the μ that a threshold of a statistic proves, but for one case in 10⁹, if nodes answer to the same side
// as in answers, but not linearly.
func shown(p *played, s *System, class Class, answers [][]float64, inputs, statistic []float64, d int,
	r *rand.Rand) float64 {
	const runs = 300
	kind, width := r.IntN(3), math.Exp(3*r.NormFloat64())
	play := func(record bool) float64 {
		m, n := p.m, p.n
		state, at, value := make([]float64, n*d), 0, 0.0
		for t := range s.Steps {
			now := p.linear[t].move.times(state, d) // the nearest linear answers; the rest is added
			g := make([]float64, m*d)
			for v := range m {
				turn := answers[t][v] - class.Rho // −κ, κ or between
				for c := range d {
					x := state[v*d+c]
					y := x
					switch kind {
					case 0:
						y = min(max(x, -width), width)
					case 1:
						y = width * math.Sin(x/width)
					case 2:
						y = math.Abs(x+width) - width
					}
					g[v*d+c] = (class.Rho-class.Nearest())*x + turn*y
					if record {
						g[v*d+c] += inputs[t*m+v] / math.Sqrt(float64(d))
					}
				}
			}
			noise := make([]float64, m*d)
			for i := range noise {
				noise[i] = r.NormFloat64()
			}
			add(now, 1, p.linear[t].inject.times(g, d))
			add(now, 1, p.gates[t].fresh.times(noise, d))
			if p.gates[t].seen != nil {
				for _, row := range chunks(p.gates[t].seen.times(now[:m*d], d), d) {
					value += statistic[at] * sumOf(row) / math.Sqrt(float64(d))
					at++
				}
			}
			state = make([]float64, n*d)
			copy(state[m*d:], now[m*d:])
			if p.gates[t].mix != nil {
				copy(state, p.gates[t].mix.times(now[:m*d], d))
			}
		}
		return value
	}
	sample := func(record bool) []float64 {
		out := make([]float64, runs)
		for i := range out {
			out[i] = play(record)
		}
		return out
	}
	threshold := 0.0
	for _, x := range append(sample(false), sample(true)...) {
		threshold += x / (2 * runs)
	}
	above := func(values []float64) (count float64) {
		for _, x := range values {
			if x > threshold {
				count++
			}
		}
		return count
	}
	hits, misses := above(sample(true)), above(sample(false))
	if hits == 0 || misses == runs {
		return 0
	}
	low := distuv.Beta{Alpha: hits, Beta: runs - hits + 1}.Quantile(5e-10)
	high := distuv.Beta{Alpha: misses + 1, Beta: runs - misses}.Quantile(1 - 5e-10)
	return math.Max(0, distuv.UnitNormal.Quantile(low)-distuv.UnitNormal.Quantile(high))
}

// chunks cuts x into rows of d numbers.
func chunks(x []float64, d int) (rows [][]float64) {
	for len(x) > 0 {
		rows, x = append(rows, x[:d]), x[d:]
	}
	return rows
}

// tally has numbers of each kind of case.
type tally map[string][]float64

func (a tally) add(kind string, x float64) { a[kind] = append(a[kind], x) }

// log says how the numbers are spread.
func (a tally) log(t *testing.T, what string) {
	t.Helper()
	for _, kind := range slices.Sorted(maps.Keys(a)) {
		x := a[kind]
		slices.Sort(x)
		at := func(share float64) float64 { return x[min(len(x)-1, int(share*float64(len(x))))] }
		t.Logf("%s: %-32s %5d cases: 1 %% %.6f, 10 %% %.6f, median %.6f, 90 %% %.6f, 99 %% %.6f, most %.9f", what, kind, len(x),
			at(0.01), at(0.1), at(0.5), at(0.9), at(0.99), x[len(x)-1])
	}
}

// kindOf names a class of randomClass.
func kindOf(c Class) string {
	switch {
	case c.Kappa == 0:
		return "no reaction"
	case c.Rho == 0:
		return "lipschitz"
	case c.Rho == 1:
		return "smooth"
	case math.Abs(c.Rho+c.Kappa-1) < 1e-12:
		return "convex"
	case c.Rho+c.Kappa > 1:
		return "clipped convex"
	}
	return "strongly convex"
}
