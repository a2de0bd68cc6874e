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

// Later versions may know more.
func TestUnknownFieldsAreIgnored(t *testing.T) {
	m, err := ReadManifest(strings.NewReader(`{"workload":"model","steps":3,"participation":{"schema":"cyclic","k":1,"b":3,"x":1},
		"strategy":{"class":"new"},"loss":1,"sens_squared":1,"lower_bound":1,"files":{"x":"00"},"future":{"a":[1,2]}}`))
	if err != nil || m.Steps != 3 || m.Strategy.Class != "new" {
		t.Errorf("%+v, %v", m, err)
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
		epsilon := positive.Draw(t, "epsilon")
		m.Privacy = &Privacy{Mu: positive.Draw(t, "mu"), Epsilon: &epsilon}
		m.Strategy.Coefficients = rapid.SliceOfN(positive, 1, 5).Draw(t, "coefficients")
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
