package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Progress draws a bar with an ETA on a terminal, once the work has taken two seconds.
type Progress struct {
	mu       sync.Mutex // work that was left behind may still report
	out      io.Writer  // nil: draw nothing
	since    time.Time
	bar      *progressbar.ProgressBar
	furthest int
	At       string // what ShowAt says is being done

	waiting chan struct{} // closed when what Busy shows has to end; nil if it shows nothing
	width   int           // of what it has written last
}

const (
	progressDelay = 2 * time.Second
	progressParts = 1000
)

// NewProgress draws on w if that is a terminal.
func NewProgress(w io.Writer, quiet bool) *Progress {
	p := &Progress{since: time.Now()}
	if f, ok := FileOf(w); ok && !quiet && term.IsTerminal(int(f.Fd())) {
		p.out = w
	}
	return p
}

// Busy says every second what is being done and since when, where nobody knows how much of it is left. Show and Clear end
// that. There is nothing to say on nil.
func (p *Progress) Busy(what string) {
	if p == nil || p.out == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rest()
	ended := make(chan struct{})
	p.waiting = ended
	go func() {
		tick := time.NewTicker(time.Second)
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
	if took := time.Since(p.since); p.waiting == ended && took >= progressDelay {
		text := fmt.Sprintf("%s … %d s", what, int(took.Seconds()))
		p.width = utf8.RuneCountInString(text)
		fmt.Fprint(p.out, "\r"+text)
	}
}

// rest ends what Busy shows, and takes it away.
func (p *Progress) rest() {
	if p.waiting == nil {
		return
	}
	close(p.waiting)
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
	if time.Since(p.since) < progressDelay {
		return
	}
	p.rest()
	if p.bar == nil {
		p.bar = progressbar.NewOptions(progressParts, progressbar.OptionSetWriter(p.out), progressbar.OptionClearOnFinish(),
			progressbar.OptionSetWidth(24), progressbar.OptionSetPredictTime(true), progressbar.OptionThrottle(100*time.Millisecond))
	}
	p.bar.Describe(description)
	if at := int(fraction * progressParts); at > p.furthest && at < progressParts {
		p.furthest = at
	}
	_ = p.bar.Set(p.furthest)
}

// ShowAt moves the bar to so many of all, and says what p.at says.
func (p *Progress) ShowAt(done, total int) { p.Show(float64(done)/float64(max(total, 1)), p.At) }

// Clear takes the bar away, for another phase or for the result. The two seconds are those of the whole work.
func (p *Progress) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rest()
	if p.bar != nil {
		_ = p.bar.Clear()
	}
	p.bar, p.furthest = nil, 0
}
