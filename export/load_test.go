package export

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mafalda/internal/npy"

	"gonum.org/v1/gonum/mat"
)

func TestLoadFindsDamage(t *testing.T) {
	for name, tc := range map[string]struct {
		damage   func(dir string) error
		fails    string // Load's error, or
		mismatch string // an entry of Mismatch
	}{
		"a bit flipped": {func(dir string) error {
			path := filepath.Join(dir, "C.npy")
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			b[len(b)-1] ^= 1
			return os.WriteFile(path, b, 0o666)
		}, "", "C.npy has another SHA-256"},
		"truncated":        {func(dir string) error { return os.Truncate(filepath.Join(dir, "C.npy"), 150) }, "truncated", ""},
		"missing matrix":   {func(dir string) error { return os.Remove(filepath.Join(dir, "C_inv.npy")) }, "neither C_inv.npy", ""},
		"missing nodes":    {func(dir string) error { return os.Remove(filepath.Join(dir, "nodes.csv")) }, "", "nodes.csv is missing"},
		"no manifest":      {func(dir string) error { return os.Remove(filepath.Join(dir, ManifestName)) }, "no export here", ""},
		"manifest is text": {func(dir string) error { return os.WriteFile(filepath.Join(dir, ManifestName), []byte("hello"), 0o666) }, "not a usable manifest", ""},
		"another size":     {func(dir string) error { return npyTo(filepath.Join(dir, "C.npy"), mat.NewDense(1, 1, nil)) }, "1×1 numbers for 2 steps", ""},
		"three dimensions": {func(dir string) error {
			var buf bytes.Buffer
			if err := npy.Write(&buf, []int{2, 2, 1}, make([]float64, 4)); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, "C.npy"), buf.Bytes(), 0o666)
		}, "C.npy: shape [2 2 1]", ""},
		"a folder": {func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "C.npy")), os.Mkdir(filepath.Join(dir, "C.npy"), 0o777))
		}, "C.npy is a folder: not a regular file", ""},
		"manifest is a folder": {func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, ManifestName)), os.Mkdir(filepath.Join(dir, ManifestName), 0o777))
		}, "not a regular file", ""},
		"empty file": {func(dir string) error { return os.Truncate(filepath.Join(dir, "C_inv.npy"), 0) }, "C_inv.npy", ""},
		"NaN inside": {func(dir string) error {
			return npyTo(filepath.Join(dir, "C.npy"), mat.NewDense(2, 2, []float64{1, 0, math.NaN(), 1}))
		}, "(1,0) is NaN", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			files := append([]File{{"nodes.csv", func(w io.Writer) error { _, err := io.WriteString(w, "index\n"); return err }}}, goodFiles...)
			if err := WriteDir(dir, manifest(2), files, WriteOptions{}); err != nil {
				t.Fatal(err)
			}
			if err := tc.damage(dir); err != nil {
				t.Fatal(err)
			}
			e, err := Load(dir)
			if tc.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tc.fails) || strings.Contains(err.Error(), "\n") {
					t.Errorf("error %v, want one with %q", err, tc.fails)
				}
				return
			}
			if err != nil || len(e.Mismatch) != 1 || !strings.Contains(e.Mismatch[0], tc.mismatch) {
				t.Errorf("%+v, %v; want a mismatch with %q", e, err, tc.mismatch)
			}
		})
	}
}

func TestExtraFilesAreListed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	if err := WriteDir(dir, manifest(2), goodFiles, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	e, err := Load(dir)
	if err != nil || len(e.Mismatch) != 0 || !slices.Equal(e.Extra, []string{"notes.txt"}) {
		t.Errorf("%+v, %v", e, err)
	}
	if err := e.CheckHashes(); err == nil || !strings.Contains(err.Error(), "notes.txt is not of the export") {
		t.Errorf("CheckHashes: %v", err)
	}
	if _, err := e.Read("notes.txt"); err == nil {
		t.Error("a file that is not of the export was read")
	}
}

// Who waits for the hash of a large file can end it.
func TestLoadEndsWithItsContext(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	if err := WriteDir(dir, manifest(2), goodFiles, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := LoadUntil(ctx, dir); err != nil {
		t.Error(err)
	}
	cancel()
	if _, err := LoadUntil(ctx, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %v", err)
	}
}

// Everything that differs is in one line.
func TestCheckHashes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	files := append([]File{Bytes("a", []byte("a")), Bytes("b", []byte("b"))}, goodFiles...)
	if err := WriteDir(dir, manifest(2), files, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	e := intact(t, dir)
	if b, err := e.Read("b"); err != nil || string(b) != "b" {
		t.Errorf("%q, %v", b, err)
	}
	err := errors.Join(os.Remove(filepath.Join(dir, "a")), os.WriteFile(filepath.Join(dir, "b"), []byte("c"), 0o666),
		os.WriteFile(filepath.Join(dir, "c"), nil, 0o666))
	if err != nil {
		t.Fatal(err)
	}
	if e, err = Load(dir); err != nil {
		t.Fatal(err)
	}
	want := dir + ": a is missing; b has another SHA-256 than the manifest; c is not of the export"
	if err := e.CheckHashes(); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// Two formats of one matrix must agree.
func TestLoadComparesFormats(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	files := append([]File{CSV("C.csv", inverseC)}, goodFiles...)
	if err := WriteDir(dir, manifest(2), files, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "different numbers") {
		t.Errorf("error %v", err)
	}
}

// A structured strategy needs no matrices, a dense one does.
func TestLoadParametersOnly(t *testing.T) {
	for class, fine := range map[string]bool{"banded": true, "dense": false} {
		dir, m := filepath.Join(t.TempDir(), "out"), manifest(2)
		m.Strategy.Class = class
		if err := WriteDir(dir, m, []File{Bytes("nodes.csv", nil)}, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		if e, err := Load(dir); (err == nil) != fine || (fine && (e.C != nil || e.Inverse != nil)) {
			t.Errorf("%s: %v", class, err)
		}
	}
}
