package limits

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// enough is a limit that is none.
const enough = 1 << 60

// totalMemory returns the size of the machine's memory, in bytes.
func totalMemory() int64 {
	var s unix.Sysinfo_t
	if unix.Sysinfo(&s) != nil {
		return 0
	}
	return int64(uint64(s.Totalram) * uint64(s.Unit))
}

// groupMemory returns the control group's.
var groupMemory = sync.OnceValue(func() int64 {
	memberships, err1 := os.ReadFile("/proc/self/cgroup")
	mounts, err2 := os.ReadFile("/proc/self/mountinfo")
	if err1 != nil || err2 != nil {
		return 0
	}
	return groupLimit(string(memberships), string(mounts))
})

// shellMemory returns what ulimit leaves to the heap: of the address space (-v) and of what can be written (-d), less
// what else is mapped.
func shellMemory() limit {
	var unlimited unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &unlimited) == nil && unlimited.Cur > enough &&
		unix.Getrlimit(unix.RLIMIT_DATA, &unlimited) == nil && unlimited.Cur > enough {
		return limit{}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	mapped, written := mappedBytes()
	mapped, written = mapped-int64(m.HeapSys), written-int64(m.HeapSys)
	return remainingLimit(unix.RLIMIT_AS, mapped, "ulimit -v leaves").least(remainingLimit(unix.RLIMIT_DATA, written, "ulimit -d leaves"))
}

func remainingLimit(resource int, used int64, from string) limit {
	var r unix.Rlimit
	if unix.Getrlimit(resource, &r) != nil || r.Cur > enough {
		return limit{}
	}
	return limit{max(int64(r.Cur)-used, 1), from}
}

// mappedBytes returns the size of the address space, and of its part that belongs to data.
func mappedBytes() (all, data int64) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, 0
	}
	page := int64(os.Getpagesize())
	for i, word := range strings.Fields(string(text)) {
		v, err := strconv.ParseInt(word, 10, 64)
		switch {
		case err != nil:
		case i == 0:
			all = v * page
		case i == 5:
			data = v * page
		}
	}
	return all, data
}
