package commands

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"mafalda/export"
	"mafalda/noise"
)

var poisson = []string{"--graph", "florentine", "--T", "40", "-k", "4", "--sampling", "poisson", "--epsilon", "8",
	"--delta",
	"1e-6"}

// Keys that scripts rely on, and what belongs together.
func TestOptimizePoisson(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	m := optimizeJSON(t, append(poisson, "--clip", "2", "-o", dir)...)
	s, p := m.Sampling, m.Privacy
	if s == nil || s.Scheme != "poisson" || s.Groups != m.Strategy.Bandwidth || s.Rounds != (40+s.Groups-1)/s.Groups ||
		s.Probability != float64(s.Groups)/10 || len(s.Candidates) < 2 || m.Participation.K != 4 ||
		m.Participation.B != 10 ||
		*s.Epsilon > 8 || !near(m.Gap, m.ErrorAtPrivacy/s.LowerBound-1, 1e-12) || *s.EpsilonLower < 7.97 || s.Delta != 1e-6 || m.Baselines != nil {
		t.Fatalf("%+v", s)
	}
	if p.Mu != 0 || *p.Epsilon != 8 || !near(p.NoiseStd, 2*s.NoiseMultiplier, 1e-15) || m.SensSquared > 1 ||
		!near(m.ErrorAtPrivacy, s.NoiseMultiplier*s.NoiseMultiplier*m.SquaredError, 1e-14) {
		t.Errorf("%+v, error at privacy %v", p, m.ErrorAtPrivacy)
	}
	cyclic := optimizeJSON(t, "--graph", "florentine", "--T", "40", "-k", "4", "--epsilon", "8", "--delta", "1e-6")
	if text, _ := json.Marshal(cyclic.Sampling); string(text) != `{"scheme":"cyclic"}` ||
		!near(cyclic.ErrorAtPrivacy, m.CyclicErrorAtPrivacy, 2e-6) ||
		cyclic.ErrorAtPrivacy != cyclic.CyclicErrorAtPrivacy ||
		m.ErrorAtPrivacy > cyclic.ErrorAtPrivacy {
		t.Errorf("in turn: %s, %v and %v", text, cyclic.ErrorAtPrivacy, m.CyclicErrorAtPrivacy)
	}
	banded := optimizeJSON(t, "--graph", "florentine", "--T", "40", "-k", "1", "--strategy", "banded", "--strategy",
		"bandwidth="+strconv.Itoa(s.Groups))
	if !near(m.Loss, banded.Loss, 2e-6) || !near(m.LowerBound, banded.LowerBound, 2e-6) || banded.Sampling != nil ||
		banded.ErrorAtPrivacy != 0 {
		t.Errorf("loss %v and bound %v, for a single participation %v and %v", m.Loss, m.LowerBound, banded.Loss, banded.LowerBound)
	}
	one := optimizeJSON(t, append(poisson, "--strategy", "bandwidth=1")...)
	if len(one.Sampling.Candidates) != 1 || one.Sampling.Groups != 1 || one.ErrorAtPrivacy < m.ErrorAtPrivacy {
		t.Errorf("one band: %+v", one.Sampling)
	}
	usePoisson(t, dir, m)
}

// usePoisson holds what others do with an export for batches in secret: not what they cannot stand for.
func usePoisson(t *testing.T, dir string, m export.Manifest) {
	t.Helper()
	if code, out, errs := mafalda("verify", dir); code != 0 || !strings.Contains(out, "ok      candidates") {
		t.Errorf("verify: code %d\n%s%s", code, out, errs)
	}
	if code, _, errs := mafalda("optimize", "--graph", "florentine", "--T", "40", "-k", "4", "--start", dir,
		"--no-baselines"); code != 0 {
		t.Errorf("start: code %d, %s", code, errs)
	}
	if code, _, errs := mafalda("noise", dir, "--node", "Medici", "--dim", "2", "--seed", "1"); code != 0 {
		t.Errorf("noise: code %d, %s", code, errs)
	}
	noiseOfPoisson(t, dir)
	auditContradiction(t, dir, m.Sampling.Probability)
	for name, args := range map[string][]string{
		"simulate": {"simulate", "--T", "40", "-k", "4", "--methods", dir, "--mu", "1", "--seeds", "1"},
		"account": {"account", "--graph", "florentine", "--T", "40", "-k", "4", "--attacker", "Medici", "--algorithm",
			"mf-d-sgd", "--export", dir},
	} {
		code, _, errs := mafalda(args...)
		if code != 2 || !strings.Contains(errs, "drawn in secret") || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: code %d, %s", name, code, errs)
		}
	}
	rows := simulateRows(t, "simulate", "--T", "40", "-k", "4", "--methods", dir, "--sampling", "poisson", "--delta", "1e-6",
		"--seeds", "1", "--task", "records=100", "--json", "--epsilon", "8,4")
	if rows[1].Multiplier != m.Sampling.NoiseMultiplier || rows[1].Groups != m.Sampling.Groups ||
		rows[0].Groups != m.Sampling.Groups || rows[0].Multiplier <= rows[1].Multiplier {
		t.Errorf("simulate: %+v, want the noise multiplier %v", rows, m.Sampling.NoiseMultiplier)
	}
	if code, out, errs := mafalda("plot", dir, "-o", t.TempDir()); code != 0 || !strings.Contains(out, "sampling.png") {
		t.Errorf("plot: code %d, %s", code, errs)
	}
}

// The user who draws noise of an export for batches in secret is told, on the way and beside the rows, that it is for
// these alone: under batches in turn it gives far less privacy than its manifest says. The Python example refuses it.
func noiseOfPoisson(t *testing.T, dir string) {
	t.Helper()
	row := filepath.Join(t.TempDir(), "row.npy")
	code, _, errs := mafalda("noise", dir, "--node", "Medici", "--dim", "2", "--state", row+".state", "--new", "-o", row)
	if code != 0 || !strings.Contains(errs, "private only with batches drawn in secret (poisson)") {
		t.Errorf("noise: code %d, %s", code, errs)
	}
	var about noise.About
	text, err := os.ReadFile(noise.AboutPath(row))
	if err == nil {
		err = json.Unmarshal(text, &about)
	}
	if err != nil || !about.Private || about.Sampling != "poisson" || !strings.Contains(about.Note, "drawn in secret") {
		t.Errorf("noise says %+v, %v", about, err)
	}
	serveOfPoisson(t, dir)
	if err := exec.Command("python3", "-c", "import numpy").Run(); err != nil {
		t.Logf("no Python with NumPy here: %v", err)
		return
	}
	says := python(t, []pythonRun{{"sampled", []string{dir, "Medici", "2", "1", row}}})
	code, want, errs := mafalda("noise", dir, "--node", "Medici", "--dim", "2", "--seed", "1") // its sampler draws in secret, too
	rows, err := os.ReadFile(row)
	if says["sampled"] != "" || err != nil || code != 0 || !strings.HasSuffix(string(rows), want) || want == "" {
		t.Errorf("the Python package says %q, %v; code %d, %s", says["sampled"], err, code, errs)
	}
}

// An attack can be too weak to tell a wrong manifest from a right one: one that contradicts itself is refused before.
func auditContradiction(t *testing.T, dir string, probability float64) {
	t.Helper()
	work := t.TempDir()
	path := filepath.Join(work, export.ManifestName)
	err := os.CopyFS(work, os.DirFS(dir))
	var text []byte
	if err == nil {
		text, err = os.ReadFile(path)
	}
	changed := strings.Replace(string(text), fmt.Sprintf(`"probability": %v`, probability), `"probability": 0.001`, 1)
	if err = errors.Join(err, os.WriteFile(path, []byte(changed), 0o600)); err != nil {
		t.Fatal(err)
	}
	code, out, errs := mafalda("audit", "--sampling", "poisson", "--export", work, "--runs", "100")
	if code != 2 || out != "" || !strings.Contains(errs, "contradicts itself") || strings.Count(errs, "\n") != 1 {
		t.Errorf("audit: code %d, %s%s", code, out, errs)
	}
}

// The table marks the best; and who asks for batches in turn is told if DP-D-SGD with secret ones costs less.
func TestSamplingIsSaid(t *testing.T) {
	code, out, errs := mafalda(append([]string{"optimize"}, poisson...)...)
	if code != 0 || strings.Count(out, "(best)") != 1 {
		t.Errorf("code %d\n%s%s", code, out, errs)
	}
	for _, want := range []string{"sampling       poisson, in secret", "dense, in turn",
		"proven to have no smaller error",
		"noise multiplier·clip", "if nodes draw their batches in secret"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for epsilon, want := range map[string]bool{"1": false, "40": true} {
		_, out, _ := mafalda("optimize", "--graph", "florentine", "--T", "40", "-k", "4", "--sampling", "poisson",
			"--epsilon", epsilon, "--delta", "1e-6")
		if strings.Contains(out, "the dense optimum for batches in turn has 0.") != want {
			t.Errorf("ε = %s: told that batches in turn cost less: %v\n%s", epsilon, !want, out)
		}
	}
	told := func(args ...string) bool {
		_, out, _ := mafalda(append([]string{"optimize", "--graph", "florentine", "--T", "40", "-k", "4",
			"--no-baselines"},
			args...)...)
		return strings.Contains(out, "DP-D-SGD with Poisson sampling has 0.")
	}
	if !told("--epsilon", "1", "--delta", "1e-6") || told("--epsilon", "40", "--delta", "1e-6") || told("--mu", "1") ||
		told("--epsilon", "1", "--delta", "1e-6", "--adjacency", "replace-one") {
		t.Error("told where it costs more, or is not known; or not told")
	}
}
