package figures

import (
	"bytes"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// The same picture is the same file every time: matrices of one size have kept their order in it by chance.
func TestPDFIsTheSameEveryTime(t *testing.T) {
	f := Heatmaps("two", Matrix{"one", mat.NewDense(1, 1, []float64{1})}, Matrix{"other", mat.NewDense(1, 1, []float64{-1})})
	var first bytes.Buffer
	if err := f.WriteAs(&first, "f.pdf", Style{}); err != nil {
		t.Fatal(err)
	}
	for range 6 {
		var again bytes.Buffer
		if err := f.WriteAs(&again, "f.pdf", Style{}); err != nil || !bytes.Equal(again.Bytes(), first.Bytes()) {
			t.Fatalf("another file, %v", err)
		}
	}
}
