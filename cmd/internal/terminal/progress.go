package terminal

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/clipperhouse/displaywidth"
	"golang.org/x/term"
)

// Progress shows how far work is: on a terminal in a bar with an ETA, once the work has taken two seconds; elsewhere in a line every
// half minute, so that a log shows that long work goes on; and to a caller that reads progress in events.
type Progress struct {
	At string // what ShowAt says is being done

	mu           sync.Mutex // work that was left behind may still report
	out          io.Writer  // nil: nothing is shown
	events       *eventWriter
	log          bool          // lines instead of a bar
	delay, pause time.Duration // nothing is shown before a delay, and nothing new within a pause
	since        time.Time
	drawn        time.Time // when the last one was
	counted      time.Time // when the work was first counted
	from         float64   // what was done then
	furthest     float64
	stage        string        // the last one
	waiting      chan struct{} // closed when what Busy shows has to end; nil if it shows nothing
	width        int           // width of what is drawn
}

const (
	progressDelay = 2 * time.Second
	progressPause = 100 * time.Millisecond
	linePause     = 30 * time.Second // between two lines, and before the first
)

// NewProgress draws on w if that is a terminal, and tells a caller that reads progress.
func NewProgress(w io.Writer, quiet bool) *Progress {
	p := &Progress{since: time.Now(), delay: progressDelay, pause: progressPause}
	events, told := w.(*eventWriter)
	f, is := FileOf(w)
	switch {
	case told:
		p.out, p.events, p.delay = w, events, 0
	case quiet:
	case is && term.IsTerminal(int(f.Fd())):
		p.out = f // not wrapped
	default:
		p.out, p.log, p.delay, p.pause = w, true, linePause, linePause
	}
	return p
}

// Stage says in a line what is being done, where there is no terminal to draw on; what follows a colon is a step of a
// stage, which is said once.
func (p *Progress) Stage(what string) {
	what, _, _ = strings.Cut(PlainLine(what), ":")
	p.mu.Lock()
	defer p.mu.Unlock()
	if what == p.stage {
		return
	}
	p.stage = what
	switch {
	case p.events != nil:
		p.events.tell(progressEvent{Doing: what})
	case p.log:
		fmt.Fprintf(p.out, "computing: %s\n", what)
	}
}

// Busy says every second what is being done and since when, where it is unknown how much of it is left; without a
// terminal, every half minute. Show and Clear end that. There is nothing to say on nil.
func (p *Progress) Busy(what string) {
	if p == nil || p.out == nil || p.events != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rest()
	ended := make(chan struct{})
	p.waiting = ended
	go func() {
		tick := time.NewTicker(max(p.pause, time.Second))
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-tick.C:
				p.mu.Lock()
				if p.waiting == ended && time.Since(p.since) >= progressDelay {
					p.say(unknown, what)
				}
				p.mu.Unlock()
			}
		}
	}()
}

const unknown = -1 // fraction of the work

// say writes what is being done, how much of it is done, and how long that took or the rest takes.
func (p *Progress) say(fraction float64, what string) {
	what = PlainLine(what)
	took, done := fmt.Sprintf(" … %d s", int(time.Since(p.since).Seconds())), ""
	if fraction >= 0 {
		took, done = p.left(fraction), fmt.Sprintf(", %.0f %%", math.Floor(100*fraction))
	}
	switch {
	case p.events != nil:
		p.events.tell(progressEvent{Doing: what, Fraction: &fraction})
		return
	case p.log:
		fmt.Fprintf(p.out, "computing: %s%s%s\n", what, done, took)
		return
	case fraction >= 0:
		const bar = 24
		full := int(p.furthest * bar)
		took += fmt.Sprintf(" %3.0f%% |%s%s|", math.Floor(100*p.furthest), strings.Repeat("█", full), strings.Repeat(" ", bar-full))
	}
	text := cut(what, cmp.Or(terminalWidth(p.out), 80)-1-displaywidth.String(took)) + took
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
	if p == nil || p.out == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if p.counted.IsZero() {
		p.counted, p.from = now, fraction
	}
	if fraction < 1 {
		p.furthest = max(p.furthest, fraction)
	}
	if now.Sub(p.since) < p.delay || now.Sub(p.drawn) < p.pause {
		return
	}
	p.drawn = now
	if p.waiting != nil {
		p.rest()
	}
	p.say(fraction, description)
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
		first.Do(p.recount)
		p.Show(float64(done)/float64(max(total, 1)), what)
	}
}

// recount makes the next call of Show the first one that counts the work.
func (p *Progress) recount() {
	if p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.counted = time.Time{}
	}
}

// Clear takes the bar away, for another phase or for the result. The two seconds count for the whole work.
func (p *Progress) Clear() {
	p.recount()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rest()
	p.furthest = 0
}
