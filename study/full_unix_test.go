//go:build unix

package study

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A file that finds no room is an error that names it: no cell is there, nor a part of one, and the next run goes on.
func TestNoRoom(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "grid")
	// files may have no more than so many blocks: writing beyond is an error, as on a full disk
	cmd := exec.Command("sh", "-c", `ulimit -f 8; exec "$0"`, os.Args[0])
	cmd.Env = append(os.Environ(), "STUDY_WRITER="+dir, "STUDY_ROW="+strings.Repeat("long ", 10000))
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.HasPrefix(string(out), "keeping a result in "+dir+": ") || strings.Count(string(out), "\n") != 1 {
		t.Fatalf("%v: %.300s", err, out)
	}
	for _, in := range []string{dir, filepath.Join(dir, cellsName)} {
		names, err := os.ReadDir(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range names {
			if !strings.HasPrefix(n.Name(), lockName) && n.Name() != recordName && n.Name() != cellsName {
				t.Errorf("%s is there", n.Name())
			}
		}
	}
	if err := writer(dir, strings.Repeat("long ", 10000)); err != nil {
		t.Error(err)
	}
	if s := open(t, dir, specOf("x")); len(s.allEntries()) != 30 {
		t.Errorf("%d cells", len(s.allEntries()))
	}
}
