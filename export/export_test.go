package export

import (
	"bytes"
	"encoding/json"
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

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

func manifest(steps int) *Manifest {
	return &Manifest{Version: "test", Workload: "model", Steps: steps, Participation: Participation{"single", 1, steps},
		Strategy: Strategy{Class: "dense"}, SensSquared: 1, SensKind: "exact", SquaredError: 2, Loss: 2, RMSE: 1, LowerBound: 1.9,
		Gap: 0.1, Tolerance: 0.1, Status: "converged", Graph: &Graph{Source: "cycle:5", Nodes: 5, Edges: 5, Gossip: "uniform"}}
}

var (
	matrixC   = mat.NewDense(2, 2, []float64{1, 0, 0.1, 1.0 / 3})
	inverseC  = mat.NewDense(2, 2, []float64{1, 0, -0.3, 3})
	goodFiles = []File{NPY("C.npy", matrixC), NPY("C_inv.npy", inverseC)}
)

func names(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

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

// Text keeps every bit of every number.
func TestCSVKeepsBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.Float64(), 4, 4).Draw(t, "data")
		for i, v := range data {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				data[i] = 0
			}
		}
		var buf bytes.Buffer
		if err := CSV("C.csv", mat.NewDense(2, 2, data)).Write(&buf); err != nil {
			t.Fatal(err)
		}
		got, err := (&Export{Manifest: manifest(2)}).parseCSV("C.csv", buf.Bytes())
		if err != nil || !slices.Equal(got.RawMatrix().Data, data) {
			t.Fatalf("%v came back as %v, %v", data, got, err)
		}
	})
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
		if err := check(); !errors.Is(err, ErrExists) || !strings.Contains(err.Error(), "--force") {
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

func TestTargetsRefused(t *testing.T) {
	base := t.TempDir()
	file := filepath.Join(base, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(base, "foreign")
	if err := os.Mkdir(foreign, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(foreign, "thesis.tex"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	mixed := filepath.Join(base, "mixed")
	if err := WriteDir(mixed, manifest(2), goodFiles, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(mixed, "notes.txt"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for dir, say := range map[string]string{
		file:                       "not a folder",
		filepath.Join(file, "out"): "not a directory",
		foreign:                    "not an export",
		mixed:                      "notes.txt",
		".":                        "current folder",
		"..":                       "current folder",
	} {
		for _, err := range []error{CheckTarget(dir, WriteOptions{Force: true}),
			WriteDir(dir, manifest(2), goodFiles, WriteOptions{Force: true})} {
			if err == nil || !strings.Contains(err.Error(), say) {
				t.Errorf("%s: error %v, want one with %q", dir, err, say)
			}
		}
	}
	if got := names(t, mixed); !slices.Contains(got, "notes.txt") {
		t.Error("somebody's notes are gone")
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

func TestExchangeByRenames(t *testing.T) {
	base := t.TempDir()
	a, b := filepath.Join(base, "a"), filepath.Join(base, "b")
	for _, d := range []string{a, b} {
		if err := os.Mkdir(d, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d, filepath.Base(d)), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := exchangeByRenames(a, b); err != nil || names(t, a)[0] != "b" || names(t, b)[0] != "a" {
		t.Errorf("%v", err)
	}
	if err := exchangeByRenames(filepath.Join(base, "missing"), b); err == nil || names(t, b)[0] != "a" {
		t.Errorf("a failed exchange: %v", err)
	}
}

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
		"another size":     {func(dir string) error { return NPYTo(filepath.Join(dir, "C.npy"), mat.NewDense(1, 1, nil)) }, "1×1 numbers for 2 steps", ""},
		"NaN inside": {func(dir string) error {
			return NPYTo(filepath.Join(dir, "C.npy"), mat.NewDense(2, 2, []float64{1, 0, math.NaN(), 1}))
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

// NPYTo overwrites a file with a matrix.
func NPYTo(path string, m mat.Matrix) error {
	var buf bytes.Buffer
	if err := NPY("", m).Write(&buf); err != nil {
		return err
	}
	return os.WriteFile(path, buf.Bytes(), 0o666)
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
	if _, err := e.Read("notes.txt"); err == nil {
		t.Error("a file that is not of the export was read")
	}
}

func TestManifestJSON(t *testing.T) {
	m := manifest(2)
	m.Files = map[string]string{"C.npy": "ab"}
	m.Loss = 0.1 + 0.2
	var buf bytes.Buffer
	if err := m.WriteJSON(&buf); err != nil {
		t.Fatal(err)
	}
	var keys map[string]any
	if err := json.Unmarshal(buf.Bytes(), &keys); err != nil {
		t.Fatal(err)
	}
	for _, absent := range []string{"privacy", "baselines", "peak_bytes"} {
		if _, there := keys[absent]; there {
			t.Errorf("%s does not apply, but is there", absent)
		}
	}
	if _, there := keys["graph"].(map[string]any)["sha256"]; there {
		t.Error("graph.sha256 does not apply, but is there")
	}
	back, err := ReadManifest(&buf)
	if err != nil || back.Loss != m.Loss {
		t.Errorf("loss %v came back as %v, %v", m.Loss, back, err)
	}
	for name, text := range map[string]string{
		"empty":      "",
		"cut":        `{"steps": 3`,
		"two":        `{} {}`,
		"no steps":   `{"workload":"model"}`,
		"path":       `{"workload":"model","steps":1,"participation":{"k":1,"b":1},"strategy":{"class":"dense"},"loss":1,"sens_squared":1,"lower_bound":1,"files":{"../x":"00"}}`,
		"no files":   `{"workload":"model","steps":1,"participation":{"k":1,"b":1},"strategy":{"class":"dense"},"loss":1,"sens_squared":1,"lower_bound":1}`,
		"no bound":   `{"workload":"model","steps":1,"participation":{"k":1,"b":1},"strategy":{"class":"dense"},"loss":1,"sens_squared":1,"files":{"x":"00"}}`,
		"wrong type": `{"steps":"many"}`,
	} {
		if _, err := ReadManifest(strings.NewReader(text)); !errors.Is(err, ErrManifest) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestWriteFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.mtx")
	text := func(s string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
	}
	if err := WriteFile(path, text("one"), false); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(path, text("two"), false); !errors.Is(err, ErrExists) {
		t.Errorf("over a file: %v", err)
	}
	if err := WriteFile(path, func(w io.Writer) error { return errors.Join(text("half")(w), io.ErrShortWrite) }, true); err == nil {
		t.Error("a failing writer succeeded")
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "one" || len(names(t, filepath.Dir(path))) != 1 {
		t.Errorf("%q, %v, %v", b, err, names(t, filepath.Dir(path)))
	}
	if err := WriteFile(path, text("two"), true); err != nil {
		t.Error(err)
	}
	if err := WriteFile(filepath.Dir(path), text("x"), true); err == nil {
		t.Error("a folder was replaced by a file")
	}
}

func ExampleWriteDir() {
	base, err := os.MkdirTemp("", "mafalda")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(base)
	dir := filepath.Join(base, "out")
	if err := WriteDir(dir, manifest(2), goodFiles, WriteOptions{}); err != nil {
		panic(err)
	}
	e, err := Load(dir)
	fmt.Println(e.C.At(1, 0), len(e.Mismatch), err)
	// Output: 0.1 0 <nil>
}
