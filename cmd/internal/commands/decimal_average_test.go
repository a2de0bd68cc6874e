package commands

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"mafalda/protocols/dpps"
	"mafalda/protocols/gossip"
)

// What average prints of what is learned is not below its JSON, and that is not below the exact quotients.
func TestPrintedAverageIsOnTheSafeSide(t *testing.T) {
	least := func(what string, printed, true float64) {
		t.Helper()
		if printed < true || printed > true*(1+1e-3) {
			t.Errorf("%s is printed as %v for %v", what, printed, true)
		}
	}
	notBelow := func(what string, quotient, x, y float64) {
		t.Helper()
		exact := func(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }
		if exact(quotient).Cmp(new(big.Rat).Quo(exact(x), exact(y))) < 0 {
			t.Errorf("%s is %v, below %v/%v", what, quotient, x, y)
		}
	}
	for i := range 12 {
		noise := 3 + 0.73*float64(i)
		args := append([]string{"average", "--protocol", "gossip", "--graph", "path:4", "--observer", "0", "--victim", "3",
			"--rounds", "4"}, flag("noise-std", noise)...)
		out, g := both[gossip.Result](t, args...)
		notBelow("μ", g.Mu, g.Difference, noise)
		least("μ", printed(t, out, "all messages: mu = "), g.Mu)
		least("ε", printed(t, out, ", epsilon = "), g.Epsilon)
		row := out[strings.Index(out, "│ 0 "):]
		cells := strings.FieldsFunc(row, func(r rune) bool { return r == '│' || r == '\n' })
		for k, want := range []float64{g.Pairs[0].Mu, float64(g.Pairs[0].Leakage)} {
			v, err := strconv.ParseFloat(strings.TrimSpace(cells[k+2]), 64)
			if err != nil {
				t.Fatal(err)
			}
			least("a pair", v, want)
		}
		b := 0.1 + 0.37*float64(i)
		args = []string{"average", "--protocol", "dpps", "--graph", "exp:4", "--rounds", "3",
			"--push-sum", fmt.Sprintf("gamma-n:0.7,laplace-b:%v", b)}
		out, d := both[dpps.Result](t, args...)
		notBelow("ε of a round", d.Epsilon, b, 0.7)
		least("ε of a round", printed(t, out, "b/gamma-n = "), d.Epsilon)
		least("basic composition", printed(t, out, "says nothing. "), d.Basic)
		least("advanced composition", printed(t, out, "basic composition, "), d.Advanced)
	}
}
