//go:build !linux

package limits

func groupMemory() int64 { return 0 }

func shellMemory() limit { return limit{} }
