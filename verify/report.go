package verify

import (
	"fmt"

	"mafalda/internal/fault"
	"mafalda/internal/rounding"
)

// Report is what Verify finds.
type Report struct {
	Checks     []Check  `json:"checks"`
	NotChecked []string `json:"not_checked"` // keys of the manifest

	// Missing names the files that the network came from, where Verify had no network: then all that depends on it is
	// in NotChecked.
	Missing NetworkFiles `json:"-"`

	watch func(Check) // sees every check when it is made
}

// Check is a line of a Report.
type Check struct {
	Name   string `json:"check"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"` // what holds; or what the manifest says, and what is true instead
}

// OK reports whether all checks hold.
func (r *Report) OK() bool { return len(r.Failures()) == 0 }

// Failures returns the checks that do not hold.
func (r *Report) Failures() []Check {
	var failed []Check
	for _, c := range r.Checks {
		if !c.OK {
			failed = append(failed, c)
		}
	}
	return failed
}

// FailedError is a check that does not hold, where nothing can be done without it.
type FailedError struct{ Check Check }

func (e *FailedError) Error() string { return e.Check.Name + ": " + e.Check.Detail }

// failed returns a FailedError.
func failed(name, format string, args ...any) error {
	return &FailedError{Check{Name: name, Detail: fmt.Sprintf(format, args...)}}
}

// add notes a check. Errors among the arguments name what they are about by its key in the manifest.
func (r *Report) add(name string, ok bool, format string, args ...any) {
	for i, a := range args {
		if err, is := a.(error); is {
			args[i] = fault.Keyed(err)
		}
	}
	c := Check{name, ok, fmt.Sprintf(format, args...)}
	r.Checks = append(r.Checks, c)
	if r.watch != nil {
		r.watch(c)
	}
}

// skip notes keys of the manifest that are not checked.
func (r *Report) skip(keys ...string) { r.NotChecked = append(r.NotChecked, keys...) }

// textUp and down print a number with twelve digits, rounded to the side on which it claims no more than was computed.
func textUp(v float64) string   { return rounding.UpText(v, 12) }
func textDown(v float64) string { return rounding.DownText(v, 12) }
