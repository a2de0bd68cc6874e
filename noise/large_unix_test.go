//go:build unix

package noise

import (
	"syscall"
	"time"
)

// processorTime returns the CPU time of this process: other processes on the machine disturb it less.
func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
