package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// Work of which nobody knows how much is left says every second what it is, and takes that away when it has ended.
func TestBusy(t *testing.T) {
	var out bytes.Buffer
	p := &Progress{out: &out, since: time.Now().Add(-3 * time.Second)}
	p.Busy("first")
	p.Busy("second")
	time.Sleep(1300 * time.Millisecond)
	p.Clear()
	if text := out.String(); !strings.Contains(text, "\rsecond … 4 s") || strings.Contains(text, "first") ||
		!strings.HasSuffix(text, "\r            \r") {
		t.Errorf("%q", text)
	}
	n := out.Len()
	p.Busy("third")
	p.Clear() // before the second
	if out.Len() != n {
		t.Errorf("%q", out.String())
	}
	var none *Progress
	none.Busy("nothing")
}

// How long the rest takes follows from what has been counted, from the first count on; what was done before does not
// count, and neither does time before the work was counted.
func TestTimeLeft(t *testing.T) {
	var out bytes.Buffer
	p := &Progress{out: &out, since: time.Now().Add(-time.Minute)}
	p.Show(0.5, "rows")
	if text := out.String(); !strings.Contains(text, "rows") || strings.Contains(text, "left") {
		t.Errorf("once: %q", text)
	}
	out.Reset()
	p.Clear()
	p.counted, p.from = time.Now().Add(-9500*time.Millisecond), 0.5
	p.Show(0.75, "rows")
	if text := out.String(); !strings.Contains(text, "rows, about 10s left") {
		t.Errorf("%q", text)
	}
	p.ShowAs("more")(7, 10)
	if p.from != 0.7 || time.Since(p.counted) > time.Second {
		t.Errorf("counted from %v, %v", p.from, p.counted)
	}
	p.counted, p.from = time.Now().Add(-9500*time.Millisecond), 0.5
	for fraction, want := range map[float64]string{0.5: "", 0.4: "", 1: "", 0.51: "", 0.55: ", about 1m26s left"} {
		if got := p.left(fraction); got != want {
			t.Errorf("at %v: %q, want %q", fraction, got, want)
		}
	}
	if p.Clear(); !p.counted.IsZero() {
		t.Error("the next phase counts what this one has done")
	}
}

func TestCut(t *testing.T) {
	for text, want := range map[string]string{"a label": "a label", "a label of µ": "a label…", "ab": "ab"} {
		if got := cut(text, 8); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
