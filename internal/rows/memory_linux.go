package rows

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// enlarge asks for large pages where there is nothing yet. A system that has none says no, which changes nothing.
func enlarge(x []float64) {
	all := unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), 8*len(x))
	page := uintptr(os.Getpagesize())
	before := -uintptr(unsafe.Pointer(&x[0])) % page
	whole := (uintptr(len(all)) - before) &^ (page - 1)
	_ = unix.Madvise(all[before:before+whole], unix.MADV_HUGEPAGE)
}
