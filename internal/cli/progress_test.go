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
