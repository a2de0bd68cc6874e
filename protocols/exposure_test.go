package protocols

import (
	"context"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"mafalda/graph"
)

// exactBits is some 150 digits.
const exactBits = 500

// exactLog1p is log(1 + x), x ≥ 0, from the series of atanh.
func exactLog1p(x *big.Float) *big.Float {
	number := func() *big.Float { return new(big.Float).SetPrec(exactBits) }
	atanh2 := func(num, den *big.Float) *big.Float { // 2 atanh(num/den), of at most a third
		z := number().Quo(num, den)
		square, power, total := number().Mul(z, z), number().Set(z), number()
		for k := int64(1); power.Sign() != 0 && (total.Sign() == 0 ||
			power.MantExp(nil) > total.MantExp(nil)-exactBits); k += 2 {
			total.Add(total, number().Quo(power, number().SetInt64(k)))
			power.Mul(power, square)
		}
		return total.Mul(total, number().SetInt64(2))
	}
	two := number().SetInt64(2)
	if x.Cmp(number().SetInt64(1)) < 0 {
		return atanh2(x, number().Add(two, x))
	}
	fraction := number()
	exponent := number().Add(x, number().SetInt64(1)).MantExp(fraction)
	fraction.Mul(fraction, two) // in [1, 2)
	one := number().SetInt64(1)
	log := atanh2(number().Sub(fraction, one), number().Add(fraction, one))
	log2 := atanh2(one, number().SetInt64(3))
	return log.Add(log, log2.Mul(log2, number().SetInt64(int64(exponent-1))))
}

// exactExposure is e_jᵀPe_j in rational numbers: what is left of e_j, squared, is the quotient of two Gram
// determinants, which elimination finds as it goes.
func exactExposure(g *graph.Graph, w [][]*big.Rat, observers []int, rounds, victim int) *big.Rat {
	n := g.Nodes()
	dot := func(a, b []*big.Rat) *big.Rat {
		sum := new(big.Rat)
		for i := range a {
			sum.Add(sum, new(big.Rat).Mul(a[i], b[i]))
		}
		return sum
	}
	var basis [][]*big.Rat // orthogonal
	left := func(row []*big.Rat) []*big.Rat {
		row = without(row, -1)
		for _, q := range basis {
			c := dot(q, row)
			addScaled(row, c.Neg(c.Quo(c, dot(q, q))), q)
		}
		return row
	}
	power := identityRat(n)
	for range rounds + 1 {
		for v := range n {
			if slices.Contains(observers, v) || !slices.ContainsFunc(observers,
				func(a int) bool { return g.Adjacency().At(a, v) != 0 }) {
				continue
			}
			row := without(power[v], -1)
			for _, a := range observers {
				row[a].SetInt64(0)
			}
			if row = left(row); dot(row, row).Sign() != 0 {
				basis = append(basis, row)
			}
		}
		power = mulRat(power, w)
	}
	rest := left(identityRat(n)[victim])
	return new(big.Rat).Sub(big.NewRat(1, 1), dot(rest, rest))
}

// exactGossipLeakage is ½ log(1 + e·σ_u²/(σ² + (1-e)·σ_u²)) to 150 digits, rounded to a float of 500 bits.
func exactGossipLeakage(exposure *big.Rat, valueStd, noiseStd float64) *big.Float {
	square := func(x float64) *big.Rat {
		r := new(big.Rat)
		r.SetFloat64(x)
		return r.Mul(r, r)
	}
	value, noise := square(valueStd), square(noiseStd)
	seen := new(big.Rat).Mul(exposure, value)
	below := new(big.Rat).Add(noise, new(big.Rat).Sub(value, seen))
	x := new(big.Float).SetPrec(exactBits).SetRat(seen.Quo(seen, below))
	return x.Quo(exactLog1p(x), new(big.Float).SetPrec(exactBits).SetInt64(2))
}

// checkAbove fails if a number is below the exact one, or more than a share above it.
func checkAbove(t interface{ Fatalf(string, ...any) }, what string, got float64, want *big.Float, share float64) {
	value, _ := want.Float64()
	if new(big.Float).SetPrec(exactBits).SetFloat64(got).Cmp(want) < 0 {
		t.Fatalf("%s: %.17g is too small: %.17g", what, got, value)
	}
	if got > value*(1+share)+math.Min(1e-18, value*1e-3)+5*math.SmallestNonzeroFloat64 {
		t.Fatalf("%s: %.17g is far above %.17g", what, got, value)
	}
}

// The leakage of gossip was -½ log(1 - e·σ_u²/(σ_u² + σ²)), which cancels where noise is faint: too small by 1e-9 at a
// ten-thousandth of the values, and infinite at a hundred-millionth.
func TestFaintNoiseOfGossipDoesNotCancel(t *testing.T) {
	for _, noise := range []float64{1e-3, 1e-7, 1e-9, 1e-12, 1e-100, 1e-150, 1e-200, 5e-324} {
		want := exactGossipLeakage(big.NewRat(1, 1), 10, noise)
		checkAbove(t, "one value", GossipLeakage(Exposure{1, 0}, 10, noise), want, 1e-14)
	}
	if got := GossipLeakage(Exposure{1, 0}, 10, 1e-3); math.Abs(got-9.2103403769761827) > 1e-13 {
		t.Errorf("noise of 1e-3 on values of 10: %.17g", got)
	}
	for _, tc := range []struct{ value, noise float64 }{{1e308, 1e-308}, {math.MaxFloat64, 5e-324}, {1e-308, 1e308},
		{1, 1e160}, {1e-320, 1e-300}} {
		for _, e := range []*big.Rat{big.NewRat(1, 1), big.NewRat(1, 4)} {
			seen, _ := e.Float64()
			checkAbove(t, "far apart", GossipLeakage(Exposure{seen, 1 - seen}, tc.value, tc.noise),
				exactGossipLeakage(e, tc.value, tc.noise), 1e-13)
		}
	}
	if got := GossipLeakage(Exposure{1, 0}, 1, 0); !math.IsInf(got, 1) {
		t.Errorf("without noise: %g", got)
	}
	if got := GossipLeakage(Exposure{0.5, 0.5}, 1, 0); math.Abs(got-math.Ln2/2) > 1e-15 {
		t.Errorf("without noise, half of it seen: %g", got)
	}
}

// What gossip leaks to single nodes and to coalitions is bounded above, and closely, by what is printed: against
// rational arithmetic and 150 digits.
func TestGossipLeakageIsAnUpperBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t, 6)
		scheme, w := graph.Metropolis, metropolisRat(g)
		p, err := NewGossip(g, gossipOf(t, g, scheme))
		if err != nil {
			t.Fatal(err)
		}
		observers := drawCoalition(t, g.Nodes())
		rounds := rapid.IntRange(0, 20).Draw(t, "rounds")
		value := math.Pow(10, rapid.Float64Range(-3, 3).Draw(t, "value"))
		noise := value * math.Pow(10, rapid.Float64Range(-12, 12).Draw(t, "ratio"))
		exposures, err := p.Exposures(context.Background(), observers, rounds)
		if err != nil {
			t.Fatal(err)
		}
		for j := range g.Nodes() {
			if slices.Contains(observers, j) {
				continue
			}
			seen := exactExposure(g, w, observers, rounds, j)
			checkAbove(t, "exposure", exposures[j].Seen, new(big.Float).SetPrec(exactBits).SetRat(seen), 1e-14)
			hidden := new(big.Float).SetPrec(exactBits).SetRat(new(big.Rat).Sub(big.NewRat(1, 1), seen))
			if new(big.Float).SetFloat64(exposures[j].Hidden).Cmp(hidden) > 0 ||
				hidden.Sign() > 0 != (exposures[j].Hidden > 0) {
				t.Fatalf("hidden %g of %v", exposures[j].Hidden, hidden)
			}
			checkAbove(t, "leakage", GossipLeakage(exposures[j], value, noise), exactGossipLeakage(seen, value, noise),
				1e-13)
		}
	})
}

// The same in double precision, for graphs that are too large for more.
func TestGossipLeakageIsAnUpperBoundInDoublePrecision(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGraph(t, 6)
		p, err := NewGossip(g, gossipOf(t, g, graph.Metropolis))
		if err != nil {
			t.Fatal(err)
		}
		observers, rounds := drawCoalition(t, g.Nodes()), rapid.IntRange(0, 8).Draw(t, "rounds")
		seen := func(v int) bool {
			return slices.ContainsFunc(observers, func(a int) bool { return g.Adjacency().At(a, v) != 0 })
		}
		o := &observation{weights: p.weights, residues: p.residues,
			known: func(v int) bool { return slices.Contains(observers, v) }, seen: seen}
		s, err := o.observe(context.Background(), rounds)
		if err != nil || s.rank() == len(s.hidden) {
			return
		}
		s.fine, s.blur = nil, 1e-13
		for at, e := range s.exposures() {
			exact := exactExposure(g, metropolisRat(g), observers, rounds, s.hidden[at])
			checkAbove(t, "exposure", e.Seen, new(big.Float).SetPrec(exactBits).SetRat(exact), 1e-9)
			for _, noise := range []float64{1e-6, 1, 1e6} {
				checkAbove(t, "leakage", GossipLeakage(e, 1, noise), exactGossipLeakage(exact, 1, noise), 1e-9)
			}
		}
	})
}

// Leakages of PPAC are never below the truth either, however far apart values and noise are, and infinite only where a
// value is recovered.
func TestLeakageOfPPACIsAnUpperBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPPAC(t, 6)
		observers := drawCoalition(t, p.Nodes())
		rounds := rapid.IntRange(0, 20).Draw(t, "rounds")
		value := math.Pow(10, rapid.Float64Range(-3, 3).Draw(t, "value"))
		d := Uniform(value, value*math.Pow(10, rapid.Float64Range(-9.9, 9.9).Draw(t, "ratio")))
		v, err := p.View(context.Background(), observers, rounds)
		if err != nil {
			t.Fatal(err)
		}
		exact, err := p.ExactView(rational(p), observers, rounds)
		if err != nil {
			t.Fatal(err)
		}
		leaks, err := v.Leakages(context.Background(), d)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range leaks {
			if recovered := exact.Recovered(l.Victim); recovered || math.IsInf(l.Nats, 1) {
				if !recovered || !math.IsInf(l.Nats, 1) {
					t.Fatalf("%g nats of a value, recovered: %v", l.Nats, recovered)
				}
				continue
			}
			want := exactLog1p(new(big.Float).SetPrec(exactBits).SetRat(exact.Ratio(l.Victim, p, d)))
			checkAbove(t, "leakage", l.Nats, want.Quo(want, new(big.Float).SetPrec(exactBits).SetInt64(2)), 1e-9)
		}
	})
}
