package accounting_test

import (
	"fmt"
	"math"

	"mafalda/accounting"
)

func ExampleAdjacency() {
	a, err := accounting.ParseAdjacency("replace-one")
	fmt.Println(a, a.Contribution(0.5), err)
	// Output: replace-one 1 <nil>
}

func ExampleCalibrate() {
	p, err := accounting.Calibrate(accounting.Target{Epsilon: 8, Delta: 1e-6}, 1, 0.5, accounting.ReplaceOne)
	fmt.Printf("mu %.4f, noise %.4f %v\n", p.Mu, p.NoiseStd, err)
	// Output: mu 1.5315, noise 0.6529 <nil>
}

func ExampleCompose() {
	mu, err := accounting.Compose(0.3, 0.4)
	fmt.Printf("%.4f %v\n", mu, err)
	// Output: 0.5000 <nil>
}

func ExampleEpsilonByRDP() {
	epsilon, alpha, err := accounting.EpsilonByRDP(math.Sqrt(0.5*0.5+1), 1e-6) // 0.5-GDP, then 1-GDP
	fmt.Printf("%.3f by order %.2f %v\n", epsilon, alpha, err)
	// Output: 5.927 by order 5.41 <nil>
}

func ExampleDelta() {
	delta, err := accounting.Delta(1, 4) // of 1-GDP at ε = 4
	fmt.Printf("%.3g %v\n", delta, err)
	// Output: 4.71e-05 <nil>
}

func ExampleEpsilon() {
	epsilon, err := accounting.Epsilon(1, 1e-6) // 1-GDP
	fmt.Printf("%.6f %v\n", epsilon, err)
	// Output: 4.886554 <nil>
}

func ExampleMuFromDP() {
	mu, err := accounting.MuFromDP(1, 1e-5)
	fmt.Printf("%.6f %v\n", mu, err)
	// Output: 0.268051 <nil>
}

func ExampleEpsilonFromRDP() {
	epsilon, err := accounting.EpsilonFromRDP(8, 0.5, 1e-5)
	fmt.Printf("%.4f %v\n", epsilon, err)
	// Output: 1.7141 <nil>
}
