package limits

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// memoryStatus is MEMORYSTATUSEX.
type memoryStatus struct {
	length, load    uint32
	total           uint64
	availableOfThis uint64
	pageFile        [2]uint64
	virtual         [3]uint64
}

// totalMemory returns the size of the machine's memory, in bytes.
func totalMemory() int64 {
	var s memoryStatus
	s.length = uint32(unsafe.Sizeof(s))
	status := windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")
	if status.Find() != nil {
		return 0
	}
	if ok, _, _ := status.Call(uintptr(unsafe.Pointer(&s))); ok == 0 {
		return 0
	}
	return int64(s.total)
}
