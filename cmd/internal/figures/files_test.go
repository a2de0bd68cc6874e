package figures

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

// A figure that could not be made or drawn is an error of its file, in one line: files of results before it are written.
func TestFiguresThatFailAreErrorsOfTheirFiles(t *testing.T) {
	broken := errors.New("broken")
	files := Files("loss", nil, broken, Style{})
	if len(files) != 1 || files[0].Name != "loss.png" {
		t.Fatalf("%+v", files)
	}
	if err := files[0].Write(io.Discard); !errors.Is(err, broken) || !strings.Contains(err.Error(), "drawing loss") {
		t.Error(err)
	}
	if files := Files("loss", nil, nil, Style{}); len(files) != 0 {
		t.Errorf("%+v of nothing to show", files)
	}
	f := &Figure{panels: []*panel{{shown: &shown{Axes: Axes{MaxY: math.NaN()}}, bare: true, paint: func(*page, frame) {}}}} // no JSON
	for _, file := range Files("loss", f, nil, Style{}) {
		var out bytes.Buffer
		err := file.Write(&out)
		if err == nil || !strings.Contains(err.Error(), "drawing loss.") || strings.Contains(err.Error(), "\n") ||
			out.Len() > 0 {
			t.Errorf("%s: %v, %d bytes", file.Name, err, out.Len())
		}
	}
}
