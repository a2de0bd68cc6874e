package noise

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mafalda/internal/npy"
)

// drawn returns the next count rows of seeded noise in a format, 0 for all, as they go to a stream of bytes.
func drawn(t *testing.T, dir string, count int, f Format) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := drawing(t, dir, count, f).ToStream(&out, false); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func drawing(t *testing.T, dir string, count int, f Format) *Drawing {
	t.Helper()
	seed := uint64(3)
	s, err := Open(dir, "ann", 7, Options{Seed: &seed})
	if err != nil {
		t.Fatal(err)
	}
	d, err := Draw(s, count, f)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The formats hold the same rows, of single precision rounded, and a file holds what a stream does.
func TestFormats(t *testing.T) {
	dir := exported(t, dense(t))
	raw := drawn(t, dir, 0, Raw64)
	if len(raw) != 8*steps*7 {
		t.Fatalf("%d bytes", len(raw))
	}
	if whole := drawn(t, dir, 0, NPY); !bytes.HasSuffix(whole, raw) {
		t.Error("npy has other numbers")
	}
	for i, single := 0, drawn(t, dir, 0, Raw32); i < steps*7; i++ {
		v := math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
		if got := math.Float32frombits(binary.LittleEndian.Uint32(single[4*i:])); got != float32(v) {
			t.Fatalf("number %d is %v, rounded %v", i, v, got)
		}
	}
	for _, name := range Formats() {
		f, err := ParseFormat(name)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "rows")
		d := drawing(t, dir, 5, f)
		made := 0
		d.Progress = func(done, total int) {
			if made++; done != made || total != 5 {
				t.Errorf("%d of %d rows, after %d", done, total, made-1)
			}
		}
		if err := d.ToFile(t.Context(), path, false); err != nil || made != 5 {
			t.Fatal(made, err)
		}
		content, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(content, drawn(t, dir, 5, f)) {
			t.Errorf("%s: the file has other rows, %v", name, err)
		}
		text, err := os.ReadFile(AboutPath(path))
		var a About
		sum := sha256.Sum256(content)
		if err := errors.Join(err, json.Unmarshal(text, &a)); err != nil || a.SHA256 != hex.EncodeToString(sum[:]) ||
			a.Rows != 5 || a.FirstRow != 0 || a.Format != f || *a.Seed != 3 || a.Private || a.Node != "ann" || a.Dim != 7 {
			t.Errorf("%s: %s, %v", name, text, err)
		}
		if d.String() != `rows 0..4 of 0..11 of "ann"` {
			t.Errorf("%v", d)
		}
		if err := CheckFile(path, false); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: over a file: %v", name, err)
		}
	}
	if f, err := ParseFormat("csv"); err == nil || !strings.Contains(err.Error(), "npy, raw64 or raw32") {
		t.Errorf("%s, %v", f, err)
	}
}

// More rows than there are, and none, are refused before anything is drawn.
func TestDraw(t *testing.T) {
	s, err := Open(exported(t, dense(t)), "ann", 100, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var left *LeftError
	if _, err := Draw(s, steps+1, NPY); !errors.As(err, &left) || left.Left != steps || s.Step() != 0 {
		t.Errorf("%v", err)
	}
	read(t, s.Next, steps)
	if _, err := Draw(s, 0, NPY); !errors.As(err, &left) || left.Left != 0 {
		t.Errorf("%v", err)
	}
}

// An interruption leaves no file, and the same rows come again; what could not be written after the state says that it
// is out is lost, and named.
func TestDrawingsThatEnd(t *testing.T) {
	dir, path, _ := begun(t, 1)
	rows := filepath.Join(t.TempDir(), "rows.npy")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	d := reopen(t, dir, State{Path: path})
	half, err := Draw(d, 2, NPY)
	if err != nil {
		t.Fatal(err)
	}
	if err := half.ToFile(ended, rows, false); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if there, err := os.ReadDir(filepath.Dir(rows)); err != nil || len(there) != 0 {
		t.Errorf("%v, %v", there, err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	d = reopen(t, dir, State{Path: path})
	if half, err = Draw(d, 2, NPY); err != nil || d.Step() != 1 {
		t.Fatalf("row %d is next, %v", d.Step(), err)
	}
	if err := half.ToFile(t.Context(), rows, false); err != nil {
		t.Error(err)
	}
	if a, err := npy.ReadFile(rows); err != nil || !slices.Equal(a.Shape, []int{2, 3}) {
		t.Errorf("%v, %v", a.Shape, err)
	}
	rest, err := Draw(d, 0, Raw64)
	if err != nil {
		t.Fatal(err)
	}
	var lost *LostError
	if err := rest.ToStream(fullDisk{}, false); !errors.As(err, &lost) || !errors.Is(err, ErrLost) || !errors.Is(err, errFull) ||
		lost.First != 3 || lost.Last != 3 || !strings.Contains(err.Error(), "leave step 3 out") {
		t.Errorf("%v", err)
	}
}

var errFull = errors.New("no space left")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }
