//go:build !linux

package limits

func groupMemory() int64 { return 0 }
