package cli

import "mafalda/internal/limits"

// CheckMemory refuses, before anything is allocated, work that needs more memory than the machine has, or its
// container, ulimit or GOMEMLIMIT allow.
func CheckMemory(what string, need float64) error { return Usage(limits.Fits(what, need)) }

// BytesText returns a number of bytes in a short form.
func BytesText(b float64) string { return limits.Text(b) }
