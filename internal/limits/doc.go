// Package limits says how much memory this process may have: the least of what the machine has, what its control group
// (a container's, say) may use, and GOMEMLIMIT. What needs more is
// refused before anything is allocated: running into such a limit ends a Go program with a stack trace, or without a
// word.
package limits
