package commands

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"mafalda/accounting"
	"mafalda/export"
	"mafalda/threat"
)

// printed returns the number behind a word at the start of a line.
func printed(t *testing.T, out, pattern string) float64 {
	t.Helper()
	m := regexp.MustCompile("(?m)" + pattern + `(exp\()?([-+0-9.e]+)`).FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("no %q in\n%s", pattern, out)
	}
	v, err := strconv.ParseFloat(strings.TrimRight(m[2], ".,"), 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// both runs a command for people and for programs.
func both[T any](t *testing.T, args ...string) (string, T) {
	t.Helper()
	code, out, errs := mafalda(args...)
	if code != 0 {
		t.Fatalf("%v: code %d, %s", args, code, errs)
	}
	var data T
	code, text, errs := mafalda(append(args, "--json")...)
	if err := json.Unmarshal([]byte(text), &data); code != 0 || err != nil {
		t.Fatalf("%v: code %d, %v, %s", args, code, err, errs)
	}
	return out, data
}

func flag(name string, v float64) []string {
	return []string{"--" + name, strconv.FormatFloat(v, 'g', -1, 64)}
}

// What epsilon prints is never below ε, δ or ρ, and never above a μ computed for (ε, δ): rounding to the nearest
// was, in about half of all cases.
func TestPrintedEpsilonIsOnTheSafeSide(t *testing.T) {
	command := func(pairs ...[]string) []string {
		args := []string{"epsilon"}
		for _, p := range pairs {
			args = append(args, p...)
		}
		return args
	}
	least := func(args []string, what string, printed, true float64) {
		t.Helper()
		if printed < true || printed > true+2e-11*math.Abs(true) {
			t.Errorf("%v prints %s %v for %v", args, what, printed, true)
		}
	}
	for i := range 7 {
		mu := math.Exp(float64(i)/0.8 - 5)
		for j := range 5 {
			delta := math.Pow(10, -1-2.74*float64(j))
			args := command(flag("mu", mu), flag("delta", delta), flag("alpha", 1.5+2*float64(j)))
			out, c := both[accounting.Conversion](t, args...)
			if printed(t, out, "^mu +") != mu || printed(t, out, "^delta +") != delta {
				t.Errorf("%v: what was given has changed:\n%s", args, out)
			}
			least(args, "ε", printed(t, out, "^epsilon +"), *c.Epsilon)
			least(args, "ρ", printed(t, out, "^rdp +"), *c.RDP)
			least(args, "ε by Renyi DP", printed(t, out, "alone: epsilon "), *c.EpsilonByRDP)
		}
		for j := range 3 {
			epsilon, delta := math.Exp(float64(i)-3), math.Pow(10, -1.1-4.6*float64(j))
			args := command(flag("epsilon", epsilon), flag("delta", delta))
			out, c := both[accounting.Conversion](t, args...)
			if v := printed(t, out, "^mu +"); v > c.Mu || v < c.Mu*(1-2e-11) {
				t.Errorf("%v prints μ %v for %v", args, v, c.Mu)
			}
			args = command(flag("mu", mu), flag("epsilon", epsilon*math.Pow(9, float64(j))))
			out, c = both[accounting.Conversion](t, args...)
			want := *c.Delta
			if strings.Contains(out, "exp(") {
				want = *c.LogDelta
			}
			least(args, "δ", printed(t, out, `^delta +`), want)
			args = command(flag("alpha", 1.1+float64(j)), []string{"--alpha", "rdp=" + strconv.FormatFloat(epsilon, 'g', -1, 64)}, flag("delta", delta))
			out, c = both[accounting.Conversion](t, args...)
			least(args, "μ", printed(t, out, "^mu +"), c.Mu)
		}
	}
}

// A δ that underflows is not 0 in JSON: the smallest positive number, with its logarithm.
func TestEpsilonJSONHasNoZeroDelta(t *testing.T) {
	for _, args := range [][]string{{"--mu", "0.01", "--epsilon", "1"}, {"--mu", "1", "--epsilon", "1e6"},
		{"--mu", "1e-200", "--epsilon", "1e200"}} {
		_, c := both[accounting.Conversion](t, append([]string{"epsilon"}, args...)...)
		if c.Delta == nil || *c.Delta != math.SmallestNonzeroFloat64 || c.LogDelta == nil || *c.LogDelta > -744 {
			t.Errorf("%v: δ = %v", args, *c.Delta)
		}
	}
}

// The table and the lines of optimize: costs, noise and ε up, lower bounds down, and a μ for (ε, δ) that is the one
// in the manifest.
func TestPrintedOptimumIsOnTheSafeSide(t *testing.T) {
	least := func(what string, printed, true, digits float64) {
		t.Helper()
		if printed < true || printed > true*(1+digits) {
			t.Errorf("%s is printed as %v for %v", what, printed, true)
		}
	}
	for i := range 12 {
		args := []string{"optimize", "--graph", "path:3", "--T", "2", "-k", "1", "--no-baselines", "--delta", "1e-6",
			"--clip", fmt.Sprint(0.1 + 0.97*float64(i))}
		if i%2 == 0 {
			args = append(args, flag("mu", 0.1+0.25*float64(i))...)
		} else {
			args = append(args, flag("epsilon", 0.1+0.25*float64(i))...)
		}
		if i%3 == 0 {
			args = append(args, "--adjacency", "replace-one")
		}
		out, m := both[export.Manifest](t, args...)
		least("noise", printed(t, out, "^noise +standard deviation "), m.Privacy.NoiseStd, 1e-5)
		least("ε", printed(t, out, `that is \(`), *m.Privacy.Epsilon, 1e-5)
		least("the gap", printed(t, out, "^gap +"), m.Gap, 0.1)
		if v := printed(t, out, "mu = "); v != m.Privacy.Mu {
			t.Errorf("μ is printed as %v for %v", v, m.Privacy.Mu)
		}
		if v := printed(t, out, "^lower bound +"); v > m.LowerBound || v < m.LowerBound*(1-1e-9) {
			t.Errorf("the lower bound is printed as %v for %v", v, m.LowerBound)
		}
		row := regexp.MustCompile(`(?m)^.*mafalda \(optimal\).*$`).FindString(out)
		cells := strings.FieldsFunc(row, func(r rune) bool { return r == '│' })
		for k, want := range []float64{m.SensSquared, m.SquaredError, m.Loss, m.RMSE} {
			v, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(cells[k+1]), ",", ""), 64)
			if err != nil {
				t.Fatal(err)
			}
			least("a cost", v, want, 2e-6)
		}
	}
}

// Whose records are replaced needs twice the noise, and without μ the text must say so: it said clip/mu.
func TestNoiseOfReplaceOneIsTwice(t *testing.T) {
	for adjacency, want := range map[string]string{
		"zero-out": "standard deviation clip/mu:", "replace-one": "standard deviation 2·clip/mu:"} {
		args := []string{"optimize", "--graph", "cycle:3", "--T", "2", "-k", "1", "--no-baselines",
			"--adjacency", adjacency}
		if code, out, errs := mafalda(args...); code != 0 || !strings.Contains(out, want) {
			t.Errorf("code %d, no %q:\n%s%s", code, want, out, errs)
		}
		want = strings.TrimSuffix(strings.TrimPrefix(want, "standard deviation "), ":")
		if code, out, errs := mafalda(append(args, "--mu", "1")...); code != 0 || !strings.Contains(out, "("+want+")") {
			t.Errorf("code %d, no %q:\n%s%s", code, want, out, errs)
		}
	}
}

// What verify prints of an export that was made without rounding up is still on the safe side.
func TestVerifyPrintsTheSafeSide(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	m := optimizeJSON(t, "--graph", "path:3", "--T", "6", "-k", "2", "--mu", "0.7",
		"--delta", "1e-5", "--clip", "1.3", "--no-baselines", "-o", dir)
	code, out, errs := mafalda("verify", dir)
	if code != 0 {
		t.Fatalf("code %d, %s", code, errs)
	}
	for pattern, true := range map[string]float64{
		"takes noise of standard deviation ": m.Privacy.NoiseStd, `that is \(`: *m.Privacy.Epsilon, "^ok +loss +": m.Loss,
		"squared error ": m.SquaredError, "sens² = ": m.SensSquared} {
		if v := printed(t, out, pattern); v < true || v > true*(1+1e-5) {
			t.Errorf("%q is %v, of %v", pattern, v, true)
		}
	}
}

// account's μ is what the sensitivity gives, not 1 or 2 units in the last place less, and its text is not below its
// JSON.
func TestAccountIsRoundedUp(t *testing.T) {
	for _, sigma := range []float64{0.3, 1.1, 7} {
		args := append([]string{"account", "--graph", "florentine", "--T", "6", "--attacker", "Medici",
			"--delta", "1e-6"}, flag("sigma", sigma)...)
		out, a := both[threat.Report](t, args...)
		most := 0.0
		for _, p := range a.Pairs {
			if p.Infinite {
				continue
			}
			if p.Distance != nil && *p.Distance == 1 {
				most = max(most, *p.Mu)
			}
			if less := *p.Mu * (1 - 0x1p-51); compareSquares(*p.Mu, sigma, *p.SensSquared) < 0 || compareSquares(less, sigma, *p.SensSquared) > 0 {
				t.Errorf("σ = %v, sens² = %v: μ = %v", sigma, *p.SensSquared, *p.Mu)
			}
			if rdp, err := accounting.RDP(*p.Mu, 2); err != nil || rdp != *p.RDP {
				t.Errorf("μ = %v: ρ = %v, want %v, %v", *p.Mu, *p.RDP, rdp, err)
			}
		}
		row := regexp.MustCompile("(?m)^│ 1 .*$").FindString(out)
		cells := strings.FieldsFunc(row, func(r rune) bool { return r == '│' })
		if v, err := strconv.ParseFloat(strings.TrimSpace(cells[5]), 64); err != nil || v < most || v > most*1.00001 {
			t.Errorf("μ is printed as %v for %v, %v:\n%s", v, most, err, row)
		}
	}
}

// compareSquares compares (μσ)² with sens², exactly.
func compareSquares(mu, sigma, squared float64) int {
	exact := func(v float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(v) }
	product := new(big.Float).Mul(exact(mu), exact(sigma))
	return product.Mul(product, product).Cmp(exact(squared))
}
