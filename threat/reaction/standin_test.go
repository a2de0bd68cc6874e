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

// A reduced strategy's filter makes noise with its own C'⁻¹, and with room for everything it is C.
func TestReducedStrategiesAreStrategies(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 9))
		steps := 2 + r.IntN(9)
		c := randomStrategy(t, r, steps)
		by := reduce(c, 1+r.IntN(steps))
		if cut := 1 + r.IntN(by.memory); r.IntN(2) == 0 {
			by = by.cut(cut)
		}
		var inverse mat.TriDense
		if err := by.NoisingTo(&inverse); err != nil {
			rt.Fatal(err)
		}
		filter, err := by.Filter()
		if err != nil {
			rt.Fatal(err)
		}
		kept := make([][]float64, filter.Memory())
		for t := range steps {
			row := make([]float64, steps)
			filter.StepTo(row, unitVector(steps, t), kept, t)
			for s, v := range row {
				if want := inverse.At(t, s); math.Abs(v-want) > 1e-9*(1+math.Abs(want)) {
					rt.Fatalf("row %d of C'⁻¹: %v at %d, not %v", t, v, s, want)
				}
			}
		}
		if full := reduce(c, steps); !mat.EqualApprox(whole(full), whole(c), 1e-8) {
			rt.Fatalf("with all memory %v is not %v", mat.Formatted(whole(full)), mat.Formatted(whole(c)))
		}
	})
}

// What stands for a strategy never lets a bound come out below what linear answers reach with the strategy itself, and
// what it says that they reach at least is no more than they do.
func TestStandInsHold(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 10))
		steps := 3 + r.IntN(4)
		s := systemOf(t, randomNetwork(r, 3+r.IntN(2)), []int{0}, steps, View{Sums: r.IntN(2) == 0})
		c := randomStrategy(t, r, steps)
		pattern := []int{r.IntN(2)}
		if r.IntN(2) == 0 {
			pattern = append(pattern, 2)
		}
		victim, reaction := Victim{Node: r.IntN(s.Nodes), Schema: listed(s, [][]int{pattern})}, Everywhere(randomClass(r))
		itself := []Stand{{Strategy: c, Factor: 1}}
		own, err := boundStrategy(context.Background(), s, c, itself, victim, reaction)
		if err != nil {
			rt.Fatal(err)
		}
		var others []strategy.Strategy
		for memory := 1; memory < steps; memory++ {
			others = append(others, reduce(c, memory))
		}
		if b := fitted(c, pattern); b != nil {
			others = append(others, b)
		}
		for _, by := range others {
			stand, err := standing(c, by, pattern)
			if err != nil {
				continue // nothing is proven of it
			}
			got, err := boundStrategy(context.Background(), s, c, []Stand{stand}, victim, reaction)
			if err != nil {
				rt.Fatal(err)
			}
			if got.SensSquared < own.WorstAnswer*(1-1e-9)-1e-11 || got.WorstAnswer > own.SensSquared*(1+1e-9)+1e-11 {
				rt.Fatalf("%s: bound %v of an attack that reaches %v; %v of the bound %v", by.Name(), got.SensSquared,
					own.WorstAnswer, got.WorstAnswer, own.SensSquared)
			}
		}
	})
}

// The stand-ins of a strategy whose correlations last as long as the run have a small factor, of a small memory.
func TestStandInsAreNear(t *testing.T) {
	const steps = 96
	root, err := strategy.SquareRoot(steps, steps)
	if err != nil {
		t.Fatal(err)
	}
	c, err := strategy.NewDense(strategy.LowerOf(root))
	if err != nil {
		t.Fatal(err)
	}
	pattern := []int{0}
	local := spread(c, pattern)
	stands, err := Strategies(c, 20, pattern)
	if err != nil || len(stands) == 0 {
		t.Fatal(stands, err)
	}
	for _, stand := range stands {
		if memory := stand.Strategy.NodeCost().Floats; stand.spread > 1.3*local || 20*(1+memory) > MaxExact {
			t.Errorf("%s of %d numbers: %v times the cost of C", stand.Strategy.Name(), memory, stand.spread/local)
		}
	}
}
