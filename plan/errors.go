package plan

import (
	"mafalda/internal/fault"
	"mafalda/internal/limits"
)

// ArgumentError is the error about a bad argument, of this package and of all rooms below it: it names the field of the options
// struct that the argument was in. Programs look for it with errors.As(err, &e), where e is a *plan.ArgumentError.
type ArgumentError = fault.Argument

// ErrMemory is the error of problems that need more memory than there is: than the machine has, or than its container, ulimit
// or GOMEMLIMIT allow.
var ErrMemory = limits.ErrMemory
