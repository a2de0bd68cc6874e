package reaction

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/internal/fault"
)

func TestClassesHaveTheRowsOfTheTable(t *testing.T) {
	must := func(c Class, err error) Class {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for name, tc := range map[string]struct {
		got  Class
		want Class
		l    float64
	}{
		"none":            {NoReaction(), Class{1, 0}, 1},
		"linear":          {must(Linear(-0.5)), Class{-0.5, 0}, 0.5},
		"smooth":          {must(Smooth.Class(0.25, 0)), Class{1, 0.25}, 1.25},
		"convex":          {must(Convex.Class(0.5, 0)), Class{0.75, 0.25}, 1},
		"convex, large":   {must(Convex.Class(4, 0)), Class{-1, 2}, 3},
		"strongly convex": {must(StronglyConvex.Class(0.5, 0.25)), Class{0.625, 0.125}, 0.75},
		"clipped convex":  {must(ClippedConvex.Class(1, 0)), Class{0.625, 3 * math.Sqrt(3) / 8}, 0.625 + 3*math.Sqrt(3)/8},
		"lipschitz":       {must(Lipschitz.Class(2, 0)), Class{0, 2}, 2},
	} {
		if tc.got != tc.want || tc.got.Lipschitz() != tc.l {
			t.Errorf("%s: %v with L = %v, want %v with %v", name, tc.got, tc.got.Lipschitz(), tc.want, tc.l)
		}
	}
}

func TestFactorsThatAreNoneAreRejected(t *testing.T) {
	factors := map[string]func(x float64) (Class, error){
		"more than β": func(x float64) (Class, error) { return StronglyConvex.Class(1, 1-x) },
		"no second":   func(float64) (Class, error) { return Convex.Class(1, 0.5) },
		"no kind":     func(float64) (Class, error) { return Kind("flat").Class(1, 0) },
	}
	for _, k := range Kinds() {
		factors[string(k)] = func(x float64) (Class, error) { return k.Class(x, 0) }
	}
	for name, f := range factors {
		for _, x := range []float64{-1, math.NaN(), math.Inf(1)} {
			var bad *fault.Argument
			if _, err := f(x); !errors.As(err, &bad) {
				t.Errorf("%s of %v: %v", name, x, err)
			}
		}
	}
}

// A class of whole steps stands for gradients under rates and decay: the rule makes steps of the class again.
func TestAtRateMakesTheStepOfTheClass(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 10))
		c, rate, keep := randomClass(r), 0.1+r.Float64(), 1-0.2*r.Float64()
		g := c.AtRate(rate, keep)
		rho, kappa := keep+rate*(g.Rho-1), rate*g.Kappa
		if math.Abs(rho-c.Rho) > 1e-12 || math.Abs(kappa-c.Kappa) > 1e-12 {
			rt.Fatalf("steps are in (%v, %v), not %v", rho, kappa, c)
		}
	})
}

// Jacobians of clipped convex gradients, S·H with 0 ⪯ S ⪯ 1 and 0 ⪯ H ⪯ β, are in the ball of the class, which they
// touch, and a step of rate 1 expands by up to the L of the example: 1.151 for one direction.
func TestClippedConvexHoldsJacobians(t *testing.T) {
	c, err := ClippedConvex.Class(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	largest, expansion := 0.0, 0.0
	for i := range 200 {
		for _, s := range []float64{0, 0.25, 0.5, 0.75, 1} {
			sin, cos := math.Sincos(math.Pi * float64(i) / 200)
			// H projects on (1, 0); S keeps one direction and shrinks the other one by s
			clip := mat.NewDense(2, 2, []float64{cos*cos + s*sin*sin, (1 - s) * cos * sin, (1 - s) * cos * sin,
				sin*sin + s*cos*cos})
			step := mat.NewDense(2, 2, []float64{1 - clip.At(0, 0), 0, -clip.At(1, 0), 1})
			expansion = math.Max(expansion, mat.Norm(spectral(step), 2))
			step.Sub(step, mat.NewDense(2, 2, []float64{c.Rho, 0, 0, c.Rho}))
			largest = math.Max(largest, mat.Norm(spectral(step), 2))
		}
	}
	if largest > c.Kappa*(1+1e-12) || largest < 0.99*c.Kappa {
		t.Errorf("Jacobians are up to %v from the centre, the radius is %v", largest, c.Kappa)
	}
	if expansion < 1.1 || expansion > c.Lipschitz() {
		t.Errorf("steps expand by up to %v, L is %v", expansion, c.Lipschitz())
	}
}

// spectral returns a vector whose length is the spectral norm of a.
func spectral(a *mat.Dense) *mat.VecDense {
	var svd mat.SVD
	svd.Factorize(a, mat.SVDNone)
	return mat.NewVecDense(1, svd.Values(nil)[:1])
}

func TestSystemsThatDoNotFitAreRejected(t *testing.T) {
	w := uniform(3, [2]int{0, 1}, [2]int{1, 2})
	good := systemOf(t, w, []int{2}, 2, View{})
	bad := func(change func(s *System)) *System {
		s := &System{Nodes: good.Nodes, Steps: append([]Step(nil), good.Steps...)}
		change(s)
		return s
	}
	for name, s := range map[string]*System{
		"no steps":      bad(func(s *System) { s.Steps = nil }),
		"no nodes":      bad(func(s *System) { s.Nodes = 0 }),
		"another order": bad(func(s *System) { s.Steps[1].Mix = uniform(3) }),
		"seen of more":  bad(func(s *System) { s.Steps[0].Seen = mat.NewDense(1, 3, nil) }),
		"no number":     bad(func(s *System) { s.Steps[0].Mix = mat.NewDense(2, 2, []float64{math.NaN(), 0, 0, 0}) }),
		"no noise":      bad(func(s *System) { s.Steps[0].Rule = Rule{{1, 1, 0}} }),
		"short rule":    bad(func(s *System) { s.Steps[0].Rule = Rule{{1, 1}} }),
		"rules differ":  bad(func(s *System) { s.Steps[0].Rule = momentumRule(0.9, 1, 1) }),
	} {
		var argument *fault.Argument
		if _, err := boundAttacked(s, Victim{Node: 0, Schema: listed(s, [][]int{{0}})}, Everywhere(NoReaction())); !errors.As(err, &argument) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, v := range map[string]Victim{
		"no node": {Node: 2, Schema: listed(good, [][]int{{0}})}, "no schema": {},
		"another length": {Schema: listed(pathTo(t, 3, 1, View{}), [][]int{{0}})},
	} {
		var argument *fault.Argument
		if _, err := boundAttacked(good, v, Everywhere(NoReaction())); !errors.As(err, &argument) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var argument *fault.Argument
	if _, err := boundAttacked(good, Victim{Schema: listed(good, [][]int{{0}})}, Everywhere(Class{1, -1})); !errors.As(err, &argument) {
		t.Errorf("a negative radius: %v", err)
	}
}

// What is seen twice, or as a sum of what is seen, is seen once.
func TestDependentRowsAreRecognized(t *testing.T) {
	s := pathTo(t, 4, 3, View{})
	twice := systemOf(t, uniform(4, [2]int{0, 1}, [2]int{1, 2}, [2]int{2, 3}), []int{3}, 3, View{})
	row := twice.Steps[0].Seen.RawRowView(0)
	doubled := mat.NewDense(3, 3, nil)
	doubled.SetRow(0, row)
	doubled.SetRow(1, []float64{0, 0, 0})
	doubled.SetRow(2, scaled(append([]float64(nil), row...), 0.3))
	for t := range twice.Steps {
		twice.Steps[t].Seen = doubled
	}
	victim := Victim{Node: 0, Schema: listed(s, [][]int{{0}})}
	a, b := mustBound(t, s, victim, Class{1, 0.1}), mustBound(t, twice, victim, Class{1, 0.1})
	if math.Abs(a.SensSquared-b.SensSquared) > 1e-12 || a.LocalDP != b.LocalDP {
		t.Errorf("%v and %v", a, b)
	}
	// nearly the same row: it is unclear, and local DP holds
	doubled.SetRow(2, []float64{row[0] + 1e-11, row[1], row[2]})
	if c := mustBound(t, twice, victim, Class{1, 0.1}); c.SensSquared != c.LocalDP || c.Why == "" {
		t.Errorf("%+v", c)
	}
}
