package commands

import (
	"encoding/json"
	"math"
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
	h := mat.NewSymDense(e.Manifest.Steps, nil)
	for _, own := range explicitGrams(t, networks, n.Graph.Nodes(), e.Manifest.Steps, s) {
		h.AddSym(h, own)
	}
	h = withAbsences(s.Absence, h)
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
	for _, flags := range []string{"--graph-changes neighbours:2",
		"--graph-changes failures:0.2 --graph-changes links:0.2 --gram probes=200"} {
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
			a := explicit(t, networks, 5, 8, *m.WorkloadSpec)
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

// explicit returns the workload by its definition, nT×nT: column (step, i) is what a unit impulse of noise at node i in a
// step makes of all models, times -1.
func explicit(t testing.TB, networks *workload.Networks, n, steps int, s workload.Spec) *mat.Dense {
	t.Helper()
	size := n * steps
	state, err := workload.NewState[float64](s, steps, n, size, 1)
	if err != nil {
		t.Fatal(err)
	}
	a := mat.NewDense(size, size, nil)
	for step := range steps {
		impulses := mat.NewDense(n, size, nil)
		for i := range n {
			impulses.Set(i, step*n+i, 1)
		}
		state.Step(impulses.RawMatrix().Data, networks, func(models []float64) {
			a.Slice(step*n, (step+1)*n, 0, size).(*mat.Dense).Scale(-1, mat.NewDense(n, size, models))
		})
	}
	return a
}

// explicitGrams returns the H_i of all nodes by their definition, without absences.
func explicitGrams(t testing.TB, networks *workload.Networks, n, steps int, s workload.Spec) []*mat.SymDense {
	t.Helper()
	a := explicit(t, networks, n, steps, s)
	weights, err := s.Weights.Vector(steps)
	if err != nil {
		t.Fatal(err)
	}
	a.Apply(func(r, _ int, v float64) float64 { return v * math.Sqrt(weights[r/n]) }, a)
	grams := make([]*mat.SymDense, n)
	for i := range grams {
		own := mat.NewDense(n*steps, steps, nil)
		for step := range steps {
			own.SetCol(step, mat.Col(nil, step*n+i, a))
		}
		grams[i] = mat.NewSymDense(steps, nil)
		grams[i].SymOuterK(1, own.T())
	}
	return grams
}

// withAbsences returns E[MᵀHM] over all ways to be absent: M[t,s] = 1 if row s of the noise is sent in step t.
func withAbsences(a workload.Absence, h *mat.SymDense) *mat.SymDense {
	if a.MissedSteps == 0 {
		return h
	}
	steps := h.SymmetricDim()
	var sum mat.Dense
	sum.CloneFrom(mat.NewDense(steps, steps, nil))
	for missed := range 1 << steps { // bit t: step t is missed
		sent := mat.NewDense(steps, steps, nil)
		probability := 1.0
		next := -1 // the first step from t on that is not missed
		for t := steps - 1; t >= 0; t-- {
			if missed>>t&1 == 1 {
				probability *= a.MissedSteps
			} else {
				probability *= 1 - a.MissedSteps
				next = t
			}
			if next == t || a.Carry && next >= 0 {
				sent.Set(next, t, 1)
			}
		}
		var all mat.Dense
		all.Product(sent.T(), h, sent)
		all.Scale(probability, &all)
		sum.Add(&sum, &all)
	}
	out := mat.NewSymDense(steps, nil)
	for i := range steps {
		for j := i; j < steps; j++ {
			out.SetSym(i, j, sum.At(i, j))
		}
	}
	return out
}
