//go:build !unix

package limits

import "runtime"

// PeakBytes returns what the process has taken from the system.
func PeakBytes() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}
