package strategy_test

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/strategy"
)

// TestContract runs every class, the baselines and the closed forms through everything that is promised of a Strategy.
func TestContract(t *testing.T) {
	for name, draw := range draws() {
		for promise, check := range map[string]func(t *rapid.T, c strategy.Strategy){
			"matrices": checkMatrices, "shapes": checkShapes, "Scaled": checkScaled, "cost": checkCost,
			"filter": checkFilter, "state space": checkStateSpace, "parameters": checkParameters,
			"series": checkSeries, "Gram matrix": checkGram, "immutable": checkImmutable,
		} {
			t.Run(name+"/"+promise, rapid.MakeCheck(func(t *rapid.T) {
				check(t, draw(t, rapid.IntRange(1, 9).Draw(t, "T")))
			}))
		}
	}
}

// Whoever adds a class to the registry must draw it here.
func TestContractKnowsEveryClass(t *testing.T) {
	known := map[string]bool{}
	rapid.Check(t, func(t *rapid.T) {
		for _, draw := range draws() {
			known[draw(t, 4).Name()] = true
		}
	})
	classes := strategy.Classes()
	for _, name := range classes {
		if !known[name] {
			t.Errorf("no strategy of class %s is drawn", name)
		}
	}
	if slices.Sort(classes); len(slices.Compact(classes)) != len(strategy.Classes()) {
		t.Errorf("names of classes are not unique: %v", strategy.Classes())
	}
}

// unwritten is full of NaN, so that what is left unwritten shows.
func unwritten(steps int) *mat.TriDense {
	m := mat.NewTriDense(steps, mat.Lower, nil)
	for i := range steps {
		for j := range i + 1 {
			m.SetTri(i, j, math.NaN())
		}
	}
	return m
}

// C is lower triangular with a positive diagonal, and C⁻¹ its inverse; both are written completely.
func checkMatrices(t *rapid.T, c strategy.Strategy) {
	steps := c.Steps()
	lower, noising := unwritten(steps), unwritten(steps)
	c.StrategyTo(lower)
	if err := c.NoisingTo(noising); err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(lower, lowerOf(c)) || !mat.Equal(noising, inverseOf(t, c)) {
		t.Fatal("what is written depends on what was there")
	}
	for i := range steps {
		if !(lower.At(i, i) > 0) {
			t.Fatalf("diagonal entry %d is %v", i, lower.At(i, i))
		}
	}
	var product mat.Dense
	product.Mul(lower, noising)
	for i := range steps {
		product.Set(i, i, product.At(i, i)-1)
	}
	if norm := mat.Norm(&product, 2); !(norm <= 1e-13*mat.Norm(lower, 2)*mat.Norm(noising, 2)) {
		t.Fatalf("C·C⁻¹ - I has the norm %v", norm)
	}
}

// Destinations of another shape are refused.
func checkShapes(t *rapid.T, c strategy.Strategy) {
	larger, upper := mat.NewTriDense(c.Steps()+1, mat.Lower, nil), mat.NewTriDense(c.Steps(), mat.Upper, nil)
	for _, wrong := range []*mat.TriDense{larger, upper} {
		for _, write := range []func(){func() { c.StrategyTo(wrong) }, func() { _ = c.NoisingTo(wrong) }} {
			func() {
				defer func() {
					if recover() != mat.ErrShape {
						t.Fatalf("a destination of shape %v was accepted", wrong.RawTriangular())
					}
				}()
				write()
			}()
		}
	}
}

// Scaled is a multiple, of the same class but for baselines, and as cheap.
func checkScaled(t *rapid.T, c strategy.Strategy) {
	by := rapid.Float64Range(0.1, 10).Draw(t, "by")
	scaled := c.Scaled(by)
	var want mat.TriDense
	want.ScaleTri(by, lowerOf(c))
	if got := lowerOf(scaled); !mat.EqualApprox(got, &want, 1e-13*mat.Norm(&want, math.Inf(1))) {
		t.Fatalf("%v times the strategy is %v", by, mat.Formatted(got))
	}
	same := scaled.Name() == c.Name() && scaled.NodeCost() == c.NodeCost()
	if slices.Contains(strategy.Classes(), c.Name()) && !same {
		t.Fatalf("scaled it is a %s of cost %v, not %v", scaled.Name(), scaled.NodeCost(), c.NodeCost())
	}
}

// Parameters make the same C again, also after a journey through JSON; there are at most T of each. A strategy that
// has none says so.
func checkParameters(t *rapid.T, c strategy.Strategy) {
	p := c.Parameters()
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var read strategy.Parameters
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	again, err := read.Build(c.Steps())
	if err != nil {
		t.Fatal(err)
	}
	if again == nil {
		if c.Name() != "dense" || p.Class != "dense" {
			t.Fatalf("a %s is not made of its parameters", c.Name())
		}
		again = must(strategy.NewDense(lowerOf(c)))
	}
	if !mat.Equal(lowerOf(again), lowerOf(c)) {
		t.Fatalf("%s make another C", text)
	}
	classes := strategy.Classes()
	if !slices.Contains(classes, p.Class) || slices.Contains(classes, c.Name()) && c.Name() != p.Class {
		t.Fatalf("a %s calls itself %s", c.Name(), p.Class)
	}
	if second, err := json.Marshal(again.Parameters()); err != nil || string(second) != string(text) {
		t.Fatalf("made again, the parameters are %s, not %s (%v)", second, text, err)
	}
	for _, count := range p.Counts() {
		if most := max(c.Steps(), c.NodeCost().Floats); count.Number < 0 || count.Number > most {
			t.Fatalf("%d of %s for %d steps", count.Number, count.Key, c.Steps())
		}
	}
	if other, err := read.Build(c.Steps() + 1); err == nil && other != nil && other.Steps() != c.Steps()+1 {
		t.Fatalf("a strategy of %d steps for %d", other.Steps(), c.Steps()+1)
	}
}

// A strategy that has series is the Toeplitz matrix of them.
func checkSeries(t *rapid.T, c strategy.Strategy) {
	toeplitz, is := c.(*strategy.Toeplitz)
	if !is {
		return
	}
	series := toeplitz.Series()
	inverse, e, ok := strategy.ResponseOf(c)
	if ok != (c.Parameters().Columns == nil || e != nil) {
		t.Fatal("a Toeplitz strategy without a response")
	}
	if c.Parameters().Columns != nil {
		return
	}
	if len(series) > c.Steps() || len(inverse) != c.Steps() {
		t.Fatalf("%d and %d coefficients for %d steps", len(series), len(inverse), c.Steps())
	}
	lower, noising := lowerOf(c), inverseOf(t, c)
	for i := range c.Steps() {
		for j := range i + 1 {
			want := 0.0
			if i-j < len(series) {
				want = series[i-j]
			}
			if lower.At(i, j) != want || math.Abs(noising.At(i, j)-inverse[i-j]) > 1e-11*(1+math.Abs(inverse[i-j])) {
				t.Fatalf("entry (%d,%d) is %v, %v of C⁻¹; by the series %v, %v", i, j, lower.At(i, j),
					noising.At(i, j), want, inverse[i-j])
			}
		}
	}
}

// X is CᵀC, and C its factor, which is unique.
func checkGram(t *rapid.T, c strategy.Strategy) {
	lower := lowerOf(c)
	var want mat.Dense
	want.Mul(lower.T(), lower)
	x := strategy.GramOf(c)
	if !mat.EqualApprox(x, &want, 1e-13*mat.Norm(&want, 1)) {
		t.Fatalf("CᵀC is %v", mat.Formatted(x))
	}
	factor, err := strategy.FromGram(x)
	if err != nil {
		t.Fatal(err)
	}
	condition := mat.Norm(lower, 2) * mat.Norm(inverseOf(t, c), 2)
	if !mat.EqualApprox(lowerOf(factor), lower, 1e-14*condition*condition*mat.Norm(lower, 2)) {
		t.Fatal("C is not the factor of CᵀC")
	}
}

// Whatever is done with what a strategy hands out, it stays what it is.
func checkImmutable(t *rapid.T, c strategy.Strategy) {
	lower, inverse := mat.DenseCopyOf(lowerOf(c)), mat.DenseCopyOf(inverseOf(t, c))
	parameters, err := json.Marshal(c.Parameters())
	if err != nil {
		t.Fatal(err)
	}
	p := c.Parameters()
	if made, err := p.Build(c.Steps()); err != nil {
		t.Fatal(err)
	} else if made != nil {
		defer func(want *mat.Dense) {
			if !mat.Equal(lowerOf(made), want) {
				t.Fatal("a strategy holds on to the parameters that it was made of")
			}
		}(lower)
	}
	for _, d := range p.Diagonals {
		spoil(d)
	}
	for _, list := range [][]float64{p.Coefficients, p.Columns} {
		spoil(list)
	}
	for i := range p.Sections {
		p.Sections[i] = [4]float64{9, 9, 9, 9}
	}
	if toeplitz, is := c.(*strategy.Toeplitz); is {
		spoil(toeplitz.Series())
	}
	series, _, _ := strategy.ResponseOf(c)
	spoil(series)
	spoil(lowerOf(c).RawTriangular().Data)
	spoil(inverseOf(t, c).RawTriangular().Data)
	spoil(strategy.GramOf(c).RawSymmetric().Data)
	_, kept := run(t, c, normal(random(t), c.Steps(), 2))
	for _, row := range kept {
		spoil(row)
	}
	spoil(lowerOf(c.Scaled(2)).RawTriangular().Data)
	after, err := json.Marshal(c.Parameters())
	same := mat.Equal(lowerOf(c), lower) && mat.Equal(inverseOf(t, c), inverse)
	if err != nil || !same || string(after) != string(parameters) {
		t.Fatalf("the strategy has changed: %s, before %s (%v)", after, parameters, err)
	}
}
