package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mafalda/cmd/internal/grids"
	"mafalda/study"
)

// gridOf returns a grid of cells that an account of four nodes has, which keeps results in a map, and its folder.
func gridOf(t *testing.T) (*grids.Grid, map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile("g.edges", []byte("a b\nb c\nc d\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	made := map[string]string{}
	g := &grids.Grid{Work: &study.Work{Total: 5}, Command: []string{"account"}, Workers: 1, Says: new(bytes.Buffer),
		Progress: func(int, int) {}, Flags: []grids.Flag{{Name: "graph", Value: "g.edges", Paths: []string{"g.edges"}},
			{Name: "T", Value: "3"}, {Name: "attacker", Value: "all"}}}
	j := &job{Command: g.Command, Flags: g.Flags}
	w, err := j.open(t.Context(), t.TempDir())
	if w != nil || err == nil {
		t.Fatalf("without its inputs: %v", err)
	}
	content, err := os.ReadFile("g.edges")
	if err != nil {
		t.Fatal(err)
	}
	j.Inputs = []input{{"g.edges", []file{{".", sum(content), content}}}}
	if _, err := j.open(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "the same study") {
		t.Fatalf("with no key: %v", err)
	}
	g.Cells = []json.RawMessage{json.RawMessage(`{"attacker":["a"]}`), json.RawMessage(`{"attacker":["b"]}`),
		json.RawMessage(`{"attacker":["c"]}`), json.RawMessage(`{"attacker":["nobody"]}`)}
	g.Keep = func(_ context.Context, cell, result json.RawMessage) error {
		if made[string(cell)] != "" {
			t.Errorf("%s is kept twice", cell)
		}
		made[string(cell)] = string(result)
		return nil
	}
	g.Fail = func(cell json.RawMessage, because error) error {
		made[string(cell)] = "failed: " + because.Error()
		return nil
	}
	return g, made
}

// keyOf returns the key of the study that a worker makes.
func keyOf(t *testing.T, g *grids.Grid) study.Key {
	t.Helper()
	key := make(chan study.Key, 1)
	take := takes(func(of *grids.Grid) { key <- of.Key })
	var out bytes.Buffer
	args := grids.WordsAt(g.Command, g.Flags, map[string]string{"g.edges": "g.edges"})
	root := Commands(&grids.Runner{Words: args[1:], Engine: take})[0]
	root.SetArgs(args[1:])
	root.SetOut(&out)
	root.SetErr(&out)
	root.SilenceErrors, root.SilenceUsage = true, true
	_ = root.ExecuteContext(t.Context()) // ends without results
	return <-key
}

type takes func(*grids.Grid)

func (f takes) Compute(_ context.Context, g *grids.Grid) error { f(g); return errTaken }

// Workers get the job by the network, once the files are gone; a cell that fails is told, and not computed again; a
// second answer does nothing, as nothing does once the command has been stopped.
func TestDesk(t *testing.T) {
	g, made := gridOf(t)
	g.Key = keyOf(t, g)
	content, hash, err := pack(g)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove("g.edges"); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	d, err := openDesk(ctx, "127.0.0.1:0", content, g)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	f := &computeFn{Desk: errand{d.url, d.token}, Job: hash}
	var done []string
	for i := range 2 {
		for _, cell := range g.Cells[:4] {
			if i > 0 || string(cell) != string(g.Cells[2]) {
				err := f.ProcessElement(t.Context(), string(cell), func(c string) { done = append(done, c) })
				if err != nil {
					t.Error(err)
				}
			}
		}
		if i == 0 {
			stop()
		}
	}
	if len(made) != 3 || len(done) != 3 || d.done != 4 {
		t.Errorf("%v, %v, %d", made, done, d.done)
	}
	for _, cell := range g.Cells[:2] {
		if !strings.HasPrefix(made[string(cell)], `{"attacker":`) {
			t.Errorf("%s: %s", cell, made[string(cell)])
		}
	}
	if failed := d.outcome(); failed == nil || !strings.Contains(failed.Error(), "no node nobody") {
		t.Error(failed)
	}
	if err := f.Desk.bring(t.Context(), answer{Cell: g.Cells[0], Result: json.RawMessage(`1`)}); err != nil {
		t.Error(err)
	}
	strange := errand{d.url, "a guess"}
	if _, err := strange.job(t.Context()); err == nil || !strings.Contains(err.Error(), "who are you?") {
		t.Error(err)
	}
	for path, method := range map[string]string{"/": http.MethodGet, "/answers": http.MethodPost} {
		if _, _, err := f.Desk.do(t.Context(), method, path, []byte("{")); err == nil {
			t.Errorf("%s %s is fine", method, path)
		}
	}
}

// What a job holds comes out as it went in, in folders that bear the same names; what has been changed does not.
func TestJob(t *testing.T) {
	g, _ := gridOf(t)
	for _, name := range []string{"data/x/deep.txt", "data/top.txt"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	g.Flags = append(g.Flags, grids.Flag{Name: "data", Value: "./data/", Paths: []string{"./data/"}}, g.Flags[0])
	content, hash, err := pack(g)
	if err != nil {
		t.Fatal(err)
	}
	j, err := unpack(content, hash)
	if err != nil || len(j.Inputs) != 2 || !reflect.DeepEqual(j.Flags, g.Flags) || j.Key != g.Key.String() {
		t.Fatalf("%+v, %v", j, err)
	}
	if _, again, err := pack(g); again != hash || err != nil {
		t.Errorf("another hash of the same job: %v", err)
	}
	places, err := j.place(t.TempDir())
	if err != nil || filepath.Base(places["./data/"]) != "data" || filepath.Base(places["g.edges"]) != "g.edges" {
		t.Fatalf("%v, %v", places, err)
	}
	if text, err := os.ReadFile(filepath.Join(places["./data/"], "x", "deep.txt")); string(text) != "data/x/deep.txt" {
		t.Errorf("%s, %v", text, err)
	}
	changed := slices.Clone(content)
	changed[len(changed)/2]++
	if _, err := unpack(changed, hash); err == nil {
		t.Error("a changed job is unpacked")
	}
	for _, name := range []string{"../out", "/out"} {
		j.Inputs[1].Files[0].Name = name
		if _, err := j.place(t.TempDir()); err == nil {
			t.Errorf("a file is written to %s", name)
		}
	}
	j.Inputs = []input{{"..", nil}, {"../..", nil}}
	root := t.TempDir()
	if places, err := j.place(root); err != nil || places[".."] != filepath.Join(root, "0") || places["../.."] != filepath.Join(root, "1") {
		t.Errorf("folders above: %v, %v", places, err)
	}
	g.Flags = []grids.Flag{{Name: "data", Paths: []string{os.DevNull}}}
	if _, _, err := pack(g); err == nil || !strings.Contains(err.Error(), "--data: "+os.DevNull+" is no regular file") {
		t.Error(err)
	}
	g.Flags[0].Paths[0] = "gone"
	if _, _, err := pack(g); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// What a worker and the program say to each other passes no proxy.
func TestNoProxy(t *testing.T) {
	if transport, ok := direct().Transport.(*http.Transport); !ok || transport.Proxy != nil {
		t.Errorf("%+v", direct().Transport)
	}
}

// A worker of another version says so.
func TestMixedVersions(t *testing.T) {
	g, _ := gridOf(t)
	content, _, err := encodeJob(&job{Version: "another", Key: g.Key.String()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unpack(content, sum(content)); err == nil || !strings.Contains(err.Error(), "mixed versions") {
		t.Error(err)
	}
}

// All cells are dealt, each once.
func TestDeal(t *testing.T) {
	var cells []json.RawMessage
	for i := range 7 {
		cells = append(cells, json.RawMessage{byte('0' + i)})
	}
	for _, test := range []struct{ jobs, parts int }{{0, 1}, {1, 1}, {3, 3}, {20, 7}} {
		parts := (&Engine{Jobs: test.jobs}).deal(cells)
		all := slices.Sorted(slices.Values(slices.Concat(parts...)))
		if len(parts) != test.parts || strings.Join(all, "") != "0123456" {
			t.Errorf("%d jobs: %v", test.jobs, parts)
		}
	}
}

// A worker makes studies of commands that compute in shards, with flags that say what is computed: it writes nothing.
func TestWorkerRunsNothingForeign(t *testing.T) {
	other := filepath.Join(t.TempDir(), "other")
	for _, j := range []*job{
		{Command: []string{"account"}, Flags: []grids.Flag{{Name: "graph", Value: "cycle:4"}, {Name: "output", Value: other}}},
		{Command: []string{"account"}, Flags: []grids.Flag{{Name: "force", Value: "true"}}},
		{Command: []string{"submit", "--yes"}}, {Command: []string{"workers"}}, {},
	} {
		if _, err := j.open(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "the job: it holds") {
			t.Errorf("%v: %v", j.Command, err)
		}
	}
	if _, err := os.Stat(other); err == nil {
		t.Error("a worker has written a folder")
	}
}
