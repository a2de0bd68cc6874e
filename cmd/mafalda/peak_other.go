//go:build !unix

package main

import "runtime"

// peakBytes returns what the process has taken from the system.
func peakBytes() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}
