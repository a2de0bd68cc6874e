package commands

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/workload"
)

// explicitLoss is the loss of the strategy of an export by definition: the recursion, run on impulses of noise.
func explicitLoss(t *testing.T, dir string, n *graph.Network) float64 {
	t.Helper()
	e, err := export.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Manifest.WorkloadSpec.On(n)
	if err != nil {
		t.Fatal(err)
	}
	networks, err := s.Networks(n.Gossip.Matrix(), 0)
	if err != nil {
		t.Fatal(err)
	}
	h, err := workload.ExplicitGram(networks, e.Manifest.Steps, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := participation.NewCyclic(e.Manifest.Steps, e.Manifest.Participation.K, e.Manifest.Participation.B)
	if err != nil {
		t.Fatal(err)
	}
	c, err := strategy.NewDense(e.C)
	if err != nil {
		t.Fatal(err)
	}
	q, err := factorize.Evaluate(c, factorize.Mean(h), schema)
	if err != nil {
		t.Fatal(err)
	}
	return q.Loss
}

// trainingSequence is three networks over the nodes of path:5, in one of which a node is alone.
const trainingSequence = "# by turns\n0 1\n1 2\r\n2 3\n3 4\n\n\n0 4\n4 2\n1 3\n\n3 4\n4 1\n1 2\n\n"

// For everything that can be trained: the loss is the definition's, the strategy for plain training is no better,
// D-MF knows the optimizer, and verify confirms all of it.
func TestOptimizeTraining(t *testing.T) {
	t.Parallel()
	turns := writeFile(t, "turns.txt", trainingSequence)
	rates := writeFile(t, "rates.txt", "1\n.9\n.8\n.7\n.6\n.5\n.4\n.3\n.2\n.1\n.1\n.1\n")
	for flags, spec := range map[string]string{
		"":                         `{"kind":"model"}`,
		"--optimizer momentum:0.9": `{"kind":"model","momentum":0.9}`,
		"--optimizer momentum:0.5 --optimizer nesterov": `{"kind":"model","momentum":0.5,"nesterov":true}`,
		"--learning-rates cosine":                       `{"kind":"model","learning_rates":"cosine"}`,
		"--learning-rates " + rates:                     `{"kind":"model","learning_rates":[1,0.9,0.8,0.7,0.6,0.5,0.4,0.3,0.2,0.1,0.1,0.1]}`,
		"--optimizer decay:0.1":                         `{"kind":"model","weight_decay":0.1}`,
		"--optimizer local:3":                           `{"kind":"model","local_steps":3}`,
		"--optimizer rounds:2":                          `{"kind":"model","gossip_rounds":2}`,
		"--optimizer tracking":                          `{"kind":"model","gradient_tracking":true}`,
		"--missed-steps 0.2":                            `{"kind":"model","missed_steps":0.2}`,
		"--missed-steps 0.2 --missed-steps carry":       `{"kind":"model","missed_steps":0.2,"carry":true}`,
		"--graph-changes sequence:" + turns + " --workload message --optimizer momentum:0.5": `{"kind":"message","momentum":0.5,` +
			`"graph_sequence":{"networks":3,"sha256":"`,
		"--average-last 4 --tolerance 1e-3": `{"kind":"model","weights":"last:4"}`,
	} {
		dir := filepath.Join(t.TempDir(), "out")
		args := append([]string{"--graph", "path:5", "--T", "12", "-k", "3", "-o", dir}, strings.Fields(flags)...)
		m := optimizeJSON(t, args...)
		text, err := json.Marshal(m.WorkloadSpec)
		if err != nil || !strings.HasPrefix(string(text), spec) {
			t.Errorf("%s: workload_spec is %s, want %s", flags, text, spec)
		}
		n, err := graph.LoadNetwork(t.Context(), graph.NetworkOptions{Source: "path:5"})
		if strings.Contains(flags, "sequence") {
			n, err = graph.LoadNetwork(t.Context(), graph.NetworkOptions{Source: "path:5", GraphSequence: turns})
		}
		if err != nil {
			t.Fatal(err)
		}
		if want := explicitLoss(t, dir, n); !near(m.Loss, want, 1e-9) || m.Gap > 1.01e-3 {
			t.Errorf("%s: loss %v, by definition %v, gap %v", flags, m.Loss, want, m.Gap)
		}
		if plain := m.PlainStrategyLoss; flags == "" && plain != 0 || flags != "" && plain < m.LowerBound {
			t.Errorf("%s: the plain strategy has %v, the bound is %v", flags, plain, m.LowerBound)
		}
		verify := []string{"verify", dir}
		if strings.Contains(flags, "sequence") {
			if _, out, _ := mafalda(verify...); !strings.Contains(out, "--graph-changes sequence:FILE (it was turns.txt)") {
				t.Errorf("verify without the sequence:\n%s", out)
			}
			verify = append(verify, "--graph-changes", "sequence:"+turns)
		}
		if code, out, errs := mafalda(verify...); code != 0 || strings.Contains(out, "not checked: loss") {
			t.Errorf("%s: verify %d\n%s%s", flags, code, out, errs)
		}
	}
}

// The optimum for random networks is that for the expected error, which the mean over many draws comes to; an estimate
// is called one, and says how far off it may be.
func TestOptimizeRandomNetworks(t *testing.T) {
	t.Parallel()
	n, err := graph.LoadNetwork(t.Context(), graph.NetworkOptions{Source: "path:5"})
	if err != nil {
		t.Fatal(err)
	}
	for _, flags := range []string{"--graph-changes failures:0.2", "--graph-changes links:0.3", "--graph-changes neighbours:2",
		"--graph-changes failures:0.2 --graph-changes links:0.2 --gram probes=200", "--graph-changes links:0.3 --gram sampled:probes=200"} {
		dir := filepath.Join(t.TempDir(), "out")
		m := optimizeJSON(t, append([]string{"--graph", "path:5", "--T", "8", "-k", "2", "-o", dir, "--no-baselines"},
			strings.Fields(flags)...)...)
		e, err := export.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		var sum float64
		const draws = 1500
		for seed := range uint64(draws) {
			networks, err := m.WorkloadSpec.Networks(n.Gossip.Matrix(), seed)
			if err != nil {
				t.Fatal(err)
			}
			a, err := workload.Explicit(networks, 8, *m.WorkloadSpec, 0)
			if err != nil {
				t.Fatal(err)
			}
			var noise, shown mat.Dense // all nodes run C⁻¹
			noise.Kronecker(e.Inverse, identity(5))
			shown.Mul(a, &noise)
			norm := mat.Norm(&shown, 2)
			sum += norm * norm / draws
		}
		estimate := m.Gram.Method == "sampled"
		within := 0.02
		if estimate {
			within += *m.Gram.LossError
		}
		if !near(m.SquaredError, sum, within) || estimate != strings.Contains(flags, "probes") ||
			estimate != (m.Gram.Confidence > 0) {
			t.Errorf("%s: squared error %v, the mean over draws is %v; %+v", flags, m.SquaredError, sum, m.Gram)
		}
		if code, out, errs := mafalda("verify", dir); code != 0 || estimate != strings.Contains(out, "ok      estimate") {
			t.Errorf("%s: verify %d\n%s%s", flags, code, out, errs)
		}
	}
}

func identity(n int) *mat.DiagDense {
	ones := make([]float64, n)
	for i := range ones {
		ones[i] = 1
	}
	return mat.NewDiagDense(n, ones)
}

// The table says what is trained and what the plain strategy would cost; classes, nodes and objectives go with it.
func TestTrainingTables(t *testing.T) {
	t.Parallel()
	for flags, want := range map[string]string{
		"--optimizer momentum:0.9 --learning-rates cosine":                          "optimizer      momentum 0.9, rates cosine",
		"--optimizer momentum:0.9":                                                  "plain strategy ",
		"--optimizer momentum:0.9 --strategy banded":                                "class bound",
		"--optimizer momentum:0.9 --strategy blt:buffers=2":                         "blt, 2 buffers",
		"--optimizer momentum:0.9 --strategy per-node":                              "for 15 nodes",
		"--optimizer momentum:0.9 --strategy groups=2":                              "2 groups",
		"--optimizer momentum:0.9 --objective max --T 8":                            "of the worst step",
		"--optimizer momentum:0.9 --objective last":                                 "after the last step",
		"--graph-changes links:0.1 --strategy per-node":                             "links fail with probability 0.1",
		"--graph-changes links:0.1 --optimizer momentum:0.9,decay:0.1 --T 16":       "d-mf",
		"--graph-changes failures:0.1 --graph-changes links:0.1":                    "estimated from 400 random runs",
		"--optimizer momentum:0.9 --gram lanczos":                                   "nothing is left to chance",
		"--optimizer momentum:0.9 --sampling poisson --epsilon 4 --delta 1e-6 -b 4": "in secret",
		"--workload prefix --optimizer momentum:0.9":                                "mafalda (optimal)",
		"--average-last 4":                                                             "counted        steps last:4",
		"--missed-steps 0.1 --missed-steps carry":                                      "rows of noise carried over",
		"--optimizer momentum:0.9 --schema min-sep -b 4":                               "patterns overlap",
		"--learning-rates step:0,8 --optimizer momentum:0.9":                           "mafalda (optimal)",
		"--optimizer tracking --learning-rates warmup-cosine --optimizer momentum:0.5": "gradient tracking",
	} {
		args := []string{"optimize", "--T", "16", "-k", "4"}
		if !strings.Contains(flags, "prefix") {
			args = append(args, "--graph", "florentine")
		}
		code, out, errs := mafalda(append(args, strings.Fields(flags)...)...)
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("%s: code %d, no %q in\n%s%s", flags, code, want, out, errs)
		}
	}
	if _, out, _ := mafalda("optimize", "--help"); !strings.Contains(out, "\nWhat is trained:\n") {
		t.Errorf("help without groups:\n%s", out)
	}
}

// Very many steps take what is the same in all of them.
func TestLongTraining(t *testing.T) {
	t.Parallel()
	args := []string{"--graph", "florentine", "--T", "9000", "-k", "3", "--strategy", "toeplitz", "--strategy", "bandwidth=2"}
	m := optimizeJSON(t, append(args, "--optimizer", "momentum:0.9", "--optimizer", "decay:0.01")...)
	if m.PlainStrategyLoss < m.Loss || !(m.LowerBound > 0) || m.LowerBound > m.Loss {
		t.Errorf("%+v", m)
	}
	code, _, errs := mafalda(append(append([]string{"optimize"}, args...), "--learning-rates", "cosine")...)
	if code != 2 || !strings.Contains(errs, "is not for steps that differ") || strings.Count(errs, "\n") != 1 {
		t.Errorf("code %d, %s", code, errs)
	}
}

func TestBadTraining(t *testing.T) {
	t.Parallel()
	file := func(text string) string { return writeFile(t, "f.txt", text) }
	unknown, apart, one := file("0 1\n\n1 x\n"), file("0 1\n\n2 3\n"), file("0 1\n1 2\n2 3\n3 4\n")
	for flags, say := range map[string]string{
		"--optimizer momentum:1":                   "--optimizer momentum 1: must be at least 0 and below 1",
		"--optimizer momentum:-0.1":                "--optimizer momentum -0.1: must be",
		"--optimizer momentum:NaN":                 "--optimizer momentum NaN: must be",
		"--optimizer momentun:0.9":                 "did you mean momentum?",
		"--optimizer nesterov":                     "--optimizer nesterov is a form of momentum: give --optimizer momentum",
		"--optimizer decay:1":                      "--optimizer decay 1: must be at least 0 and below 1",
		"--graph-changes failures:1":               "--graph-changes failures 1: must be",
		"--graph-changes links:-1":                 "--graph-changes links -1: must be",
		"--missed-steps 1.5":                       "--missed-steps 1.5: must be",
		"--missed-steps carry":                     "--missed-steps carry is about rows of missed steps: give --missed-steps",
		"--optimizer local:0":                      "--optimizer local 0: must be at least 1",
		"--optimizer local:13":                     "--optimizer local 13: more than the 12 steps",
		"--optimizer rounds:0":                     "--optimizer rounds 0: must be at least 1",
		"--optimizer tracking --optimizer local:2": "leave out --optimizer local",
		"--optimizer tracking --optimizer momentum:0.5 --graph-changes failures:.1": "with --optimizer momentum is for networks that do not change",
		"--graph-changes neighbours:5":                                              "--graph-changes neighbours 5: there are only 4 others",
		"--graph-changes neighbours:2 --graph-changes links:0.1":                    "are drawn from all nodes",
		"--average-last 13":                                                         "--average-last 13: must be at least 1 and at most the 12",
		"--average-last 0":                                                          "--average-last 0: must be",
		"--average-last 3 --objective last":                                         "--objective last says itself which steps count",
		"--graph-changes failures:0.1 --objective max":                              "errors of single steps are not known",
		"--graph-changes failures:0.1 --gram lanczos":                               "--gram lanczos is for networks that stay: use --gram sampled",
		"--gram sampled":                                                            "--gram sampled is for networks that change",
		"--graph-changes failures:.1 --graph-changes links:.1 --gram exact":         "no exact Gram matrix",
		"--graph-changes failures:.1 --graph-changes links:.1 --strategy per-node":  "no exact Gram matrix",
		"--graph-changes failures:.1 --graph-changes links:.1 --gram probes=3":      "--gram probes 3: at least 4 runs",
		"--average-last 3 --gram lanczos":                                           "costs nothing",
		"--learning-rates " + file("1\n-1\n"):                                       "there are 2 of them for 12 steps",
		"--learning-rates " + file(strings.Repeat("0\n", 12)):                       "are all 0",
		"--learning-rates " + file("-1\n"+strings.Repeat("1\n", 11)):                "that of step 1 is -1",
		"--learning-rates " + file("1\nx\n"):                                        `line 2: "x" is not a number`,
		"--learning-rates cosinus":                                                  "did you mean cosine?",
		"--graph-changes sequence:" + unknown:                                       `f.txt:3: the graph has no node "x"`,
		"--graph-changes sequence:" + unknown + "x":                                 "no such file",
		"--graph-changes sequence:" + file("\n\n"):                                  "empty: give an edge list",
		"--graph-changes sequence:" + one + " --graph-changes neighbours:2":         "leave out --graph-changes sequence",
		"--graph-changes sequence:" + one + " --strategy per-node --objective last": "--objective last is not for ",
		"--optimizer momentum:0.9 --optimizer decay:0.5 --learning-rates " + file("3\n"+strings.Repeat("1\n", 11)): "must be below 1",
	} {
		code, out, errs := mafalda(append([]string{"optimize", "--graph", "path:5", "--T", "12", "-k", "3"},
			strings.Fields(flags)...)...)
		if code != 2 || out != "" || !strings.Contains(errs, say) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: code %d, %q, want %q", flags, code, errs, say)
		}
	}
	code, _, errs := mafalda("optimize", "--graph", "path:5", "--T", "12", "-k", "3", "--graph-changes", "sequence:"+apart)
	if code != 0 || !strings.Contains(errs, "warning: the 2 networks of f.txt together do not connect all nodes") {
		t.Errorf("apart: code %d, %s", code, errs)
	}
	for flags, say := range map[string]string{"--graph-changes sequence:" + one: "leave out --graph-changes sequence",
		"--optimizer local:2": "has no network: leave out whatever is about gossip"} {
		code, _, errs := mafalda(append([]string{"optimize", "--workload", "prefix", "--T", "12", "-k", "3"},
			strings.Fields(flags)...)...)
		if code != 2 || !strings.Contains(errs, say) || strings.Count(errs, "\n") != 1 {
			t.Errorf("prefix, %s: code %d, %s", flags, code, errs)
		}
	}
}

// Exports of networks that change are drawn without errors of steps, and one with another sequence is noticed.
func TestUseOfTrainedExports(t *testing.T) {
	t.Parallel()
	turns, other := writeFile(t, "turns.txt", trainingSequence), writeFile(t, "turns.txt", trainingSequence+"0 1\n")
	dir := filepath.Join(t.TempDir(), "out")
	optimizeJSON(t, "--graph", "path:5", "--T", "12", "-k", "3", "--graph-changes", "sequence:"+turns, "-o", dir)
	for _, args := range [][]string{{"verify", dir, "--graph-changes", "sequence:" + other}, {"plot", dir, "--graph-changes", "sequence:" + other,
		"-o", t.TempDir()}} {
		if code, out, errs := mafalda(args...); code == 0 || !strings.Contains(out+errs, "sequence_sha256") {
			t.Errorf("%v: code %d\n%s%s", args, code, out, errs)
		}
	}
	pictures := t.TempDir()
	code, out, errs := mafalda("plot", dir, "--graph-changes", "sequence:"+turns, "-o", pictures)
	if code != 0 || !strings.Contains(errs, "not drawn: errors:") || !strings.Contains(out, "spectrum.png") {
		t.Errorf("plot: code %d\n%s%s", code, out, errs)
	}
	trained := filepath.Join(t.TempDir(), "out")
	optimizeJSON(t, "--graph", "path:5", "--T", "12", "-k", "3", "--optimizer", "momentum:0.9", "--strategy", "per-node", "-o", trained)
	if code, out, errs := mafalda("plot", trained, "-o", t.TempDir()); code != 0 || !strings.Contains(out, "errors.png") {
		t.Errorf("plot: code %d\n%s%s", code, out, errs)
	}
	manifest := filepath.Join(trained, "manifest.json")
	text, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	for was, is := range map[string]string{`"momentum": 0.9`: `"momentum": 0.8`,
		`"kind": "model"`: `"kind": "message"`, `"momentum": 0.9,`: ``} {
		changed := strings.Replace(string(text), was, is, 1)
		if changed == string(text) {
			continue
		}
		if err := os.WriteFile(manifest, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, out, _ := mafalda("verify", trained); code == 0 {
			t.Errorf("%s for %s is not noticed:\n%s", is, was, out)
		}
	}
}
