package limits

import (
	"errors"
	"math"
	"runtime/debug"
	"strings"
	"testing"
)

func TestFits(t *testing.T) {
	if have, from := Memory(); have <= 0 || from == "" {
		t.Errorf("%d bytes by %q", have, from)
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1e6))
	if have, from := Memory(); have != 1e6 || from != "GOMEMLIMIT allows" {
		t.Errorf("%d bytes by %q", have, from)
	}
	if err := Fits("little", 1e5); err != nil {
		t.Error(err)
	}
	for _, need := range []float64{1e6, 1e300, math.Inf(1), math.NaN()} {
		if err := Fits("much", need); !errors.Is(err, ErrMemory) || !strings.HasPrefix(err.Error(),
			"much needs about ") ||
			!strings.HasSuffix(err.Error(), "of memory, GOMEMLIMIT allows 1 MB") {
			t.Errorf("%v bytes: %v", need, err)
		}
	}
}

func TestText(t *testing.T) {
	for bytes, want := range map[float64]string{0: "0 B", 999: "999 B", 2.5e10: "25 GB", 4e30: "4e+12 EB"} {
		if got := Text(bytes); got != want {
			t.Errorf("%v: %q, want %q", bytes, got, want)
		}
	}
}

// A percent for the garbage collector lasts until it is restored, and leaves GOGC's percent, or GOGC=off, alone.
func TestCollectLeavesGOGCAlone(t *testing.T) {
	now := func() int {
		percent := debug.SetGCPercent(100)
		debug.SetGCPercent(percent)
		return percent
	}
	defer debug.SetGCPercent(debug.SetGCPercent(300))
	t.Setenv("GOGC", "")
	restore := Collect(25)
	if now() != 25 {
		t.Errorf("without GOGC it is %d", now())
	}
	if restore(); now() != 300 {
		t.Errorf("restored, it is %d", now())
	}
	for _, own := range []string{"300", "off"} {
		t.Setenv("GOGC", own)
		if restore := Collect(25); now() != 300 {
			t.Errorf("with GOGC=%s it is %d", own, now())
		} else if restore(); now() != 300 {
			t.Errorf("restored, with GOGC=%s it is %d", own, now())
		}
	}
}
