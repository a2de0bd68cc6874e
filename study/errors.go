package study

import (
	"errors"
	"fmt"
	"strings"
)

// Errors about folders and what is in them.
var (
	ErrForeign = errors.New("not a folder of a study") // it holds files of other programs
	ErrDamaged = errors.New("damaged")                 // a file of a study is not what was written
)

// InputsError is about a folder that belongs to a study of other inputs.
type InputsError struct {
	Dir         string
	Differences []string // names of the inputs that differ, and how
}

func (e *InputsError) Error() string {
	const most = 3
	d := e.Differences
	text := strings.Join(d[:min(len(d), most)], ", ")
	if more := len(d) - most; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return fmt.Sprintf("%s holds results of other inputs: %s", e.Dir, text)
}

// StoppedError is about a run that ended before all cells had results.
type StoppedError struct {
	Done, Total int // cells that have a result now, of those that were asked for
	Err         error
}

func (e *StoppedError) Error() string { return e.Err.Error() }

func (e *StoppedError) Unwrap() error { return e.Err }
