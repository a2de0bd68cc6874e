package limits

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

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
	memberships, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return 0
	}
	return groupLimit(string(memberships), "/sys/fs/cgroup")
})

// shellMemory returns half of what ulimit allows, of the address space (-v) and of data (-d): the other half is for what Go
// reserves and does not use.
func shellMemory() limit {
	var l limit
	for from, resource := range map[string]int{"half of ulimit -v is": unix.RLIMIT_AS, "half of ulimit -d is": unix.RLIMIT_DATA} {
		var r unix.Rlimit
		if unix.Getrlimit(resource, &r) == nil && r.Cur < 1<<60 {
			l = l.least(limit{max(int64(r.Cur)/2, 1), from})
		}
	}
	return l
}

// groupLimit returns the least memory limit of a control group and the groups around it, 0 without one. memberships is
// the text of /proc/self/cgroup: a line reads "4:memory:/path", or "0::/path" in version 2. Groups that are not shown, as
// in a container, are passed over: what is shown is around us.
func groupLimit(memberships, mount string) int64 {
	var l limit
	for line := range strings.Lines(memberships) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		at, file := mount, "memory.max"
		switch {
		case len(f) < 3:
			continue
		case slices.Contains(strings.Split(f[1], ","), "memory"):
			at, file = filepath.Join(mount, "memory"), "memory.limit_in_bytes"
		case f[1] != "":
			continue
		}
		for group := filepath.Clean("/" + f[2]); ; group = filepath.Dir(group) {
			l = l.least(limit{groupFile(filepath.Join(at, group, file)), ""})
			if group == "/" {
				break
			}
		}
	}
	return l.bytes
}

// groupFile returns the limit in a file of a group, 0 without one: "max" in version 2, near 2⁶³ in version 1.
func groupFile(path string) int64 {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	v, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || v > 1<<60 {
		return 0
	}
	return max(v, 1)
}
