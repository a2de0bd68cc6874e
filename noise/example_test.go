package noise_test

import (
	"errors"
	"fmt"
	"io"

	"mafalda/noise"
)

// A node draws the noise of every step once; its place is on disk before a row is handed out. "out" is an export made
// with --mu, or
// --epsilon and --delta.
func ExampleOpenDurable() {
	at := noise.State{Path: "medici.state", New: true} // later starts of this node are without New
	stream, err := noise.OpenDurable("out", "Medici", 1000, at, noise.Options{})
	if err != nil {
		fmt.Println("no export here")
		return
	}
	defer stream.Close()
	row := make([]float64, stream.Dim())
	for {
		step := stream.Step() // the row is for this step's message, with the batch step mod b in it, and for no other
		err := stream.Next(row)
		if errors.Is(err, io.EOF) {
			return // T steps are done
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(step) // add row to the sum of clipped gradients, send the message
	}
	// Output: no export here
}
