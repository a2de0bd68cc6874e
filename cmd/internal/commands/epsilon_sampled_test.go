package commands

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestSampledEpsilon(t *testing.T) {
	convert := func(flags string) (r struct {
		NoiseMultiplier float64 `json:"noise_multiplier"`
		Epsilon         float64 `json:"epsilon"`
		Lower           float64 `json:"epsilon_lower"`
		Delta           float64 `json:"delta"`
	}) {
		t.Helper()
		args := "epsilon --sampling poisson:probability=0.05263157894736842,rounds=380 --delta 1e-6 --json " + flags
		code, out, errs := mafalda(strings.Fields(args)...)
		if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil {
			t.Fatalf("%s: code %d, %v, %s%s", flags, code, err, out, errs)
		}
		return r
	}
	r := convert("--noise-multiplier 1") // 7.82114 by another accountant, rounded up by about 1 % at most
	if r.Epsilon < 7.74 || r.Epsilon > 7.83 || r.Lower > r.Epsilon || r.Lower < 0.998*r.Epsilon || r.Delta != 1e-6 {
		t.Errorf("%+v", r)
	}
	back := convert(fmt.Sprintf("--epsilon %v", r.Epsilon))
	if back.NoiseMultiplier < 0.999 || back.NoiseMultiplier > 1.001 || back.Epsilon > r.Epsilon {
		t.Errorf("%+v", back)
	}
	code, out, _ := mafalda(strings.Fields(
		"epsilon --sampling poisson:probability=0.1,rounds=100 --noise-multiplier 2 --delta 1e-5")...)
	if code != 0 || !strings.Contains(out, "epsilon           ") || !strings.Contains(out, "noise multiplier  2\n") {
		t.Errorf("code %d\n%s", code, out)
	}
}

// An ε that may be far from the least one says so, and what proves it; one that is not does not.
func TestSampledEpsilonSaysWhatItIs(t *testing.T) {
	for flags, say := range map[string]string{
		"--sampling probability=1e-9 --sampling rounds=100000000 --delta 1e-300 --noise-multiplier 1": "with every record in every round: a fallback\n",
		"--sampling probability=0.05 --sampling rounds=100 --delta 1e-300 --epsilon 2":                "more than 0.2 % apart here",
		"--sampling probability=0.05 --sampling rounds=100 --delta 1e-6 --epsilon 2":                  "",
		"--sampling probability=0.05 --sampling rounds=100 --delta 0.999999 --epsilon 2":              "", // this did not end
	} {
		code, out, errs := mafalda(strings.Fields("epsilon --sampling poisson " + flags)...)
		if code != 0 || !strings.Contains(out, say) || strings.Contains(out, "proven by") != (say != "") {
			t.Errorf("%s: code %d\n%s%s", flags, code, out, errs)
		}
	}
	code, out, _ := mafalda(strings.Fields(
		"epsilon --sampling poisson:probability=0.1,rounds=1 --noise-multiplier 2 --delta 1e-5 --json")...)
	if code != 0 || !strings.Contains(out, `"proven_by":"one round"`) {
		t.Errorf("code %d\n%s", code, out)
	}
}

// Random allocation has a smaller ε than Poisson sampling with as many participations on average, and the noise for it
// is found again.
func TestAllocationEpsilon(t *testing.T) {
	convert := func(flags string) (r struct {
		NoiseMultiplier float64 `json:"noise_multiplier"`
		Epsilon         float64
	}) {
		t.Helper()
		code, out, errs := mafalda(strings.Fields("epsilon --sampling allocation:choices=19,rounds=20 --delta 1e-6 --json " + flags)...)
		if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil || strings.Contains(out, "lower") {
			t.Fatalf("%s: code %d, %v, %s%s", flags, code, err, out, errs)
		}
		return r
	}
	r := convert("--noise-multiplier 1") // of Poisson sampling: 7.8
	if r.Epsilon < 7.0 || r.Epsilon > 7.1 {
		t.Errorf("%+v", r)
	}
	if back := convert(fmt.Sprintf("--epsilon %v", r.Epsilon)); math.Abs(back.NoiseMultiplier-1) > 1e-3 || back.Epsilon > r.Epsilon {
		t.Errorf("%+v", back)
	}
}

func TestBadSampledEpsilon(t *testing.T) {
	for flags, say := range map[string]string{
		"--sampling bins": "--sampling bins: choose poisson",
		"--sampling allocation --sampling choices=0,rounds=3 --noise-multiplier 1 --delta 0.1":                "--sampling choices 0: must be",
		"--sampling allocation --sampling choices=3,rounds=0 --noise-multiplier 1 --delta 0.1":                "there are no blocks",
		"--sampling allocation --sampling choices=3,rounds=3 --noise-multiplier NaN --delta 0.1":              "--noise-multiplier NaN: must",
		"--sampling allocation --sampling choices=3,rounds=3 --epsilon -1 --delta 0.1":                        "--epsilon -1: must be",
		"--sampling allocation --sampling choices=3,rounds=3 --epsilon 1 --delta 1e-200":                      "--delta 1e-200: must be",
		"--sampling allocation --sampling rounds=3 --epsilon 1 --delta 0.1":                                   "--sampling choices is missing",
		"--sampling allocation --sampling probability=0.1,rounds=3 --epsilon 1 --delta 0.1":                   "--sampling probability is for --sampling poisson or --sampling truncated",
		"--sampling poisson --sampling probability=0.1,rounds=3 --noise-multiplier 1":                         "--delta is missing",
		"--sampling poisson --sampling rounds=3 --noise-multiplier 1 --delta 0.1":                             "--sampling probability is missing",
		"--sampling poisson --sampling probability=0.1 --noise-multiplier 1 --delta 0.1":                      "--sampling rounds is missing",
		"--sampling poisson --sampling probability=0.1,rounds=3 --delta 0.1":                                  "needs --noise-multiplier",
		"--sampling poisson --sampling probability=0.1,rounds=3 --delta 0.1 --epsilon 1 --noise-multiplier 1": "--noise-multiplier and --epsilon: only one of them",
		"--sampling poisson --sampling probability=1.5,rounds=3 --noise-multiplier 1 --delta 0.1":             "--sampling probability 1.5: must be",
		"--sampling poisson --sampling probability=0,rounds=3 --noise-multiplier 1 --delta 0.1":               "--sampling probability 0: must be",
		"--sampling poisson --sampling probability=NaN,rounds=3 --noise-multiplier 1 --delta 0.1":             "--sampling probability NaN: must be",
		"--sampling poisson --sampling probability=0.1,rounds=0 --noise-multiplier 1 --delta 0.1":             "--sampling rounds 0: must be",
		"--sampling poisson --sampling probability=0.1,rounds=3 --noise-multiplier 0 --delta 0.1":             "--noise-multiplier 0: must be",
		"--sampling poisson --sampling probability=0.1,rounds=3 --noise-multiplier 1 --delta 0":               "--delta 0: must be",
		"--sampling poisson --sampling probability=0.1,rounds=3 --noise-multiplier 1 --delta 1":               "--delta 1: must be",
		"--sampling poisson --sampling probability=0.1,rounds=3 --epsilon 0 --delta 0.1":                      "--epsilon 0: must be",
		"--sampling poisson --sampling probability=0.5,rounds=1e8 --epsilon 1e-6 --delta 1e-9":                "out of reach",
		"--sampling poisson --mu 1 --delta 0.1":                                                               "--sampling and --mu: only one of them",
		"--sampling probability=0.1 --mu 1 --delta 0.1":                                                       "is for --sampling poisson",
	} {
		code, out, errs := mafalda(append([]string{"epsilon"}, strings.Fields(flags)...)...)
		if code != 2 || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, say) {
			t.Errorf("%s: code %d, stdout %q, stderr %q; want 2 and one line with %q", flags, code, out, errs, say)
		}
	}
}
