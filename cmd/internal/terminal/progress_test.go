package terminal

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// Work without a known end says every second what it is, and takes that away when it has ended.
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

// What a bar shows is what it was told last: the part that is done, and how long the rest takes.
func TestBarIsUpToDate(t *testing.T) {
	var out bytes.Buffer
	p := &Progress{out: &out, since: time.Now().Add(-time.Minute), counted: time.Now().Add(-9500 * time.Millisecond)}
	for _, step := range []struct {
		fraction float64
		want     string
	}{{0.5, "about 10s left  50%"}, {0.75, "about 4s left  75%"}, {0.95, "about 1s left  95%"}} {
		out.Reset()
		p.drawn = time.Time{}
		p.Show(step.fraction, "rows")
		pictures := strings.Split(strings.TrimRight(out.String(), "\r "), "\r")
		if last := pictures[len(pictures)-1]; !strings.Contains(last, step.want) {
			t.Errorf("at %v: %q, want %q", step.fraction, last, step.want)
		}
	}
	out.Reset()
	p.drawn = time.Now().Add(time.Minute)
	if p.Show(0.96, "rows"); out.Len() > 0 {
		t.Errorf("drawn again at once: %q", out.String())
	}
}

// Where there is no terminal, long work writes a line every half minute, and short or quiet work none.
func TestProgressInALog(t *testing.T) {
	var out bytes.Buffer
	p := NewProgress(&out, false)
	if p.Show(0.5, "rows"); out.Len() > 0 {
		t.Errorf("at once: %q", out.String())
	}
	p.since, p.counted, p.from = time.Now().Add(-time.Minute), time.Now().Add(-9500*time.Millisecond), 0
	p.Show(0.5, "rows")
	p.Clear()
	p.Show(0.6, "rows") // too soon, also in another phase
	if text := out.String(); text != "computing: rows, 50 %, about 10s left\n" {
		t.Errorf("%q", text)
	}
	out.Reset()
	p.drawn = time.Now().Add(-linePause)
	if p.Show(0.999, "rows"); out.String() != "computing: rows, 99 %\n" {
		t.Errorf("%q", out.String())
	}
	out.Reset()
	p = NewProgress(&out, true)
	p.since = time.Now().Add(-time.Minute)
	if p.Show(0.5, "rows"); out.Len() > 0 {
		t.Errorf("quiet: %q", out.String())
	}
}

func TestCut(t *testing.T) {
	for text, want := range map[string]string{"a label": "a label", "a label of µ": "a label…", "ab": "ab", "東京都庁": "東京都庁", "東京都庁舎": "東京都…"} {
		if got := cut(text, 8); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
