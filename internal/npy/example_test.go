package npy_test

import (
	"bytes"
	"fmt"

	"mafalda/internal/npy"
)

func ExampleRead() {
	var buf bytes.Buffer
	if err := npy.Write(&buf, []int{2, 3}, []float64{1, 2, 3, 4, 5, 6}); err != nil {
		panic(err)
	}
	a, err := npy.Read(&buf, 48)
	fmt.Println(a.Shape, a.Data, err)
	// Output: [2 3] [1 2 3 4 5 6] <nil>
}
