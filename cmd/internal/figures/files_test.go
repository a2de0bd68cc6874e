package figures

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"gonum.org/v1/plot"
)

// A figure that could not be made or drawn is an error of its file, in one line: files of results before it are written.
func TestFiguresThatFailAreErrorsOfTheirFiles(t *testing.T) {
	broken := errors.New("broken")
	files := Files("loss", nil, broken)
	if len(files) != 1 || files[0].Name != "loss.png" {
		t.Fatalf("%+v", files)
	}
	if err := files[0].Write(io.Discard); !errors.Is(err, broken) || !strings.Contains(err.Error(), "drawing loss") {
		t.Error(err)
	}
	if files := Files("loss", nil, nil); len(files) != 0 {
		t.Errorf("%+v of nothing to show", files)
	}
	p := plot.New()
	p.X.Scale = plot.LogScale{} // over values that it does not have: gonum/plot panics
	p.X.Min, p.X.Max = -1, 1
	f := single(panel{Plot: p}, 100, 100)
	for _, file := range Files("loss", f, nil) {
		var out bytes.Buffer
		err := file.Write(&out)
		if err == nil || !strings.Contains(err.Error(), "drawing loss.") || strings.Contains(err.Error(), "\n") ||
			out.Len() > 0 {
			t.Errorf("%s: %v, %d bytes", file.Name, err, out.Len())
		}
	}
}
