package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mafalda/accounting"
)

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
		"many steps": `{"workload":"model","steps":1000000000,"participation":{"k":1,"b":1},"strategy":{"class":"dense"},"loss":1,"sens_squared":1,"lower_bound":1,"files":{"x":"00"}}`,
		"wrong type": `{"steps":"many"}`,
	} {
		if _, err := ReadManifest(strings.NewReader(text)); !errors.Is(err, ErrManifest) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// A manifest that two readers may read differently is not one: with noise_std and NOISE_STD, encoding/json takes the
// one that comes last, Python the first. Unknown keys are named.
func TestAmbiguousManifest(t *testing.T) {
	good := `{"version":"test","workload":"model","workload_spec":{"kind":"model"},"steps":3,"participation":{"schema":"cyclic","k":1,"b":3},"strategy":{"class":"dense"},
		"loss":1,"sens_squared":1,"sens_kind":"exact","lower_bound":1,"privacy":{"mu":1,"sigma":1,"clip":1,"adjacency":"zero-out","noise_std":2},
		"baselines":{"d-mf":{"loss":1}},"files":{"x":"00"}}`
	if _, err := ReadManifest(strings.NewReader(good)); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ old, new, say string }{
		"noise by case":    {`"noise_std":2`, `"noise_std": 0.001, "NOISE_STD": 2.000000000000001`, `unknown key "privacy.NOISE_STD"`},
		"noise twice":      {`"noise_std":2`, `"noise_std":0.001,"noise_std":2`, `"privacy.noise_std" is there twice`},
		"wrong case":       {`"noise_std"`, `"Noise_std"`, `unknown key "privacy.Noise_std"`},
		"mistyped":         {`"noise_std"`, `"noise_sd"`, `unknown key "privacy.noise_sd"`},
		"of later":         {`"steps"`, `"tracking":{"q":0.1},"steps"`, `unknown key "tracking"`},
		"file twice":       {`"x":"00"`, `"x":"00","x":"01"`, `"files.x" is there twice`},
		"baseline by case": {`"d-mf":{"loss":1}`, `"d-mf":{"loss":1},"D-MF":{"loss":2}`, "differs in case only"},
		"trailing":         {`"00"}}`, `"00"}}{}`, "after top-level value"},
		"huge":             {`"loss":1,"sens`, `"loss":1e400,"sens`, "loss is 1e400"},
		"NaN":              {`"loss":1,"sens`, `"loss":NaN,"sens`, "invalid character"},
		"null":             {`"lower_bound":1`, `"lower_bound":null`, "lower_bound: it is null"},
	} {
		text := strings.Replace(good, tc.old, tc.new, 1)
		_, err := ReadManifest(strings.NewReader(text))
		if !errors.Is(err, ErrManifest) || !strings.Contains(err.Error(), tc.say) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want one with %q", name, err, tc.say)
		}
	}
}

// Numbers that nothing could be made of, some of which ended verify in a panic or kept it busy for ever, are errors of
// reading.
func TestImplausibleManifest(t *testing.T) {
	zero := 0.0
	of := func(g Gram) func(m *Manifest) {
		return func(m *Manifest) { m.Gram, m.LowerBoundOf = &g, OfEstimate }
	}
	for name, spoil := range map[string]func(m *Manifest){
		"empty privacy":         func(m *Manifest) { m.Privacy = &Privacy{} },
		"epsilon without delta": func(m *Manifest) { m.Privacy.Delta = nil },
		"delta of zero":         func(m *Manifest) { m.Privacy.Delta = &zero },
		"probes":                of(Gram{Method: "lanczos", Probes: 1 << 62, LanczosSteps: 40}),
		"no probes":             of(Gram{Method: "lanczos", LanczosSteps: 40}),
		"lanczos steps":         of(Gram{Method: "lanczos", Probes: 4, LanczosSteps: 1 << 62}),
		"method":                of(Gram{Method: "guess"}),
		"bound of an estimate":  func(m *Manifest) { m.Gram = &Gram{Method: "lanczos", Probes: 4, LanczosSteps: 40} },
		"bound of none":         func(m *Manifest) { m.LowerBoundOf = OfEstimate },
		"bandwidth":             func(m *Manifest) { m.Strategy.Bandwidth = 1 << 62 },
		"buffers":               func(m *Manifest) { m.Strategy.Buffers = -1 },
		"coefficients":          func(m *Manifest) { m.Strategy.Coefficients = []float64{1, 2, 3} },
		"sections":              func(m *Manifest) { m.Strategy.Sections = make([][4]float64, 3) },
		"weights":               func(m *Manifest) { m.Weights = []float64{1, 2, 3} },
		"nodes":                 func(m *Manifest) { m.Graph.Nodes = 0 },
		"separation":            func(m *Manifest) { m.Participation.B = -1 },
		"iterations":            func(m *Manifest) { m.Iterations = -1 },
	} {
		m := calibrated(t, accounting.Target{Epsilon: 8, Delta: 1e-6}, 1, 1, accounting.ZeroOut)
		m.Files = map[string]string{"C.npy": "00"}
		spoil(m)
		var buf bytes.Buffer
		if err := m.WriteJSON(&buf); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadManifest(&buf); !errors.Is(err, ErrManifest) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// Every number comes back, to the bit.
func TestNumbersRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		positive := rapid.Float64Range(math.SmallestNonzeroFloat64, math.MaxFloat64)
		m := manifest(2)
		m.Files = map[string]string{"C.npy": "ab"}
		m.Loss, m.SensSquared, m.LowerBound = positive.Draw(t, "loss"), positive.Draw(t, "sens"), positive.Draw(t, "bound")
		m.Gap, m.Seconds = positive.Draw(t, "gap"), positive.Draw(t, "seconds")
		epsilon, delta := positive.Draw(t, "epsilon"), rapid.Float64Range(math.SmallestNonzeroFloat64, 0.5).Draw(t, "delta")
		m.Privacy = &Privacy{Mu: positive.Draw(t, "mu"), Sigma: positive.Draw(t, "sigma"), Clip: positive.Draw(t, "clip"),
			NoiseStd: positive.Draw(t, "noise"), Adjacency: "zero-out", Epsilon: &epsilon, Delta: &delta}
		m.Strategy.Coefficients = rapid.SliceOfN(positive, 1, 2).Draw(t, "coefficients")
		var buf bytes.Buffer
		if err := m.WriteJSON(&buf); err != nil {
			t.Fatal(err)
		}
		if back, err := ReadManifest(&buf); err != nil || !reflect.DeepEqual(back, m) {
			t.Fatalf("%+v came back as %+v, %v", m, back, err)
		}
	})
}

// NaN and infinity are found wherever they are, and named.
func TestNotFiniteIsRefused(t *testing.T) {
	inf := math.Inf(1)
	for want, spoil := range map[string]func(*Manifest){
		"loss":                         func(m *Manifest) { m.Loss = math.NaN() },
		"privacy.epsilon":              func(m *Manifest) { m.Privacy = &Privacy{Epsilon: &inf} },
		"baselines.d-mf.squared_error": func(m *Manifest) { m.Baselines = map[string]Baseline{"d-mf": {SquaredError: inf}} },
		"strategy.coefficients[1]":     func(m *Manifest) { m.Strategy.Coefficients = []float64{0, inf} },
		"strategy.sections[0][3]":      func(m *Manifest) { m.Strategy.Sections = [][4]float64{{0, 0, 0, -inf}} },
		"baselines.a.loss is NaN":      func(m *Manifest) { m.Baselines = map[string]Baseline{"b": {Loss: inf}, "a": {Loss: math.NaN()}} },
	} {
		m := manifest(2)
		spoil(m)
		var buf bytes.Buffer
		if err := m.WriteJSON(&buf); !errors.Is(err, ErrManifest) || !strings.Contains(err.Error(), ": "+want) || buf.Len() > 0 {
			t.Errorf("%s: error %v", want, err)
		}
	}
}

// No name leads out of the folder.
func TestCheckName(t *testing.T) {
	for _, bad := range []string{"", ".", "..", "../x", "a/b", `a\b`, "/etc/passwd", "a\x00b", ManifestName} {
		if checkName(bad) == nil {
			t.Errorf("%q passed", bad)
		}
	}
	for _, good := range []string{"C.npy", "nodes.csv", "..x", "ñ"} {
		if err := checkName(good); err != nil {
			t.Error(err)
		}
	}
}
