package limits

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// The least of the limits of a group and those around it counts, in both versions of control groups, inside and outside
// a container.
func TestGroupLimit(t *testing.T) {
	const none = "9223372036854771712\n"
	for name, tc := range map[string]struct {
		memberships string
		files       map[string]string
		want        int64
	}{
		"version 2":                 {"0::/a/b\n", map[string]string{"a/b/memory.max": "5000\n"}, 5000},
		"version 2, the parent's":   {"0::/a/b\n", map[string]string{"a/b/memory.max": "max\n", "a/memory.max": "7000\n"}, 7000},
		"version 2, the least":      {"0::/a/b\n", map[string]string{"a/b/memory.max": "9000\n", "a/memory.max": "7000\n"}, 7000},
		"version 2, none":           {"0::/a\n", map[string]string{"a/memory.max": "max\n"}, 0},
		"version 2, in a container": {"0::/\n", map[string]string{"memory.max": "6000\n"}, 6000},
		"version 2, of elsewhere":   {"0::/../b\n", map[string]string{"memory.max": "6000\n"}, 6000},
		"version 1":                 {"3:cpu:/x\n4:memory:/a\n0::/\n", map[string]string{"a/memory.limit_in_bytes": "8000\n"}, 8000},
		"version 1, the parent's":   {"4:memory:/a\n", map[string]string{"a/memory.limit_in_bytes": none, "memory.limit_in_bytes": "4000"}, 4000},
		"version 1, none":           {"4:memory:/a\n", map[string]string{"a/memory.limit_in_bytes": none}, 0},
		"version 1, mounted below": {"4:hugetlb,memory:/docker/f00\n",
			map[string]string{"memory.limit_in_bytes": "3000"}, 3000},
		"not of memory": {"3:cpu:/a\n", map[string]string{"a/memory.limit_in_bytes": "3000"}, 0},
		"no group":      {"", map[string]string{"memory.max": "6000\n"}, 0},
		"other lines": {"\nx\n0::/\n",
			map[string]string{"memory.max": "6000\n"}, 6000},
	} {
		t.Run(name, func(t *testing.T) {
			at := filepath.Join(t.TempDir(), "control groups")
			for file, text := range tc.files {
				path := filepath.Join(at, file)
				if filepath.Base(file) == "memory.limit_in_bytes" {
					path = filepath.Join(at, "memory", file)
				}
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text),
					0o666)); err != nil {
					t.Fatal(err)
				}
			}
			if got := groupLimit(tc.memberships, at); got != tc.want {
				t.Errorf("%d, want %d", got, tc.want)
			}
		})
	}
}
