package main

import "mafalda/internal/limits"

// checkMemory refuses, before anything is allocated, work that needs more memory than the machine has, or its
// container, ulimit or GOMEMLIMIT allow.
func checkMemory(what string, need float64) error { return usage(limits.Fits(what, need)) }

// bytesText returns a number of bytes in a short form.
func bytesText(b float64) string { return limits.Text(b) }
