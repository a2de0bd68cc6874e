package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"mafalda/internal/files"

	"gonum.org/v1/gonum/mat"
)

func TestRoundTrip(t *testing.T) {
	for name, files := range map[string][]File{
		"npy":  goodFiles,
		"csv":  {CSV("C.csv", matrixC), CSV("C_inv.csv", inverseC)},
		"both": append([]File{CSV("C.csv", matrixC), CSV("C_inv.csv", inverseC)}, goodFiles...),
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "deep", "out")
			if err := CheckTarget(dir, WriteOptions{}); err != nil {
				t.Fatal(err)
			}
			if err := WriteDir(dir, manifest(2), files, WriteOptions{}); err != nil {
				t.Fatal(err)
			}
			e, err := Load(dir)
			if err != nil || len(e.Mismatch) > 0 || !mat.Equal(e.C, matrixC) || !mat.Equal(e.Inverse, inverseC) || e.Manifest.Loss != 2 {
				t.Errorf("%+v, %v", e, err)
			}
			if got := names(t, filepath.Dir(dir)); !slices.Equal(got, []string{"out"}) {
				t.Errorf("left behind: %v", got)
			}
		})
	}
}

func TestForce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := WriteDir(dir, manifest(2), goodFiles, WriteOptions{}); err != nil {
		t.Fatalf("into an empty folder: %v", err)
	}
	changed := manifest(2)
	changed.Loss = 7
	for _, check := range []func() error{
		func() error { return CheckTarget(dir, WriteOptions{}) },
		func() error { return WriteDir(dir, changed, goodFiles, WriteOptions{}) },
	} {
		if err := check(); !errors.Is(err, ErrExists) ||
			!errors.As(err, new(*files.ExistsError)) || err.Error() != dir+": exists already with an export" {
			t.Errorf("over an export: %v", err)
		}
	}
	if err := WriteDir(dir, changed, goodFiles, WriteOptions{Force: true}); err != nil {
		t.Fatal(err)
	}
	if e, err := Load(dir); err != nil || e.Manifest.Loss != 7 {
		t.Errorf("%v", err)
	}
	if got := names(t, filepath.Dir(dir)); !slices.Equal(got, []string{"out"}) {
		t.Errorf("left behind: %v", got)
	}
}

// Whatever goes wrong, the folder stays as it was and nothing is left beside it.
func TestFailuresLeaveNothing(t *testing.T) {
	full := errors.New("no space left on device")
	half := File{"C_inv.npy", func(w io.Writer) error {
		if _, err := w.Write([]byte("half")); err != nil {
			return err
		}
		return full
	}}
	nan := manifest(2)
	nan.Baselines = map[string]Baseline{"antipgd": {Loss: math.NaN()}}
	for name, tc := range map[string]struct {
		m     *Manifest
		files []File
		say   string
	}{
		"disk full":        {manifest(2), []File{NPY("C.npy", matrixC), half}, "C_inv.npy: no space"},
		"NaN":              {nan, goodFiles, "baselines.antipgd.loss is NaN"},
		"NaN in a matrix":  {manifest(2), []File{goodFiles[0], NPY("C_inv.npy", mat.NewDense(1, 1, []float64{math.NaN()}))}, "entry (0,0) is NaN"},
		"canceled":         {manifest(2), []File{goodFiles[0], {"C_inv.npy", func(io.Writer) error { return context.Canceled }}}, "context canceled"},
		"outside":          {manifest(2), []File{NPY("../C.npy", matrixC)}, "cannot be a file"},
		"manifest as file": {manifest(2), []File{NPY(ManifestName, matrixC)}, "cannot be a file"},
		"one file twice":   {manifest(2), []File{NPY("C.npy", matrixC), NPY("C.npy", matrixC)}, "exists"},
	} {
		for _, existing := range []bool{false, true} {
			t.Run(fmt.Sprint(name, existing), func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "out")
				if existing {
					if err := WriteDir(dir, manifest(2), goodFiles, WriteOptions{}); err != nil {
						t.Fatal(err)
					}
				}
				err := WriteDir(dir, tc.m, tc.files, WriteOptions{Force: true})
				if err == nil || !strings.Contains(err.Error(), tc.say) {
					t.Errorf("error %v, want one with %q", err, tc.say)
				}
				if existing {
					if e, err := Load(dir); err != nil || len(e.Mismatch) > 0 {
						t.Errorf("the old export is damaged: %v", err)
					}
				}
				if got := names(t, filepath.Dir(dir)); len(got) > 1 || (!existing && len(got) > 0) {
					t.Errorf("left behind: %v", got)
				}
			})
		}
	}
}

// Writers that race for one folder leave one whole export.
func TestConcurrentWriters(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { _ = WriteDir(dir, manifest(2), goodFiles, WriteOptions{Force: true}) })
	}
	wg.Wait()
	if e, err := Load(dir); err != nil || len(e.Mismatch) > 0 {
		t.Errorf("%v", err)
	}
}

// A writer that panics leaves nothing either.
func TestPanicLeavesNothing(t *testing.T) {
	base := t.TempDir()
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_ = WriteDir(filepath.Join(base, "deep", "out"), manifest(2), []File{{"a", func(io.Writer) error { panic("bug") }}}, WriteOptions{})
	}()
	only(t, base)
}

// Folders made above the target go again with it, those that were there stay.
func TestMissingParents(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "a", "b", "out")
	full := File{"C.npy", func(io.Writer) error { return errors.New("no space left on device") }}
	if err := WriteDir(dir, manifest(2), []File{full}, WriteOptions{}); err == nil {
		t.Fatal("no error")
	}
	only(t, base)
	if err := CheckTarget(dir, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	only(t, base)
	if err := os.Mkdir(filepath.Join(base, "a"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := CheckTarget(dir, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	only(t, base, "a")
}

// A failed write leaves the caller's manifest as it was, a successful one fills in the hashes.
func TestManifestIsFilledIn(t *testing.T) {
	base, m := t.TempDir(), manifest(2)
	bad := File{"b", func(io.Writer) error { return io.ErrShortWrite }}
	if err := WriteDir(filepath.Join(base, "out"), m, []File{Bytes("a", nil), bad}, WriteOptions{}); err == nil || m.Files != nil {
		t.Errorf("%v, files %v", err, m.Files)
	}
	err := WriteDir(filepath.Join(base, "out"), m, []File{Bytes("a", nil)}, WriteOptions{})
	const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" // FIPS 180-4: of no bytes
	if err != nil || m.Files["a"] != empty {
		t.Errorf("%v, files %v", err, m.Files)
	}
}

// A file that comes to the target during the computation is an error without Force, also in a folder that was empty.
func TestTargetIsCheckedAgain(t *testing.T) {
	for name, there := range map[string]bool{"missing": false, "empty": true} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			if there {
				if err := os.Mkdir(dir, 0o777); err != nil {
					t.Fatal(err)
				}
			}
			first := manifest(2)
			first.Loss = 7
			late := File{"nodes.csv", func(io.Writer) error { return WriteDir(dir, first, goodFiles, WriteOptions{}) }}
			err := WriteDir(dir, manifest(2), append([]File{late}, goodFiles...), WriteOptions{})
			if !errors.Is(err, ErrExists) {
				t.Errorf("error %v", err)
			}
			if e := intact(t, dir); e.Manifest.Loss != 7 {
				t.Error("the first export was replaced")
			}
			only(t, filepath.Dir(dir), "out")
		})
	}
}

// The same between the last check and the replacement.
func TestReplaceMeetsAnotherTarget(t *testing.T) {
	for state, name := range map[targetState]string{missing: "missing", emptyFolder: "empty"} {
		t.Run(name, func(t *testing.T) {
			dir, tmp := export(t), export(t)
			if err := replace(tmp, target{dir, state}); err == nil {
				t.Error("an export was replaced by what expected none")
			}
			intact(t, dir)
			intact(t, tmp)
		})
	}
}

// A file that came to an export while it was replaced is not removed with it.
func TestForeignFileIsKept(t *testing.T) {
	for name, add := range map[string]func(dir string) error{
		"a file":   func(dir string) error { return os.WriteFile(filepath.Join(dir, "thesis.tex"), nil, 0o666) },
		"a folder": func(dir string) error { return os.Mkdir(filepath.Join(dir, "thesis.tex"), 0o777) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := export(t)
			if err := add(dir); err != nil {
				t.Fatal(err)
			}
			if err := removeExport(dir); err == nil || !strings.Contains(err.Error(), "thesis.tex") {
				t.Errorf("error %v", err)
			}
			only(t, dir, "C.npy", "C_inv.npy", ManifestName, "thesis.tex")
		})
	}
	dir := export(t)
	if err := removeExport(dir); err != nil {
		t.Error(err)
	}
	only(t, filepath.Dir(dir))
}

// Without force, one of racing writers wins and keeps what it wrote.
func TestConcurrentWritersWithoutForce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		m := manifest(2)
		m.Loss = float64(i + 1)
		wg.Go(func() { errs[i] = WriteDir(dir, m, goodFiles, WriteOptions{}) })
	}
	wg.Wait()
	winner := intact(t, dir).Manifest.Loss
	for i, err := range errs {
		if (float64(i+1) == winner) != (err == nil) {
			t.Errorf("writer %d of %v: %v", i+1, winner, err)
		}
	}
	only(t, filepath.Dir(dir), "out")
}
