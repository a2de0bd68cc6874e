package simulated_test

import (
	"fmt"

	"mafalda/simulated"
)

func ExampleNoise() {
	fmt.Println(simulated.Noise().Text)
	// Output: simulated, not private
}
