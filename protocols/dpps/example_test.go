package dpps_test

import (
	"context"
	"fmt"

	"mafalda/protocols/dpps"
)

// Constants for which the sensitivity estimate of DPPS is sound.
func ExampleSequence_Calibrate() {
	s, err := dpps.Exponential(8)
	if err != nil {
		panic(err)
	}
	c, err := s.Calibrate(context.Background(), 0, nil)
	if err != nil {
		panic(err)
	}
	needed, _, err := s.SoundConstant(context.Background(), dpps.PaperConstants().Lambda, 0, nil)
	if err != nil {
		panic(err)
	}
	fmt.Printf("C' = %.2f, lambda = %.2f; with the paper's lambda = %.2f, C' must be %.2f or more\n", c.C, c.Lambda,
		dpps.PaperConstants().Lambda, needed)
	// Output: C' = 2.88, lambda = 0.67; with the paper's lambda = 0.55, C' must be 3.56 or more
}
