package noise

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestDurableResumes: whatever the class, a stream that is closed, or killed right after a row, goes on as one that
// never stopped; a row that was on disk as handed out is not handed out again.
func TestDurableResumes(t *testing.T) {
	all := strategies(t)
	all["regenerated"] = all["dense"]
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			opts := Options{Regenerate: name == "regenerated"}
			dir := exported(t, c)
			path := filepath.Join(t.TempDir(), "state")
			fresh := true
			open := func() *Stream {
				d, err := OpenDurable(dir, "ann", 100, State{Path: path, New: fresh}, opts)
				fresh = false
				if err != nil {
					t.Fatal(err)
				}
				return d
			}
			first := open()
			rows := read(t, first.Next, 5)
			if _, err := OpenDurable(dir, "ann", 100, State{Path: path}, opts); runtime.GOOS == "linux" &&
				!errors.Is(err, ErrState) {
				t.Errorf("opened twice: %v", err)
			}
			if err := first.Close(); err != nil {
				t.Fatal(err)
			}
			second := open()
			if second.Step() != 5 {
				t.Fatalf("goes on at step %d", second.Step())
			}
			rows = append(rows, read(t, second.Next, 2)...)
			if err := second.issue(1); err != nil { // killed after the state was written, before the row was used
				t.Fatal(err)
			}
			if err := second.Close(); err != nil {
				t.Fatal(err)
			}
			third := open()
			if third.Step() != 8 {
				t.Fatalf("goes on at step %d after a row was lost", third.Step())
			}
			rest := read(t, third.Next, steps-8)
			row := make([]float64, 100)
			if err := third.Next(row); err != io.EOF {
				t.Errorf("after the last step: %v", err)
			}
			if err := third.Close(); err != nil {
				t.Fatal(err)
			}
			whole, err := streamWith(c, gaussian{"ann", third.key, 2}, 100, opts)
			if err != nil {
				t.Fatal(err)
			}
			want := read(t, whole.Next, steps)
			if !same(rows, want[:7]) || !same(rest, want[8:]) {
				t.Error("the rows are not those of an uninterrupted run")
			}
			info, err := os.Stat(path)
			if err != nil || info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
				t.Errorf("the state holds a key, but its mode is %v (%v)", info.Mode(), err)
			}
		})
	}
}

func TestDurableRefuses(t *testing.T) {
	c := dense(t)
	dir, other := exported(t, c), exported(t, c.Scaled(0.5))
	one, two := uint64(1), uint64(2)
	start := func(opts Options) string {
		path := filepath.Join(t.TempDir(), "state")
		d, err := OpenDurable(dir, "ann", 100, State{Path: path, New: true}, opts)
		if err != nil {
			t.Fatal(err)
		}
		read(t, d.Next, 1)
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		return path
	}
	garbled := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(garbled, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		dir, node string
		dim       int
		path      string
		opts      Options
	}{
		"another export":   {other, "ann", 100, start(Options{}), Options{}},
		"another node":     {dir, "b,ob", 100, start(Options{}), Options{}},
		"another model":    {dir, "ann", 99, start(Options{}), Options{}},
		"another noise":    {dir, "ann", 100, start(Options{}), Options{NoiseStd: 3}},
		"another seed":     {dir, "ann", 100, start(Options{Seed: &one}), Options{Seed: &two}},
		"a seed for a key": {dir, "ann", 100, start(Options{}), Options{Seed: &one}},
		"a key for a seed": {dir, "ann", 100, start(Options{Seed: &one}), Options{}},
		"no state":         {dir, "ann", 100, garbled, Options{}},
	} {
		if _, err := OpenDurable(tc.dir, tc.node, tc.dim, State{Path: tc.path}, tc.opts); !errors.Is(err, ErrState) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
