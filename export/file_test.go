package export

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// What no node could use is not written.
func TestNothingInfiniteIsWritten(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(-1)} {
		m := mat.NewDense(2, 2, []float64{1, 0, bad, 1})
		for _, f := range []File{NPY("C.npy", m), CSV("C.csv", m)} {
			var buf bytes.Buffer
			if err := f.Write(&buf); err == nil || !strings.Contains(err.Error(), "entry (1,0)") || buf.Len() > 0 {
				t.Errorf("%s with %v: error %v", f.Name, bad, err)
			}
		}
	}
}

func TestBytes(t *testing.T) {
	var buf bytes.Buffer
	if err := Bytes("a", []byte("abc")).Write(&buf); err != nil || buf.String() != "abc" {
		t.Errorf("%q, %v", buf.String(), err)
	}
}

func TestFilesPassErrorsOn(t *testing.T) {
	_, w := io.Pipe()
	full := errors.New("no space left on device")
	w.CloseWithError(full)
	for _, f := range []File{NPY("C.npy", matrixC), CSV("C.csv", matrixC), Bytes("a", []byte("abc"))} {
		if err := f.Write(w); err == nil {
			t.Errorf("%s: no error", f.Name)
		}
	}
}
