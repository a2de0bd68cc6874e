package plan

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"mafalda/study"
)

// A checkpoint that cannot be written is said once, and once more at the end; one that is written later mends it.
func TestCheckpointThatCannotBeKept(t *testing.T) {
	var said []string
	c := &checkpoints{path: filepath.Join(t.TempDir(), strings.Repeat("x", 300)), size: 1, kept: -1,
		// no file can have this name
		warn: func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }}
	for range 3 {
		c.tried = time.Time{}
		c.keep(checkpoint{}, []float64{1})
	}
	if len(said) != 1 || !strings.Contains(said[0], "goes on without a checkpoint") {
		t.Errorf("said: %q", said)
	}
	if c.end(); len(said) != 2 || !strings.Contains(said[1], "no checkpoint was kept") {
		t.Errorf("said: %q", said)
	}
	c.path, c.tried = filepath.Join(t.TempDir(), "ckpt"), time.Time{}
	if c.keep(checkpoint{Iterations: 7}, []float64{1}); c.failed != nil || c.kept != 7 || len(said) != 2 {
		t.Errorf("%v, %d, %q", c.failed, c.kept, said)
	}
	if c.end(); len(said) != 2 {
		t.Errorf("all is well at the end: %q", said)
	}
}

// What was kept is read again, and only for the same problem, as it was written.
func TestCheckpoint(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ckpt")
	c := &checkpoints{path: path, key: study.Key{1}, size: 4, kept: -1}
	if _, err := c.read(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("nothing is there: %v", err)
	}
	want := []float64{2, 0.5, 0.5, 3}
	c.keep(checkpoint{Iterations: 5}, want[:1], want[1:])
	x, err := c.read()
	if err != nil || x.Iterations != 5 || !slices.Equal(x.Numbers, want) {
		t.Errorf("%+v, %v", x, err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := slices.Clone(content)
	damaged[len(damaged)-3] ^= 1
	other := &checkpoints{path: path, key: study.Key{2}, size: 4}
	for name, tc := range map[string]struct {
		of      *checkpoints
		content []byte
		say     string
	}{
		"damaged":         {c, damaged, "is damaged"},
		"cut":             {c, content[:len(content)-8], "is damaged"},
		"longer":          {c, append(slices.Clone(content), 0), "is damaged"},
		"short":           {c, content[:7], "is damaged"},
		"none":            {c, []byte("hello\n"), "not a checkpoint"},
		"another problem": {other, content, "another problem"},
	} {
		if err := os.WriteFile(path, tc.content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := tc.of.read(); err == nil || !strings.Contains(err.Error(), tc.say) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A large file of something else is refused by its beginning: once all of it went into memory, deaf to signals.
func TestCheckpointIsNotReadToFindALine(t *testing.T) {
	const size = 64 << 20
	path := filepath.Join(t.TempDir(), "ckpt")
	if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, size)); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := (&checkpoints{path: path, size: 1}).read()
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "is not a checkpoint") || after.TotalAlloc-before.TotalAlloc > size/2 {
		t.Errorf("%v, with %d bytes", err, after.TotalAlloc-before.TotalAlloc)
	}
}
