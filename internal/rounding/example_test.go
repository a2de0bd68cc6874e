package rounding_test

import (
	"fmt"

	"mafalda/internal/rounding"
)

func ExampleUp() {
	epsilon := 4.886554117462457
	fmt.Println(epsilon, rounding.Up(epsilon, 6), rounding.Down(epsilon, 6), rounding.Up(0.1, 6))
	// Output: 4.886554117462457 4.88656 4.88655 0.1
}
