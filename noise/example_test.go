package noise_test

import (
	"errors"
	"fmt"
	"io"

	"mafalda/noise"
)

// A node draws the noise of every step once; its place is on disk before a row is handed out. "out" is an export made with --mu, or
// --epsilon and --delta.
func ExampleOpenDurable() {
	stream, err := noise.OpenDurable("out", "Medici", 1000, "medici.state", noise.Options{})
	if err != nil {
		fmt.Println("no export here")
		return
	}
	defer stream.Close()
	row := make([]float64, stream.Dim())
	for {
		err := stream.Next(row)
		if errors.Is(err, io.EOF) {
			return // T steps are done
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		// add row to the sum of clipped gradients, send the message
	}
	// Output: no export here
}
