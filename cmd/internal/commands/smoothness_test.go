package commands

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"mafalda/threat"
)

// smoothness says what to give to account, for the sum and for the mean.
func TestSmoothnessCommand(t *testing.T) {
	data := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(data, []byte("a,b,y\n3,4,7\n0,1,7\n0,2,7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string][]string{
		"--model logistic --norm 1 --rate 0.1 --batch 32":      {"--reaction convex:1.6\n", "the rate multiplies the sum", "beta           16,"},
		"--model logistic --norm 1 --rate 0.1 --batch 32,mean": {"--reaction convex:0.05\n", "the rate multiplies the mean over 32", "beta           16,"},
		"--model softmax --norm 1 --rate 0.1 --batch 32 --batch divisor=16 --clip 1": {"--reaction clipped-convex:0.2\n", "the sum is divided by 16",
			"gradients before clipping"},
		"--model softmax --norm 1 --rate 0.1 --clip 2.1":                                            {"--reaction convex:0.1\n", "none is longer than 2"},
		"--model logistic --norm 1 --rate 0.1 --clip per-layer --clip 0.5":                          {"--reaction clipped-convex:0.05\n"},
		"--model linear --norm 1 --rate 0.1 --weight-decay 0.5":                                     {"--reaction convex:0.4 --optimizer decay:0.05\n", "with decay     rho 0.75, kappa 0.2\n", "at most 0.95-Lipschitz"},
		"--model logistic --norm 1 --rate 0.1 --batch 2 --model ridge=1 --clip unclipped":           {"--reaction strongly-convex:0.3,0.2\n", "at most 0.8-Lipschitz"},
		"--model smooth --model beta=4 --rate 0.01 --batch 32,mean":                                 {"--reaction smooth:0.04\n", "at most 1.04-Lipschitz"},
		"--model linear --data target=-1 --rate 0.01 --batch 2 --model no-intercept --data " + data: {"--reaction convex:0.58\n", "3 records", "private information", "warning"},
		"--model linear --data target=3 --rate 0.01 --batch 2,mean --data " + data:                  {"--reaction convex:0.52\n"}, // the mean of a batch of one
		"--model convex --model beta=3 --rate 0.1 --model classes=0":                                nil,
		"--model linear --rate 0.01":                                                                nil,
		"--model linear --norm 1":                                                                   nil,
		"--norm 1 --rate 1":                                                                         nil,
		"--model cnn --norm 1 --rate 1":                                                             nil,
		"--model linear --norm -1 --rate 1":                                                         nil,
		"--model linear --norm inf --rate 1":                                                        nil,
		"--model linear --norm 1 --rate 0":                                                          nil,
		"--model linear --norm 1 --rate 1 --model beta=2":                                           nil,
		"--model smooth --norm 1 --rate 1":                                                          nil,
		"--model smooth --rate 1":                                                                   nil,
		"--model linear --norm 1 --rate 1 --batch 0":                                                nil,
		"--model linear --norm 1 --rate 1 --batch mean,divisor=2":                                   nil,
		"--model linear --norm 1 --rate 1 --batch divisor=0":                                        nil,
		"--model linear --norm 1 --rate 1 --data target=1":                                          nil,
		"--model linear --norm 1 --rate 1 --data " + data:                                           nil,
		"--model linear --rate 1 --data target=x --data " + data:                                    nil,
		"--model linear --rate 1 --data target=4 --data " + data:                                    nil,
		"--model linear --rate 1 --data " + data + "x":                                              nil,
		"--model linear --norm 1 --rate 1 --model classes=3":                                        nil,
		"--model softmax --norm 1 --rate 1 --model curvature=1":                                     nil,
		"--model linear --norm 1 --rate 1 --clip unclipped --clip 1":                                nil,
		"--model linear --norm 1 --rate 1 --model ridge=1 --batch smallest=2":                       nil,
		"--model linear --norm 1e200 --rate 1":                                                      nil,
		"--model linear --norm 1 --rate 1 --clip unclipped,per-layer":                               nil,
	} {
		code, out, errs := mafalda(append([]string{"smoothness"}, strings.Fields(args)...)...)
		if want == nil {
			if code != 2 || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, "--") && !strings.Contains(errs, "rows.csv") {
				t.Errorf("%s: code %d, %s%s", args, code, out, errs)
			}
			continue
		}
		for _, text := range want {
			if code != 0 || !strings.Contains(out, text) {
				t.Errorf("%s: code %d, no %q in %s%s", args, code, text, out, errs)
			}
		}
		if private := strings.Contains(args, "--data"); private != strings.Contains(out, "warning") {
			t.Errorf("%s: %s", args, out)
		}
	}
	_, out, _ := mafalda(strings.Fields("smoothness --model softmax --norm 1 --rate 0.1 --weight-decay 1 --json")...)
	var r struct {
		Row            string
		X, Beta        float64
		Reaction, Step struct{ Rho, Kappa float64 }
		Account        string
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil || r.Row != "clipped-convex" || r.X < 0.1 || r.X > 0.1000001 || r.Beta < 1 ||
		r.Reaction.Rho-r.Step.Rho < 0.09 || r.Reaction.Kappa != r.Step.Kappa || r.Account != "--reaction clipped-convex:0.1 --optimizer decay:0.1" {
		t.Errorf("%v, %s", err, out)
	}
}

// What account is told holds all steps of the training: decay is rounded down, and x makes up for it. There is no decay that
// account refuses.
func TestSmoothnessTellsAccountNoLess(t *testing.T) {
	for _, decay := range []float64{0.123456789, 0.3, 1.9999996, 9.9999994, 1e-12, 9.99999999999999, 10, 20, 123.456} {
		for _, model := range []string{"--model smooth --model beta=1", "--model linear --norm 1", "--model convex --model beta=2",
			"--model linear --norm 1 --model ridge=0.1 --clip unclipped"} {
			args := fmt.Sprintf("smoothness --json --rate 0.1 --weight-decay %v %s", decay, model)
			code, out, errs := mafalda(strings.Fields(args)...)
			var found struct {
				Step    struct{ Rho, Kappa float64 }
				Account string
			}
			if err := json.Unmarshal([]byte(out), &found); err != nil || code != 0 {
				t.Fatalf("%s: code %d, %v, %s", args, code, err, errs)
			}
			words := strings.Fields(found.Account)
			of, err := threat.ParseReaction(strings.Replace(words[1], ":", " ", 1))
			if err != nil {
				t.Fatal(err)
			}
			class, _, err := of.Class()
			if err != nil {
				t.Fatal(err)
			}
			if len(words) > 2 {
				given, err := strconv.ParseFloat(strings.TrimPrefix(words[3], "decay:"), 64)
				if err != nil || given >= 1 || words[2] != "--optimizer" {
					t.Errorf("%s: %s", args, found.Account)
				}
				class.Rho -= given
			}
			if s := found.Step; s.Rho+s.Kappa > class.Rho+class.Kappa+1e-10 || s.Rho-s.Kappa < class.Rho-class.Kappa-1e-10 {
				t.Errorf("%s: %s is rho %v, kappa %v, and steps have %+v", args, found.Account, class.Rho, class.Kappa, s)
			}
		}
	}
	flags := "account --graph path:3 --T 3 --attacker 0 --reaction lipschitz:1.1 --json"
	if code, _, errs := mafalda(strings.Fields(flags)...); code != 0 {
		t.Errorf("%s: code %d, %s", flags, code, errs)
	}
}
