package verify_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"mafalda/accounting"
	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/verify"
)

// sharedExports are optima of networks whose nodes share noise.
func sharedExports(t testing.TB) map[string]exported {
	t.Helper()
	folder := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	on := func(network string, s plan.Sharing, o plan.Options) exported {
		n := must(graph.LoadNetwork(t.Context(), graph.NetworkOptions{Source: network}))
		return exported{network: graph.NetworkOptions{Source: network}, problem: plan.Problem{Sharing: must(s.Resolve(n))}, options: o}
	}
	private := &plan.Privacy{Target: accounting.Target{Epsilon: 30, Delta: 1e-5}}
	return map[string]exported{
		"path":       on("path:4", plan.Sharing{}, plan.Options{Privacy: private}),
		"complete":   on("complete:5", plan.Sharing{}, plan.Options{NoBaselines: true}),
		"coalitions": on("cycle:6", plan.Sharing{Coalitions: "2", Secrets: "all"}, plan.Options{}),
		"files": on("cycle:5", plan.Sharing{Coalitions: file("who", "0 1\n3\n"), Secrets: file("pairs", "0 1\n1 2\n3 4\n")},
			plan.Options{}),
		"banded":   on("path:4", plan.Sharing{}, plan.Options{Class: factorize.Banded{Bandwidth: 2}, NoBaselines: true}),
		"blt":      on("path:4", plan.Sharing{}, plan.Options{Class: factorize.BLT{Buffers: 2}, NoBaselines: true}),
		"toeplitz": on("hypercube:2", plan.Sharing{}, plan.Options{Class: factorize.Toeplitz{}, NoBaselines: true}),
		"poisson": on("path:4", plan.Sharing{}, plan.Options{Class: factorize.Banded{Bandwidth: 2}, Privacy: private,
			Sampling: participation.Poisson}),
	}
}

// A search that stalled has ended, too: its export is no worse for saying so.
func TestVerifyOfAStalledSearch(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	sharedExports(t)["banded"].save(t, dir)
	name := filepath.Join(dir, "manifest.json")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	stalled := regexp.MustCompile(`"status": *"[a-z ]*"`).ReplaceAll(text, []byte(`"status": "stalled"`))
	if err := os.WriteFile(name, stalled, 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := verified(t, dir, verify.NetworkFiles{}); err != nil || !r.OK() || !bytes.Contains(stalled, []byte("stalled")) {
		t.Errorf("%v, %+v", err, r.Failures())
	}
}

// What is said of shared noise cannot be changed without notice where last digits are not checked, nor can a standard
// deviation, also where the hashes of the files are made to fit.
func TestVerifyNoticesSharedNumbers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	sharedExports(t)["path"].save(t, dir)
	_, manifest := readGeneric(t, dir)
	for _, key := range []string{"gap_space", "gap_time"} { // those whose last digits are not checked
		space := manifest["space"].(map[string]any)
		for _, to := range []any{0, 1e-11, 0.5} {
			was := space[key]
			space[key] = to
			writeGeneric(t, dir, manifest)
			space[key] = was
			if r, err := verified(t, dir, verify.NetworkFiles{}); err != nil || r.OK() {
				t.Errorf("%s of %v is not noticed: %v", key, to, err)
			}
		}
	}
	for _, key := range []string{"ldp_loss", "joint_lower_bound"} {
		was := manifest[key]
		for _, by := range []float64{1.001, 0.999} {
			manifest[key] = must(strconv.ParseFloat(string(was.(json.Number)), 64)) * by
			writeGeneric(t, dir, manifest)
			if r, err := verified(t, dir, verify.NetworkFiles{}); err != nil || r.OK() {
				t.Errorf("%s times %v is not noticed: %v", key, by, err)
			}
		}
		manifest[key] = was
	}
	for _, name := range []string{"nodes.csv", "pairs.csv"} {
		tamperDeviations(t, dir, name, manifest)
	}
}

// tamperDeviations changes every standard deviation of a file, and its hash with it.
func tamperDeviations(t *testing.T, dir, name string, manifest map[string]any) {
	t.Helper()
	path := filepath.Join(dir, name)
	text := must(os.ReadFile(path))
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	files := manifest["files"].(map[string]any)
	for i := 1; i < len(lines); i++ {
		cut := strings.LastIndex(lines[i], ",") + 1
		was := must(strconv.ParseFloat(lines[i][cut:], 64))
		for _, by := range []float64{0, 1 - 1e-6, 1 + 1e-6, 2} {
			line := lines[i][:cut] + strconv.FormatFloat(was*by, 'g', -1, 64)
			changed := bytes.Replace(text, []byte(lines[i]), []byte(line), 1)
			hash, sum := files[name], sha256.Sum256(changed)
			files[name] = hex.EncodeToString(sum[:])
			if err := os.WriteFile(path, changed, 0o600); err != nil {
				t.Fatal(err)
			}
			writeGeneric(t, dir, manifest)
			files[name] = hash
			if r, err := verified(t, dir, verify.NetworkFiles{}); err == nil && r.OK() {
				t.Errorf("%s: %q instead of %q is not noticed", name, line, lines[i])
			}
		}
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
