package pld

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"mafalda/accounting"
	"mafalda/internal/exact"
)

// exactMixture returns the masses of outcomes above x under φ and under m, for N(0, s²) and (1-q)N(0, s²) + qN(1, s²).
func exactMixture(q, s float64, x *big.Float) (plain, mixture *big.Float) {
	if x == nil { // below all outcomes
		return exact.Of(1), exact.Of(1)
	}
	plain = exact.Tail(exact.Over(x, exact.Of(s)))
	shifted := exact.Tail(exact.Over(exact.Minus(x, exact.Of(1)), exact.Of(s)))
	return plain, exact.Plus(exact.Times(exact.Minus(exact.Of(1), exact.Of(q)), plain), exact.Times(exact.Of(q), shifted))
}

// exactOutcome returns where the log-ratio is l: s² log((e^l - (1-q))/q) + 1/2; nil where it never is so small.
func exactOutcome(q, s, l float64) *big.Float {
	rest := exact.Minus(exact.Exp(exact.Of(l)), exact.Minus(exact.Of(1), exact.Of(q)))
	if rest.Sign() <= 0 {
		return nil
	}
	return exact.Plus(exact.Times(exact.Times(exact.Of(s), exact.Of(s)), exact.Log(exact.Over(rest, exact.Of(q)))),
		exact.Of(0.5))
}

// exactSampledDelta is the definition for one round: δ = P(loss > ε) - e^ε Q(loss > ε).
func exactSampledDelta(p lossPair, epsilon float64) *big.Float {
	if p.add { // L < -ε
		x := exactOutcome(p.q, p.s, -epsilon)
		if x == nil {
			return exact.Of(0)
		}
		plain, mixture := exactMixture(p.q, p.s, x)
		return exact.Minus(exact.Minus(exact.Of(1), plain), exact.Times(exact.Exp(exact.Of(epsilon)),
			exact.Minus(exact.Of(1), mixture)))
	}
	plain, mixture := exactMixture(p.q, p.s, exactOutcome(p.q, p.s, epsilon))
	return exact.Minus(mixture, exact.Times(exact.Exp(exact.Of(epsilon)), plain))
}

// drawPair draws from what is accounted for.
func drawPair(r *rand.Rand) lossPair {
	p := lossPair{q: between(r, 1e-4, 1), s: between(r, 0.2, 100), add: r.IntN(2) == 0}
	if r.IntN(5) == 0 {
		p.q = 1
	}
	return p
}

// Both δ of one round enclose the definition, for a removed and an added record.
func TestOneRoundEnclosesTheDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	draws := 15
	if testing.Short() {
		draws = 4
	}
	for range draws {
		p := drawPair(r)
		d, err := Compose(accounting.ZeroOut, Rounds{Mechanism{p.q, p.s}, 1})
		if err != nil {
			t.Fatal(err)
		}
		delta := between(r, 1e-12, 1e-2)
		upper, lower := d.direction(p.add, delta).epsilon(delta, 0)
		if most := d.largestLoss(); p.add && upper > most { // as Epsilon knows
			upper = most
		}
		if exactSampledDelta(p, upper).Cmp(exact.Of(delta)) > 0 {
			t.Errorf("%+v, δ = %v: ε = %v does not hold", p, delta, upper)
		}
		if lower > 0 && exactSampledDelta(p, lower).Cmp(exact.Of(delta)) < 0 {
			t.Errorf("%+v, δ = %v: ε = %v holds, below the lower bound", p, delta, lower)
		}
		if upper-lower > 2e-3*upper && !p.add {
			t.Errorf("%+v, δ = %v: %v to %v", p, delta, lower, upper)
		}
		for _, epsilon := range []float64{upper, lower / 2, 0} {
			most, least := d.direction(p.add, leastDelta).delta(epsilon)
			if want := exactSampledDelta(p, epsilon); exact.IsBelow(most, want) || want.Cmp(exact.Of(least)) < 0 {
				t.Errorf("%+v: δ(%v) = %s, not within %v and %v", p, epsilon, want.Text('g', 8), least, most)
			}
		}
	}
}

// Every mass of a histogram is right to massError, in both of its parts.
func TestHistogramIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	worst, draws := 0.0, 60
	if testing.Short() {
		draws = 15
	}
	for range draws {
		p := drawPair(r)
		from, to := p.support(1e-15, 1e-15)
		c := p.cumulants(from, to, 1)
		_, mean, variance := c.evaluate(0)
		step := math.Ldexp(1, int(math.Floor(math.Log2(math.Sqrt(variance)*between(r, 0.01, 1)))))
		if step > 0.5 {
			step = 0.5
		}
		at := saddle{tilt: r.Float64() * 3, epsilon: mean}
		nodes, ok := c.grade([2]float64{p.loss(from), p.loss(to)}, step, 100, at)
		if !ok {
			t.Fatal(p, step)
		}
		h := p.histogram(from, to, step, nodes)
		centre := 0
		for float64(nodes[centre])*step < mean {
			centre++
		}
		for range 12 {
			i := r.IntN(len(h.lower))
			if r.IntN(2) == 0 {
				i = min(max(centre-10+r.IntN(20), 0), len(h.lower)-1)
			}
			a, b := p.loss(from), p.loss(to)
			if node := float64(nodes[i]) * step; node < min(a, b) || node+h.width(i) > max(a, b) {
				continue // cut off
			}
			lower, upper := exactBin(p, float64(nodes[i])*step, h.width(i))
			a, b = math.Abs(exact.Excess(h.lower[i], lower)), math.Abs(exact.Excess(h.upper[i], upper))
			worst = max(worst, a, b)
			if a > massError/2 || b > massError/2 {
				t.Errorf("%+v, step %v: bin %d of width %v at %v is off by %g, %g", p, step, i, h.width(i),
					float64(nodes[i])*step, a, b)
			}
		}
	}
	t.Logf("largest relative error %.2g", worst)
}

// The masses on both sides of 0 are right where all losses but few are a millionth of the step.
func TestHistogramIsExactBesideZero(t *testing.T) {
	for _, add := range []bool{false, true} {
		p := lossPair{q: 1e-9, s: 0.2, add: add}
		from, to := p.support(1e-30, 1e-30)
		const step = 0x1p-8
		h := p.histogram(from, to, step, []int{-400, -1, 0, 1, 6000})
		for i := 1; i <= 2; i++ {
			lower, upper := exactBin(p, float64(h.nodes[i])*step, step)
			a, b := math.Abs(exact.Excess(h.lower[i], lower)), math.Abs(exact.Excess(h.upper[i], upper))
			if a > massError || b > massError {
				t.Errorf("add %v: the bin at %v is off by %g, %g", add, h.nodes[i], a, b)
			}
		}
	}
}

// exactBin returns the two parts of the mass of losses between node and node + width.
func exactBin(p lossPair, node, width float64) (lower, upper *big.Float) {
	least := node
	if p.add {
		least = -node - width
	}
	from, to := exactOutcome(p.q, p.s, least), exactOutcome(p.q, p.s, least+width)
	q0, p0 := exactMixture(p.q, p.s, from)
	q1, p1 := exactMixture(p.q, p.s, to)
	massQ, massP := exact.Minus(q0, q1), exact.Minus(p0, p1)
	if p.add {
		massQ, massP = massP, massQ
	}
	ratio, end := exact.Exp(exact.Of(node)), exact.Exp(exact.Of(node+width))
	// of Q goes up (P - e^node Q)/(e^end - e^node), and of P e^end times that
	upper = exact.Times(end, exact.Over(exact.Minus(massP, exact.Times(ratio, massQ)), exact.Minus(end, ratio)))
	return exact.Minus(massP, upper), upper
}

// The two lattices of one round enclose the definition at every ε, also where nearly all mass is in a bin, and drop
// next to nothing.
func TestLatticesEncloseTheDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	for range 60 {
		p := drawPair(r)
		from, to := p.support(1e-15, 1e-15)
		c := p.cumulants(from, to, 1)
		_, mean, variance := c.evaluate(0)
		step := math.Ldexp(1, int(math.Floor(math.Log2(math.Sqrt(variance)*between(r, 0.03, 2)))))
		step = math.Min(step, 0.5)
		at := saddle{tilt: r.Float64() * 3, epsilon: mean}
		nodes, ok := c.grade([2]float64{p.loss(from), p.loss(to)}, step, 100, at)
		if !ok {
			t.Fatal(p, step)
		}
		h := p.histogram(from, to, step, nodes)
		up, down := h.pessimistic(), h.optimistic(100)
		for range 6 {
			epsilon := p.loss(from + r.Float64()*(to-from))
			want, _ := exactSampledDelta(p, epsilon).Float64()
			most, least := latticeDelta(up, epsilon)+up.lost, latticeDelta(down, epsilon)
			if slack := 1e-11 + 1e-11*want; most < want-slack || least > want+slack {
				t.Errorf("%+v, step %v: δ(%v) = %v, not within %v and %v", p, step, epsilon, want, least, most)
			}
		}
		total := 0.0
		for _, m := range down.mass {
			total += m
		}
		if 1-total > 2e-4 {
			t.Errorf("%+v, step %v: the optimistic lattice drops %v", p, step, 1-total)
		}
	}
}

func latticeDelta(l lossLattice, epsilon float64) float64 {
	sum := 0.0
	for k, m := range l.mass {
		if loss := float64(l.at[k])*l.step + l.offset; loss > epsilon {
			sum -= m * math.Expm1(epsilon-loss)
		}
	}
	return sum
}

// between draws log-uniformly.
func between(r *rand.Rand, low, high float64) float64 {
	return math.Exp(math.Log(low) + r.Float64()*math.Log(high/low))
}
