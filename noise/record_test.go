package noise

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestTornWrites: whenever a write of the place is cut off, and whatever bytes of one copy are lost, the file says what
// it said before or what it was to say, and at least what was on disk when the row went out.
func TestTornWrites(t *testing.T) {
	path := filepath.Join(t.TempDir(), "record")
	r, err := newRecord(path, map[string]string{"format": "test"}, place{Issued: 5})
	if err != nil {
		t.Fatal(err)
	}
	before := slices.Clone(r.content)
	if err := r.writePlace(place{Issued: 6, Open: true}); err != nil {
		t.Fatal(err)
	}
	after := slices.Clone(r.content)
	if err := r.file.Close(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(content(t, path), after) || len(after) != 3*blockSize {
		t.Fatalf("%d bytes, not those that were written", len(after))
	}
	read := func(what string, b []byte, least int) {
		t.Helper()
		write(t, path, b)
		r, err := openRecord(path)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if n := r.place.Issued; n < least || n > 6 {
			t.Fatalf("%s: %d rows are out, want at least %d", what, n, least)
		}
		if err := r.file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	noise := bytes.Repeat([]byte{0xa5}, blockSize)
	for cut := range 150 { // the line has about 110 bytes
		first, second := slices.Clone(before), slices.Clone(after)
		copy(first[blockSize:], after[blockSize:blockSize+cut])
		read("first copy", first, 5)
		copy(second[2*blockSize:], before[2*blockSize:])
		copy(second[2*blockSize:], after[2*blockSize:2*blockSize+cut])
		read("second copy", second, 6)
	}
	for _, at := range []int{1, 2} {
		bad := slices.Clone(after)
		copy(bad[at*blockSize:], noise)
		read("a bad sector", bad, 6)
	}
	for what, bad := range map[string][]byte{
		"both copies": slices.Concat(after[:blockSize], noise, noise), "head": slices.Concat(noise, after[blockSize:]),
		"short": after[:2*blockSize],
		"empty": nil, "foreign": []byte("hello"), "another head": slices.Concat(bytes.Replace(after[:blockSize],
			[]byte("test"), []byte("tent"), 1), after[blockSize:]),
	} {
		write(t, path, bad)
		if _, err := openRecord(path); !errors.Is(err, ErrState) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A JSON state, as versions before this format wrote it, is refused and left as it is.
func TestOtherFormatsAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	text := []byte(`{"format": "mafalda noise state 1", "key": "00", "node": "ann", "dim": 100, "issued": 3}` + "\n")
	write(t, path, text)
	_, err := OpenDurable(exported(t, dense(t)), "ann", 100, State{Path: path}, Options{})
	if !errors.Is(err, ErrState) {
		t.Errorf("OpenDurable = %v, want ErrState", err)
	}
	if left, err := os.ReadFile(path); err != nil || !bytes.Equal(left, text) {
		t.Errorf("the refused file is now %q, %v", left, err)
	}
}
