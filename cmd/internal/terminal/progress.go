package terminal

import (
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/clipperhouse/displaywidth"
	"golang.org/x/term"
)

// Progress draws a bar with an ETA on a terminal, once the work has taken two seconds. Elsewhere it writes a line every half
// minute, so that a log shows that long work goes on.
type Progress struct {
	mu       sync.Mutex // work that was left behind may still report
	out      io.Writer  // nil: draw nothing
	since    time.Time
	furthest int
	drawn    time.Time // when the bar was last
	counted  time.Time // when the work was first counted
	from     float64   // what was done then
	At       string    // what ShowAt says is being done

	events *eventWriter // writer for a caller that reads progress; nil without one
	lines  io.Writer    // where lines are written, if w is no terminal
	stage  string       // the last one
	told   time.Time    // when the last line with a fraction was written

	waiting chan struct{} // closed when what Busy shows has to end; nil if it shows nothing
	width   int           // width of what it has written last
}

const (
	progressDelay = 2 * time.Second
	progressPause = 100 * time.Millisecond // between two pictures
	linePause     = 30 * time.Second       // between two lines, and before the first
	progressParts = 1000
)

// NewProgress draws on w if that is a terminal, and tells a caller that reads progress.
func NewProgress(w io.Writer, quiet bool) *Progress {
	p := &Progress{since: time.Now()}
	if events, ok := w.(*eventWriter); ok {
		p.events = events
		return p
	}
	f, ok := FileOf(w)
	switch {
	case quiet:
	case ok && term.IsTerminal(int(f.Fd())):
		p.out = f // not wrapped
	default:
		p.lines = w
	}
	return p
}

// Stage says in a line what is being done, where there is no terminal to draw on; what follows a colon is a step of a
// stage, which is said once.
func (p *Progress) Stage(what string) {
	what, _, _ = strings.Cut(what, ":")
	p.mu.Lock()
	defer p.mu.Unlock()
	if what == p.stage {
		return
	}
	p.stage = what
	if p.events != nil {
		p.events.tell(progressEvent{Doing: PlainLine(what)})
	}
	if p.lines != nil {
		fmt.Fprintf(p.lines, "computing: %s\n", PlainLine(what))
	}
}

// Busy says every second what is being done and since when, where it is unknown how much of it is left; without a
// terminal, every half minute. Show and Clear end that. There is nothing to say on nil.
func (p *Progress) Busy(what string) {
	if p == nil || p.out == nil && p.lines == nil {
		return
	}
	pause := time.Second
	if p.out == nil {
		pause = linePause
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rest()
	what = PlainLine(what)
	ended := make(chan struct{})
	p.waiting = ended
	go func() {
		tick := time.NewTicker(pause)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-tick.C:
				p.say(ended, what)
			}
		}
	}()
}

// say writes what is being done, unless that has ended.
func (p *Progress) say(ended chan struct{}, what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch took := time.Since(p.since); {
	case p.waiting != ended || took < progressDelay:
	case p.lines != nil:
		fmt.Fprintf(p.lines, "computing: %s … %d s\n", what, int(took.Seconds()))
	default:
		since := fmt.Sprintf(" … %d s", int(took.Seconds()))
		text := what + since
		if width := terminalWidth(p.out); width > 0 {
			text = cut(what, width-1-displaywidth.String(since)) + since
		}
		p.draw(text)
	}
}

// draw writes a line in the place of the last one.
func (p *Progress) draw(text string) {
	n := displaywidth.String(text)
	fmt.Fprint(p.out, "\r"+text+strings.Repeat(" ", max(p.width-n, 0)))
	p.width = n
}

// rest ends what Busy shows, and takes away what is drawn.
func (p *Progress) rest() {
	if p.waiting != nil {
		close(p.waiting)
	}
	if p.width > 0 {
		fmt.Fprint(p.out, "\r"+strings.Repeat(" ", p.width)+"\r")
	}
	p.waiting, p.width = nil, 0
}

// Show moves the bar to a fraction of the work; it never moves back. There is nothing to show on nil.
func (p *Progress) Show(fraction float64, description string) {
	if p == nil || p.out == nil && p.events == nil && p.lines == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.events != nil {
		p.tell(fraction, description)
		return
	}
	if p.counted.IsZero() {
		p.counted, p.from = time.Now(), fraction
	}
	if p.lines != nil {
		p.log(fraction, description)
		return
	}
	if time.Since(p.since) < progressDelay {
		return
	}
	if at := int(fraction * progressParts); at > p.furthest && at < progressParts {
		p.furthest = at
	}
	if time.Since(p.drawn) < progressPause {
		return
	}
	p.drawn = time.Now()
	if p.waiting != nil {
		p.rest()
	}
	const long, short, beside = 24, 10, 12 // of the bar, and what stands around it
	width, bar := terminalWidth(p.out), long
	if width > 0 && width < 80 {
		bar = short
	}
	description = PlainLine(description)
	left := p.left(fraction)
	if width > 0 {
		description = cut(description, width-bar-beside-displaywidth.String(left))
	}
	done := p.furthest * bar / progressParts
	p.draw(fmt.Sprintf("%s%s %3d%% |%s%s|", description, left, 100*p.furthest/progressParts, strings.Repeat("█", done), strings.Repeat(" ", bar-done)))
}

// tell reports a fraction of the work to a caller, unless it has just heard of another one.
func (p *Progress) tell(fraction float64, description string) {
	if now := time.Now(); now.Sub(p.drawn) >= progressPause {
		p.drawn = now
		p.events.tell(progressEvent{Doing: PlainLine(description), Fraction: &fraction})
	}
}

// log writes a line about a fraction of the work, unless it has written one in the last half minute.
func (p *Progress) log(fraction float64, description string) {
	if time.Since(p.since) < linePause || time.Since(p.told) < linePause {
		return
	}
	p.told = time.Now()
	fmt.Fprintf(p.lines, "computing: %s, %.0f %%%s\n", PlainLine(description), math.Floor(100*fraction), p.left(fraction))
}

// left says how long the rest takes, if it goes on as it has since the work was first counted; nothing while too little
// has been.
func (p *Progress) left(fraction float64) string {
	const enough = 0.02 // of the work
	took := time.Since(p.counted)
	if fraction-p.from < enough || fraction >= 1 || took < progressDelay {
		return ""
	}
	seconds := took.Seconds() * (1 - fraction) / (fraction - p.from)
	return ", about " + (time.Duration(math.Ceil(seconds)) * time.Second).String() + " left"
}

// cut shortens a text that is wider than that.
func cut(text string, length int) string {
	const least = 8
	return displaywidth.TruncateString(text, max(length, least), "…")
}

// ShowAt moves the bar to done of total, and says what p.At says.
func (p *Progress) ShowAt(done, total int) { p.Show(float64(done)/float64(max(total, 1)), p.At) }

// ShowAs returns the callback that moves the bar to done of total of what is counted, from its first call on. There is
// nothing to show on nil.
func (p *Progress) ShowAs(what string) func(done, total int) {
	var first sync.Once
	return func(done, total int) {
		fraction := float64(done) / float64(max(total, 1))
		first.Do(func() { p.count(fraction) })
		p.Show(fraction, what)
	}
}

// count begins to count the work.
func (p *Progress) count(fraction float64) {
	if p != nil && (p.out != nil || p.lines != nil) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.counted, p.from = time.Now(), fraction
	}
}

// Clear takes the bar away, for another phase or for the result. The two seconds count for the whole work.
func (p *Progress) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rest()
	p.furthest, p.drawn, p.counted = 0, time.Time{}, time.Time{}
}
