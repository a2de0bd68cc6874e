package commands

import (
	"encoding/json"
	"strings"
	"testing"

	"mafalda/simulate"
)

// simulate --attack shows what an attack on real training reaches beside the bound of the task's class and the number if
// gradients do not react, which is broken, the bound not.
func TestSimulateAttack(t *testing.T) {
	on := func(more string) []string {
		if !strings.Contains(more, "--graph") {
			more += " --graph path:3"
		}
		return strings.Fields("simulate --T 2 -k 1 --attack 2,runs=1200 " + more)
	}
	code, out, errs := mafalda(on("--task linear --learning-rate 3 --clip 25 --mu 8")...)
	for _, text := range []string{"attack         of 2 on a record of 0, 2 hops away", "class          convex ", "local DP       mu = 8\n",
		"for every training of the class\n", "if gradients do not react; this attack exceeds it\n", "(1200 runs each)\n", "verdict        passed"} {
		if code != 0 || !strings.Contains(out, text) {
			t.Errorf("code %d, no %q in %s%s", code, text, out, errs)
		}
	}
	code, out, errs = mafalda(on("--task perceptron --task records=200 --attack victim=1 --json")...)
	var r struct {
		simulate.Attacked
		Simulated        bool
		Attacker, Victim string
	}
	if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil || r.Row != "none" || r.Rho != nil || r.Bound != r.Local || r.Hops != 1 ||
		!r.Simulated || r.Attacker != "2" || r.Victim != "1" || r.Runs != 1200 {
		t.Errorf("code %d, %v, %s%s", code, err, out, errs)
	}
	for args, say := range map[string]string{
		"--attack victim=7":                     "--attack victim 7: the graph has no such node",
		"--attack victim=2":                     "--attack victim 2: attacks itself",
		"--mu 1,2":                              "--mu: one level",
		"--mu 0":                                "--mu 0",
		"--mu -1":                               "--mu -1",
		"--attack runs=0":                       "--attack runs 0",
		"--attack runs=3":                       "--attack runs 3",
		"--attack confidence=0":                 "--attack confidence 0",
		"--attack confidence=2":                 "--attack confidence 2",
		"--seeds 3":                             "--attack and --seeds: only one of them",
		"--tune":                                "--attack and --tune: only one of them",
		"--methods mafalda":                     "--methods: --attack is for dp-d-sgd",
		"--sampling poisson":                    "--attack and --sampling: only one of them",
		"--optimizer momentum:0.9":              "only plain training",
		"--task cnn":                            "--task",
		"--task records=2":                      "--task",
		"--task records=10 --graph hypercube:4": "training records",
		"--T 2000 -k 2000":                      "fewer steps",
	} {
		if code, out, errs := mafalda(on(args)...); code != 2 || out != "" || !strings.Contains(errs, say) {
			t.Errorf("%s: code %d, no %q in %s%s", args, code, say, out, errs)
		}
	}
	for label, say := range map[string]string{"7": "--attack 7: the graph has no such node", "": "--attack is empty"} {
		if code, _, errs := mafalda("simulate", "--graph", "path:3", "--T", "10", "-k", "1", "--attack="+label); code != 2 || !strings.Contains(errs, say) {
			t.Errorf("%q attacks: code %d, %s", label, code, errs)
		}
	}
	if code, _, errs := mafalda(strings.Fields("simulate --T 10 -k 1 --attack victim=2")...); code != 2 || !strings.Contains(errs, "--attack is empty") {
		t.Errorf("nobody attacks: code %d, %s", code, errs)
	}
}
