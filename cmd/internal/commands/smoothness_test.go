package commands

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"mafalda/threat"
)

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
