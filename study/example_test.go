package study_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"mafalda/study"
)

// The second run has nothing to compute.
func ExampleRun() {
	dir, err := os.MkdirTemp("", "study")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	spec := study.Of("squares")
	spec.Inputs.Add("unit", "metre")
	for range 2 {
		s, err := study.Open[int, int](dir, spec)
		if err != nil {
			log.Fatal(err)
		}
		square := func(_ context.Context, side int) (int, error) { fmt.Println("computes", side); return side * side, nil }
		if err := study.Run(context.Background(), s, []int{2, 3}, square, study.Options{}); err != nil {
			log.Fatal(err)
		}
		area, there, err := s.Get(3)
		fmt.Println(area, there, err)
	}
	// Output:
	// computes 2
	// computes 3
	// 9 true <nil>
	// 9 true <nil>
}
