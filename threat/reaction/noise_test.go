package reaction

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/strategy"
)

// The path of three with AntiPGD's noise, whose message in the second step takes back the first step's noise: bands,
// banded inverses and the dense matrix are the same strategy and must give the same numbers.
func TestMemoriesOfOneStrategyAgree(t *testing.T) {
	s := pathTo(t, 4, 4, View{})
	ones := mat.NewDense(4, 4, []float64{1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1})
	dense, err := strategy.NewDense(ones)
	if err != nil {
		t.Fatal(err)
	}
	banded, err := strategy.NewBanded(ones, 4)
	if err != nil {
		t.Fatal(err)
	}
	var results []*Result
	for _, c := range []strategy.Strategy{strategy.AntiPGD(4), dense, banded} {
		r, err := boundStrategy(context.Background(), s, c, nil, Victim{Node: 1, Schema: listed(s, [][]int{{0, 2}, {1, 3}})},
			Everywhere(Class{0.95, 0.05}))
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
	}
	for _, r := range results[1:] {
		if math.Abs(r.WorstAnswer-results[0].WorstAnswer) > 1e-9 || math.Abs(r.LocalDP-results[0].LocalDP) > 1e-9 ||
			math.Abs(r.SensSquared-results[0].SensSquared) > 1e-6 {
			t.Errorf("%+v and %+v", r, results[0])
		}
	}
}

// A strategy stands for another one with a factor that is proven: no shift of noise is cheaper than it says.
func TestDominationHolds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 7))
		steps := 2 + r.IntN(5)
		c, by := randomStrategy(t, r, steps), randomStrategy(t, r, steps)
		factor, err := Dominate(c, by)
		if err != nil {
			rt.Fatal(err)
		}
		if same, err := Dominate(c, c); err != nil || same < 1 || same > 1+1e-6 {
			rt.Fatalf("a strategy dominates itself %v times (%v)", same, err)
		}
		full, other := mat.DenseCopyOf(strategy.LowerOf(c)), mat.DenseCopyOf(strategy.LowerOf(by))
		for range 50 {
			x := mat.NewVecDense(steps, nil)
			for i := range steps {
				x.SetVec(i, r.NormFloat64())
			}
			var a, b mat.VecDense
			a.MulVec(full, x)
			b.MulVec(other, x)
			if mat.Dot(&a, &a) > factor*mat.Dot(&b, &b) {
				rt.Fatalf("%v > %v times %v", mat.Dot(&a, &a), factor, mat.Dot(&b, &b))
			}
		}
	})
}

// correlated returns a system with noise of any class of strategies.
func correlated(t *testing.T, r *rand.Rand, s *System) *System {
	t.Helper()
	out, err := s.Correlated(randomStrategy(t, r, len(s.Steps)))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func randomStrategy(t *testing.T, r *rand.Rand, steps int) strategy.Strategy {
	t.Helper()
	var c strategy.Strategy
	var err error
	switch bands := 1 + r.IntN(steps); r.IntN(6) {
	case 0:
		c, err = strategy.SquareRoot(steps, bands)
	case 1:
		c, err = strategy.BandedInverseSquareRoot(steps, bands)
	case 2:
		c = strategy.AntiPGD(steps)
	case 3:
		c, err = strategy.NewBLT(steps, 1, []strategy.Section{{A: 0.6, P: 0.1}})
	default:
		lower := mat.NewDense(steps, steps, nil)
		for i := range steps {
			for j := range i {
				if i-j < bands {
					lower.Set(i, j, r.Float64()-0.3)
				}
			}
			lower.Set(i, i, 0.5+r.Float64())
		}
		if r.IntN(2) == 0 {
			c, err = strategy.NewBanded(lower, bands)
		} else {
			c, err = strategy.NewDense(lower)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A dense strategy with too large a state is bounded by stand-ins, below its local DP.
func TestLargeStrategiesHaveStandIns(t *testing.T) {
	steps := 64
	s := pathTo(t, 10, steps, View{})
	root, err := strategy.SquareRoot(steps, steps)
	if err != nil {
		t.Fatal(err)
	}
	c, err := strategy.NewDense(strategy.LowerOf(root))
	if err != nil {
		t.Fatal(err)
	}
	got, err := boundStrategy(context.Background(), s, c, nil, Victim{Node: 3, Schema: listed(s, [][]int{{0}})},
		Everywhere(Class{0.95, 0.05}))
	if err != nil {
		t.Fatal(err)
	}
	local := strategy.GramOf(c).At(0, 0)
	if got.Why != "" || !(got.SensSquared < local/2) || math.Abs(got.LocalDP-local) > 1e-9 {
		t.Errorf("%v of local DP %v, %v (%s)", got.SensSquared, got.LocalDP, local, got.Why)
	}
}

// boundStrategy returns Bound's result for nodes that add noise correlated by C to their gradients: of the stand-ins
// given, which are Strategies' if there are none, the one with the least bound. The error is a fault.Argument
// where rules of the system have a memory of noise themselves.
func boundStrategy(ctx context.Context, s *System, c strategy.Strategy, stands []Stand, v Victim,
	reaction Reaction) (*Result, error) {
	if stands == nil {
		var err error
		if stands, err = Strategies(c, s.Nodes, Leading(v.Schema)); err != nil {
			return nil, err
		}
	}
	all, err := NewVictims(s, c, stands, reaction)
	if err != nil {
		return nil, err
	}
	var best *Result
	for i := range stands {
		r, err := all.Bound(ctx, v, i, 0)
		if err != nil {
			return nil, err
		}
		if best == nil || r.SensSquared < best.SensSquared {
			best = r
		}
	}
	return best, all.Attack(ctx, v, best)
}

// momentumRule returns the rule of a model x and a momentum p: p becomes momentum·p + g + z, and x becomes keep·x + rate·p.
func momentumRule(momentum, rate, keep float64) Rule {
	return Rule{{keep, rate * momentum, rate, rate}, {0, momentum, 1, 1}}
}
