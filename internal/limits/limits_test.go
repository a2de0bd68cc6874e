package limits

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

// The least of the limits of a group and those around it counts, in both versions of control groups, inside and outside
// a container.
func TestGroupLimit(t *testing.T) {
	const none = "9223372036854771712\n"
	for name, tc := range map[string]struct {
		memberships string
		mount       string // %s: where
		files       map[string]string
		want        int64
	}{
		"version 2": {"0::/a/b\n", "30 1 0:1 / %s rw - cgroup2 cgroup2 rw\n",
			map[string]string{"a/b/memory.max": "5000\n"}, 5000},
		"version 2, the parent's": {"0::/a/b\n", "30 1 0:1 / %s rw - cgroup2 cgroup2 rw\n",
			map[string]string{"a/b/memory.max": "max\n", "a/memory.max": "7000\n"}, 7000},
		"version 2, the least": {"0::/a/b\n", "30 1 0:1 / %s rw - cgroup2 cgroup2 rw\n",
			map[string]string{"a/b/memory.max": "9000\n", "a/memory.max": "7000\n"}, 7000},
		"version 2, none": {"0::/a\n", "30 1 0:1 / %s rw - cgroup2 cgroup2 rw\n",
			map[string]string{"a/memory.max": "max\n"}, 0},
		"version 2, in a container": {"0::/\n", "30 1 0:1 / %s rw - cgroup2 cgroup2 rw\n",
			map[string]string{"memory.max": "6000\n"}, 6000},
		"version 2, of elsewhere": {"0::/../b\n", "30 1 0:1 / %s rw shared:4 master:1 - cgroup2 cgroup2 rw\n",
			map[string]string{"memory.max": "6000\n"}, 6000},
		"version 1": {"3:cpu:/x\n4:memory:/a\n0::/\n", "31 1 0:2 / %s rw - cgroup cgroup rw,memory\n",
			map[string]string{"a/memory.limit_in_bytes": "8000\n"}, 8000},
		"version 1, the parent's": {"4:memory:/a\n", "31 1 0:2 / %s rw - cgroup cgroup rw,memory\n",
			map[string]string{"a/memory.limit_in_bytes": none, "memory.limit_in_bytes": "4000"}, 4000},
		"version 1, none": {"4:memory:/a\n", "31 1 0:2 / %s rw - cgroup cgroup rw,memory\n",
			map[string]string{"a/memory.limit_in_bytes": none}, 0},
		"version 1, mounted below": {"4:hugetlb,memory:/docker/f00\n",
			"31 1 0:2 /docker/f00 %s ro - cgroup cgroup rw,memory,hugetlb\n",
			map[string]string{"memory.limit_in_bytes": "3000"}, 3000},
		"not of memory": {"3:cpu:/a\n", "31 1 0:2 / %s rw - cgroup cgroup rw,cpu\n",
			map[string]string{"a/memory.limit_in_bytes": "3000"}, 0},
		"no group": {"", "30 1 0:1 / %s rw - cgroup2 cgroup2 rw\n",
			map[string]string{"memory.max": "6000\n"}, 0},
		"other lines": {"\nx\n0::/\n",
			"\nx - y\n30 1 0:1 / /proc rw - proc proc rw\n30 1 0:1 / %s rw - cgroup2 cgroup2 rw",
			map[string]string{"memory.max": "6000\n"}, 6000},
	} {
		t.Run(name, func(t *testing.T) {
			at := filepath.Join(t.TempDir(), "control groups")
			for file, text := range tc.files {
				path := filepath.Join(at, file)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text),
					0o666)); err != nil {
					t.Fatal(err)
				}
			}
			mounts := fmt.Sprintf(tc.mount, strings.ReplaceAll(filepath.ToSlash(at), " ", `\040`))
			if got := groupLimit(tc.memberships, mounts); got != tc.want {
				t.Errorf("%d, want %d", got, tc.want)
			}
		})
	}
}

func TestFits(t *testing.T) {
	if have, from := Memory(); have <= 0 || from == "" {
		t.Errorf("%d bytes by %q", have, from)
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1e6))
	if have, from := Memory(); have != 1e6 || from != "GOMEMLIMIT allows" {
		t.Errorf("%d bytes by %q", have, from)
	}
	if err := Fits("little", 1e5); err != nil {
		t.Error(err)
	}
	for _, need := range []float64{1e6, 1e300, math.Inf(1), math.NaN()} {
		if err := Fits("much", need); !errors.Is(err, ErrMemory) || !strings.HasPrefix(err.Error(),
			"much needs about ") ||
			!strings.HasSuffix(err.Error(), "of memory, GOMEMLIMIT allows 1 MB") {
			t.Errorf("%v bytes: %v", need, err)
		}
	}
}

func TestText(t *testing.T) {
	for bytes, want := range map[float64]string{0: "0 B", 999: "999 B", 2.5e10: "25 GB", 4e30: "4e+12 EB"} {
		if got := Text(bytes); got != want {
			t.Errorf("%v: %q, want %q", bytes, got, want)
		}
	}
}

// A percent for the garbage collector lasts until it is restored, and leaves GOGC's percent, or GOGC=off, alone.
func TestCollectLeavesGOGCAlone(t *testing.T) {
	now := func() int {
		percent := debug.SetGCPercent(100)
		debug.SetGCPercent(percent)
		return percent
	}
	defer debug.SetGCPercent(debug.SetGCPercent(300))
	t.Setenv("GOGC", "")
	restore := Collect(25)
	if now() != 25 {
		t.Errorf("without GOGC it is %d", now())
	}
	if restore(); now() != 300 {
		t.Errorf("restored, it is %d", now())
	}
	for _, own := range []string{"300", "off"} {
		t.Setenv("GOGC", own)
		if restore := Collect(25); now() != 300 {
			t.Errorf("with GOGC=%s it is %d", own, now())
		} else if restore(); now() != 300 {
			t.Errorf("restored, with GOGC=%s it is %d", own, now())
		}
	}
}
