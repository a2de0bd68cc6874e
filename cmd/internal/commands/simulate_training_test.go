package commands

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"mafalda/simulate"
)

// smallRun is a run of milliseconds.
var smallRun = [...]string{"--T", "12", "-k", "3", "--task", "records=200", "--mu", "0.5"}

// Everything that can be trained is simulated; the noise does what is predicted, and rows compare with the strategy
// that ignores the training.
func TestSimulateTraining(t *testing.T) {
	t.Parallel()
	sequence := writeFile(t, "s.edges", "1 2\n\n2 3\n3 0\n")
	for _, flags := range []string{
		"--optimizer momentum:0.9 --optimizer nesterov --learning-rates warmup-cosine", "--optimizer decay:0.5 --optimizer local:3,rounds:2",
		"--optimizer tracking --workload message", "--graph-changes sequence:" + sequence, "--graph-changes failures:0.2",
		"--graph-changes links:0.2", "--graph-changes neighbours:2", "--missed-steps 0.2", "--missed-steps 0.2 --missed-steps carry",
		"--graph-changes failures:0.1 --graph-changes links:0.1",
	} {
		args := append(strings.Fields("--graph cycle:4 --seeds 6 "+flags), smallRun[:]...)
		rows := simulateJSON(t, args...)
		for _, method := range []string{"dp-d-sgd", "antipgd", "d-mf", "mafalda-plain", "mafalda-uncurved", "mafalda"} {
			e := rows[simulate.Cell{Method: method, Mu: 0.5}].NoiseError
			if _, ok := e.Deviation(); !ok || e.Off() || e.Runs != 6 {
				t.Errorf("%s, %s: %+v", flags, method, e)
			}
		}
		if len(rows) != 7 {
			t.Errorf("%s: %d rows", flags, len(rows))
		}
	}
	code, out, errs := mafalda(append([]string{"simulate", "--graph", "cycle:4", "--optimizer", "momentum:0.5", "--seeds", "2"},
		smallRun[:]...)...)
	if code != 0 || !strings.Contains(out, "momentum 0.5") || !strings.Contains(out, "measured / predicted: dp-d-sgd") {
		t.Errorf("code %d, %s%s", code, out, errs)
	}
}

// Runs of other training are of another study.
func TestSimulateTrainingGoesOn(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "sim")
	sequence := writeFile(t, "s.edges", "1 2\n\n2 3\n3 0\n")
	args := append([]string{"simulate", "--graph", "cycle:4", "--seeds", "1", "--methods", "none", "-o", dir}, smallRun[:]...)
	if code, _, errs := mafalda(append(args, "--missed-steps", "0.2")...); code != 0 {
		t.Fatal(errs)
	}
	for flags, say := range map[string]string{
		"":                   "workload is gone",
		"--missed-steps 0.3": "workload is",
		"--missed-steps 0.2 --missed-steps carry": "workload is",
		"--average-last 2":                        "workload is",
		"--workload message":                      "workload is",
		"--graph-changes sequence:" + sequence:    "workload is",
		"--optimizer rounds:2":                    "rounds is 1 there and 2 here",
	} {
		code, _, errs := mafalda(append(args, strings.Fields(flags)...)...)
		if code != 2 || !strings.Contains(errs, say) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%q: code %d, %s", flags, code, errs)
		}
	}
	if code, _, errs := mafalda(append(args, "--missed-steps", "0.2", "--mu", "1", "--methods", "none,dp-d-sgd")...); code != 0 {
		t.Errorf("more methods: %s", errs)
	}
}

// An export for more than plain training brings its training along, and is refused for any other.
func TestSimulateTrainedExports(t *testing.T) {
	t.Parallel()
	made, plain := filepath.Join(t.TempDir(), "made"), filepath.Join(t.TempDir(), "plain")
	on := []string{"--graph", "cycle:4", "--T", "12", "-k", "3", "--no-baselines"}
	training := []string{"--optimizer", "momentum:0.9", "--learning-rates", "cosine"}
	optimizeJSON(t, append(append(on, training...), "--optimizer", "decay:0.01", "-o", made)...)
	optimizeJSON(t, append(on, "-o", plain)...)
	run := append([]string{"--graph", "cycle:4", "--seeds", "2", "--learning-rate", "0.05"}, smallRun[:]...)
	key := func(method string) simulate.Cell { return simulate.Cell{Method: method, Mu: 0.5} }
	given := append(append(run, training...), "--optimizer", "decay:0.2") // times the rate
	want := simulateJSON(t, append(given, "--methods", "mafalda-uncurved,mafalda-plain,"+made+","+plain)...)
	if len(want) != 4 || !near(*want[key("mafalda-uncurved")].Mean, *want[key(made)].Mean, 1e-4) ||
		!near(*want[key("mafalda-plain")].Mean, *want[key(plain)].Mean, 1e-4) ||
		near(*want[key(made)].Mean, *want[key(plain)].Mean, 1e-4) {
		t.Errorf("%+v", want)
	}
	code, out, errs := mafalda(append([]string{"simulate", "--json", "--methods", made + "," + plain}, run...)...)
	var got struct{ Rows []simulate.Row }
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != 0 || len(got.Rows) != 2 ||
		*got.Rows[0].Mean != *want[key(made)].Mean || !strings.Contains(errs, "training is what "+made+" was made for") ||
		!strings.Contains(errs, plain+" was made for plain training") {
		t.Errorf("code %d, %v, %s%s", code, err, out, errs)
	}
	for _, other := range []string{"--optimizer momentum:0.9", "--optimizer momentum:0.8 --learning-rates cosine --optimizer decay:0.2",
		"--optimizer momentum:0.9 --learning-rates cosine --optimizer decay:0.01", "--graph-changes failures:0.1"} {
		code, _, errs := mafalda(append(append([]string{"simulate", "--methods", made}, run...), strings.Fields(other)...)...)
		if code != 2 || !strings.Contains(errs, "is for other training") || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: code %d, %s", other, code, errs)
		}
	}
}
