package flags

import (
	"errors"
	"fmt"
	"testing"

	"mafalda/internal/fault"
)

// A bad argument is named as the flag that fills it, if the command has one, and is an error of usage.
func TestHintedArguments(t *testing.T) {
	var f struct{ noiseScale float64 }
	cmd := newCommand("x\n\nFlags:\n--noise-scale  noiseScale=1\n", &f, nil)
	wrapped := fmt.Errorf("auditing: %w", fault.New("NoiseScale", 0.5, "must be %d", 1))
	for err, want := range map[error]string{
		wrapped:                         "auditing: --noise-scale 0.5: must be 1",
		fault.New("Shape", 2, "is odd"): "shape 2 is odd",
	} {
		if got := Hinted(cmd, err); got != want || !IsUsage(err) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if IsUsage(errors.New("other")) {
		t.Error("any error is one of usage")
	}
}
