package strategy_test

import (
	"encoding/json"
	"fmt"

	"mafalda/strategy"
)

// A node streams its noise: one row a step, from fresh independent noise and the rows that the filter keeps.
func ExampleFilter() {
	c := strategy.AntiPGD(4) // ξ_t = z_t - z_(t-1)
	filter, err := c.Filter()
	if err != nil {
		panic(err)
	}
	kept, row := make([][]float64, filter.Memory()), make([]float64, 2)
	for t, z := range [][]float64{{1, 2}, {4, 0}, {4, 1}, {5, 7}} {
		filter.StepTo(row, z, kept, t)
		fmt.Println(row)
	}
	fmt.Println("rows kept:", c.NodeCost().Floats)
	// Output:
	// [1 2]
	// [3 -2]
	// [0 1]
	// [1 6]
	// rows kept: 1
}

// Parameters are what travels: a node makes the strategy again from a few numbers.
func ExampleParameters_Build() {
	c, err := strategy.SquareRoot(100, 3)
	if err != nil {
		panic(err)
	}
	text, err := json.Marshal(c.Parameters())
	if err != nil {
		panic(err)
	}
	fmt.Println(string(text))
	var p strategy.Parameters
	if err := json.Unmarshal(text, &p); err != nil {
		panic(err)
	}
	again, err := p.Build(100)
	fmt.Println(again.Name(), again.Steps(), again.NodeCost(), err)
	// Output:
	// {"class":"toeplitz","bandwidth":3,"coefficients":[1,0.5,0.375]}
	// toeplitz 100 {2 6} <nil>
}

// The factor of CᵀC is C itself, which Cholesky's M, with M Mᵀ = CᵀC, is not.
func ExampleFromGram() {
	root, err := strategy.SquareRoot(3, 2)
	if err != nil {
		panic(err)
	}
	c, err := strategy.FromGram(strategy.GramOf(root))
	if err != nil {
		panic(err)
	}
	x := strategy.GramOf(c)
	fmt.Printf("%.2f %.2f %.2f\n", x.At(0, 0), x.At(0, 1), x.At(2, 2))
	// Output: 1.25 0.50 1.00
}
