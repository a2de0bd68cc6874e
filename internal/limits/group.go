package limits

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// groupLimit returns the least memory limit of a control group and the groups around it, 0 without one. memberships is
// the text of /proc/self/cgroup, mounts the text of /proc/self/mountinfo; versions 1 and 2 are looked at, since both can be
// there.
func groupLimit(memberships, mounts string) int64 {
	var l limit
	for mount := range strings.Lines(mounts) {
		root, at, version := parseMount(mount)
		if version == 0 {
			continue
		}
		group, ok := groupOf(memberships, version)
		if !ok {
			continue
		}
		inside, below := strings.CutPrefix(group, strings.TrimSuffix(root, "/"))
		if !below || strings.Contains(inside, "/..") { // elsewhere, as in a container: what is shown is still around us
			inside = ""
		}
		for dir := filepath.Join(at, inside); ; dir = filepath.Dir(dir) {
			l = l.least(limit{groupFile(dir, version), ""})
			if len(dir) <= len(at) {
				break
			}
		}
	}
	return l.bytes
}

// parseMount returns which group is mounted where, and the version of control groups; 0 if it is no mount of groups
// that limit memory. A line reads "36 35 98:0 /root /point options optional... - type source superoptions".
func parseMount(line string) (root, at string, version int) {
	mount, filesystem, _ := strings.Cut(line, " - ")
	f, t := strings.Fields(mount), strings.Fields(filesystem)
	if len(f) < 5 || len(t) < 3 {
		return "", "", 0
	}
	switch {
	case t[0] == "cgroup2":
		version = 2
	case t[0] == "cgroup" && slices.Contains(strings.Split(t[2], ","), "memory"):
		version = 1
	}
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	return unescape.Replace(f[3]), unescape.Replace(f[4]), version
}

// groupOf returns the path of the process's group. A line reads "4:memory:/path", or "0::/path" in version 2.
func groupOf(memberships string, version int) (string, bool) {
	for line := range strings.Lines(memberships) {
		f := strings.SplitN(strings.TrimRight(line, "\n"), ":", 3)
		if len(f) < 3 {
			continue
		}
		if version == 2 && f[0] == "0" && f[1] == "" || version == 1 && slices.Contains(strings.Split(f[1], ","),
			"memory") {
			return f[2], true
		}
	}
	return "", false
}

// groupFile returns the limit that the files of a group have, 0 if none: "max" in version 2, a number near 2⁶³ in
// version 1.
func groupFile(dir string, version int) int64 {
	name := map[int]string{1: "memory.limit_in_bytes", 2: "memory.max"}[version]
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return 0
	}
	v, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || v > 1<<60 {
		return 0
	}
	return max(v, 1)
}
