package limits

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"sync"
)

// ErrMemory is wrapped by the errors of Fits.
var ErrMemory = errors.New("too large")

// share is the part of the memory that may be asked for: the program itself and its garbage need some, too.
const share = 0.9

// limit is an amount of memory, and whose limit it is: words that the amount follows.
type limit struct {
	bytes int64 // 0 if not known
	from  string
}

func (l limit) least(o limit) limit {
	if o.bytes > 0 && (l.bytes == 0 || o.bytes < l.bytes) {
		return o
	}
	return l
}

// fixed is the limit that does not change while the process runs.
var fixed = sync.OnceValue(func() limit {
	return limit{totalMemory(), "this machine has"}.least(limit{groupMemory(), "the control group (container) allows"}).least(shellMemory())
})

// softened is whether the memory limit of Go's runtime is our own.
var softened bool

// Memory returns how many bytes the process may have, and whose limit that is in words that the amount follows, such as
// "this machine has". 0 bytes: nothing is known.
func Memory() (bytes int64, from string) {
	l := fixed()
	if own := debug.SetMemoryLimit(-1); own < math.MaxInt64 && !softened {
		l = l.least(limit{max(own, 1), "GOMEMLIMIT allows"})
	}
	return l.bytes, l.from
}

// Fits returns an ErrMemory, in a line, if something needs more bytes than there can be.
func Fits(what string, need float64) error {
	have, from := Memory()
	if have > 0 && !(need <= share*float64(have)) {
		return &tooLarge{fmt.Sprintf("%s needs about %s of memory, %s %s", what, Text(need), from, Text(float64(have)))}
	}
	return nil
}

type tooLarge struct{ text string }

func (e *tooLarge) Error() string { return e.text }
func (e *tooLarge) Unwrap() error { return ErrMemory }

// Text returns a number of bytes in a short form, such as 25.3 GB.
func Text(bytes float64) string {
	units := []string{"B", "kB", "MB", "GB", "TB", "PB", "EB"}
	i := 0
	for bytes >= 1000 && i < len(units)-1 {
		bytes /= 1000
		i++
	}
	return fmt.Sprintf("%.3g %s", bytes, units[i])
}

// Collect sets the garbage collector's percent until restore is called. Nothing happens where GOGC says what to do.
func Collect(percent int) (restore func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(percent)
	return func() { debug.SetGCPercent(before) }
}

// Soften lets the garbage collector work harder before the process runs into the limit of its control group.
// It is for the start of a program; nothing happens where GOMEMLIMIT says what to do.
func Soften() {
	group := groupMemory()
	if os.Getenv("GOMEMLIMIT") != "" || group == 0 || group >= totalMemory() {
		return
	}
	debug.SetMemoryLimit(int64(share * float64(group)))
	softened = true
}
