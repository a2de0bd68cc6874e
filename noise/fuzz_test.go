package noise

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Whatever a state file holds: it is a record whose bytes are those that were written, or refused in a line, unchanged.
func FuzzRecord(f *testing.F) {
	dir := f.TempDir()
	path := filepath.Join(dir, "made")
	r, err := newRecord(path, map[string]string{"format": "test"}, place{Issued: 3, Start: "a"})
	if err != nil {
		f.Fatal(err)
	}
	if err := errors.Join(r.writePlace(place{Issued: 4, Start: "a", Open: true}), r.file.Close()); err != nil {
		f.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	for _, part := range [][]byte{text, text[:len(text)-1], text[:blockSize], {},
		[]byte(`{"format":"mafalda noise state 1","issued":3}`),
		append(append([]byte{}, text[:2*blockSize]...), make([]byte, blockSize)...)} {
		f.Add(part)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(dir, strconv.Itoa(os.Getpid()))
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := openRecord(path)
		if err != nil {
			if !errors.Is(err, ErrState) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("error %q", err)
			}
		} else {
			if r.place.Issued < 0 {
				t.Fatalf("%d rows were handed out", r.place.Issued)
			}
			if err := errors.Join(r.check(), r.file.Close()); err != nil {
				t.Fatal(err)
			}
		}
		if now, err := os.ReadFile(path); err != nil || string(now) != string(content) {
			t.Fatalf("opening has changed the file: %v", err)
		}
	})
}
