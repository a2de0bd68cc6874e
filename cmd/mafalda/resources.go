package main

import (
	"fmt"
	"math"
	"runtime/debug"

	"github.com/pbnjay/memory"
)

// checkMemory refuses, before anything is allocated, work that needs more than the machine's memory (or GOMEMLIMIT, where
// that is lower).
func checkMemory(what string, need float64) error {
	have := float64(memory.TotalMemory())
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 && (have == 0 || float64(limit) < have) {
		have = float64(limit)
	}
	if have > 0 && need > 0.9*have {
		return usagef("%s needs about %s of memory, this machine has %s", what, bytesText(need), bytesText(have))
	}
	return nil
}

func bytesText(b float64) string {
	units := []string{"B", "kB", "MB", "GB", "TB", "PB", "EB"}
	i := 0
	for b >= 1000 && i < len(units)-1 {
		b /= 1000
		i++
	}
	return fmt.Sprintf("%.3g %s", b, units[i])
}
