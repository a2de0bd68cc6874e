package spent

import (
	"math"
	"strings"
	"testing"

	"mafalda/internal/fault"
)

// account returns what a description gives away.
func account(t *testing.T, text string) *Account {
	t.Helper()
	r, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	a, err := r.Account()
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return a
}

func total(a *Account) float64 { return a.Rounds[len(a.Rounds)-1].Epsilon }

// integrated returns δ of a whole run at an ε, by definition: the integral of (P - e^ε Q)₊ over what two rounds show, each a number
// that is q·N(shift, 1) + (1 - q)·N(0, 1) with the unit and N(0, 1) without.
func integrated(epsilon, q1, shift1, q2, shift2 float64) float64 {
	const step, reach = 0.03, 9 // within a thousandth
	density := func(x, q, shift float64) (with, without float64) {
		phi := func(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }
		return q*phi(x-shift) + (1-q)*phi(x), phi(x)
	}
	var removed, added float64
	for x := -reach - 0.; x < reach+shift1; x += step {
		px, qx := density(x, q1, shift1)
		for y := -reach - 0.; y < reach+shift2; y += step {
			py, qy := density(y, q2, shift2)
			removed += math.Max(px*py-math.Exp(epsilon)*qx*qy, 0)
			added += math.Max(qx*qy-math.Exp(epsilon)*px*py, 0)
		}
	}
	return math.Max(removed, added) * step * step
}

// near says that δ at the ε is the wanted one, a few percent of it at most, and not above.
func TestTotalsAreIntegrals(t *testing.T) {
	for text, shifts := range map[string][4]float64{
		// two rounds of noise 1.5 for contributions of 1
		"unit='silo'\ndelta=1e-4\nrounds=2\nclip=2\nsigma=3": {1, 1 / 1.5, 1, 1 / 1.5},
		// two neighbours get noise of their own in one round, and one in the other
		"unit='silo'\ndelta=1e-4\nnoise_multiplier=2\n[[phase]]\nrounds=1\nrecipients=2\n[[phase]]\nrounds=1": {1, math.Sqrt2 / 2, 1, .5},
		// a count of clipped updates comes with the round, and a unit weighs twice
		"unit='silo'\ndelta=1e-4\nrounds=2\nnoise_multiplier=4\nweight=2\ncount_std=3": {1, math.Hypot(.5, 1./3), 1, math.Hypot(.5, 1./3)},
		// secret draws
		"preset='opacus'\ndelta=1e-4\nrounds=2\nprobability=0.3\nnoise_multiplier=1.2":                               {.3, 1 / 1.2, .3, 1 / 1.2},
		"unit='record'\ndelta=1e-4\nnoise_multiplier=1.2\n[[phase]]\nprobability=0.3\nrounds=1\n[[phase]]\nrounds=1": {.3, 1 / 1.2, 1, 1 / 1.2},
		// another in the place of one: twice the contribution
		"unit='record'\nadjacency='replace-one'\ndelta=1e-4\nrounds=2\nnoise_multiplier=3": {1, 2. / 3, 1, 2. / 3},
	} {
		got := total(account(t, text))
		if delta := integrated(got, shifts[0], shifts[1], shifts[2], shifts[3]); delta > 1.001e-4 || delta < 0.98e-4 {
			t.Errorf("%q: ε = %v has δ = %v", text, got, delta)
		}
	}
}

// Flower's LocalDpMod with ε = 3 is 2.53 a round, 15.0 after 20 rounds and 44.8 after 100; p2pfl with four neighbours gives
// away the ε of four times as many rounds.
func TestAnnouncedRounds(t *testing.T) {
	const local = "preset='flower-local-dp'\ndelta=1e-5\nepsilon=3\nclip=1\n"
	a := account(t, local+"rounds=20")
	if p := a.Phases[0]; math.Abs(p.Epsilon-2.53) > 0.01 || p.Announced != 3 || math.Abs(total(a)-15.0) > 0.05 {
		t.Errorf("%+v", a)
	}
	if hundred := total(account(t, local+"rounds=100")); math.Abs(hundred-44.8) > 0.05 {
		t.Errorf("after 100 rounds %v", hundred)
	}
	louder := strings.Replace(local, "clip=1", "clip=1\nsensitivity=0.5", 1)
	if half := total(account(t, louder+"rounds=5")); math.Abs(half/total(account(t, local+"rounds=20"))-1) > 1e-9 {
		t.Errorf("half the sensitivity: %v", half)
	}
	if other := account(t, local+"announced_delta=1e-3\nrounds=20"); math.Abs(other.Phases[0].Multiplier-math.Sqrt(2*math.Log(1250))/3) > 1e-9 {
		t.Errorf("the formula has another δ: %+v", other.Phases[0])
	}
	gossip := "preset='p2pfl'\ndelta=1e-5\nepsilon=3\nclip=1\nrecipients=4\nrounds=5"
	if got, want := total(account(t, gossip)), total(a); math.Abs(got/want-1) > 1e-9 {
		t.Errorf("p2pfl: %v, must be %v", got, want)
	}
	// what keeps the run to 3 does, and hardly less would
	for _, times := range []float64{1, 0.999} {
		sigma := a.Keep.Times * times * math.Sqrt(2*math.Log(1.25e5)) / 3
		r := Run{Unit: "silo", Delta: 1e-5, Phases: []Phase{{Rounds: 20, Clip: 1, Sigma: sigma}}}
		b, err := r.Account()
		if err != nil || (total(b) <= 3) != (times == 1) {
			t.Errorf("noise times %v: %v, %v", times*a.Keep.Times, total(b), err)
		}
	}
	if a.Keep.Rounds != 1 {
		t.Errorf("%d rounds keep to it", a.Keep.Rounds)
	}
}

// Pure mechanisms add up, or, in many rounds of little, do better; 1-norms are √d times 2-norms.
func TestPureMechanisms(t *testing.T) {
	laplace := func(rounds string) float64 {
		return total(account(t, "unit='silo'\ndelta=1e-6\nmechanism='laplace'\nclip=1\nsigma=50\nparameters=4\nrounds="+rounds))
	}
	if one, few, many := laplace("1"), laplace("3"), laplace("1000"); math.Abs(one-2./50) > 1e-12 || math.Abs(few-6./50) > 1e-12 || many > 20 {
		t.Errorf("%v, %v, %v", one, few, many)
	}
	svt := account(t, "preset='nvflare-svt'\ndelta=1e-6\nparameters=1001\nrounds=2")
	if want := 2 * (0.1 + 101*0.1); math.Abs(total(svt)-want) > 1e-9 {
		t.Errorf("%v, must be %v", total(svt), want)
	}
	release := account(t, "preset='nvflare-svt'\ndelta=1e-6\nparameters=1001\nepsilon_release=3\nrounds=2")
	if want := 2 * (0.1 + 3); math.Abs(total(release)-want) > 1e-9 {
		t.Errorf("%v, must be %v", total(release), want)
	}
	both := account(t, "unit='silo'\ndelta=1e-6\nclip=1\n[[phase]]\nsigma=5\nrounds=1\n[[phase]]\nmechanism='laplace'\nparameters=1\nsigma=2\nrounds=2")
	gaussian := account(t, "unit='silo'\ndelta=1e-6\nclip=1\nsigma=5\nrounds=1")
	if math.Abs(total(both)-total(gaussian)-1) > 1e-9 {
		t.Errorf("%v and 1 are not %v", total(gaussian), total(both))
	}
}

// Every preset is read, and says against whom, where that stands, and what it leaves open.
func TestPresets(t *testing.T) {
	for _, name := range Presets() {
		says := "clip=1\nepsilon=1"
		if name == "opacus" || name == "flower-central-dp" {
			says = "noise_multiplier=1"
		} else if name == "nvflare-svt" {
			says = "parameters=10"
		}
		a := account(t, "preset='"+name+"'\ndelta=1e-5\nrounds=3\n"+says)
		if a.Against == "" || len(a.Open) == 0 || !strings.HasPrefix(a.Source, "https://") || total(a) <= a.Rounds[0].Epsilon {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// What is no description is one clear line.
func TestBadDescriptions(t *testing.T) {
	const good = "unit='silo'\ndelta=1e-5\nrounds=3\nclip=1\nsigma=1\n"
	account(t, good)
	for text, want := range map[string]string{
		"rounds":                               "no description",
		good + "ephsilon=3":                    `unknown key "ephsilon"`,
		good + "epsilon=3":                     "how large is the noise?",
		good + "rounds=4":                      "no description",
		good + "preset='flower'":               "preset flower: must be one of flower-central-dp",
		"unit='client'\n":                      "unit \"client\": must be one of record, person, silo",
		"unit='silo'\ndelta=1":                 "delta 1: must be between 0 and 1",
		"unit='silo'\ndelta=nan":               "delta NaN: must be",
		"unit='silo'\ndelta=1e-5":              "rounds 0: must be at least 1",
		good + "probability=1.5":               "probability 1.5: must be at least 0 and at most 1",
		good + "weight=-1":                     "weight -1: must be at least 0 and finite",
		good + "adjacency='same'":              "adjacency same: must be one of",
		good + "mechanism='noise'":             "must be gaussian, matrix, laplace or svt",
		good + "mechanism='laplace'":           "parameters: which? mechanism laplace needs it",
		good + "sensitivity=2":                 "sensitivity 2 is of epsilon",
		good + "fraction=0.1":                  "fraction 0.1 is of mechanism svt",
		good + "[[phase]]\nrounds=0":           "rounds 0: must be",
		good + "[[phase]]\nround=1":            `unknown key "phase.round"`,
		strings.Replace(good, "clip=1", "", 1): "clip: to which norm",
		good + "Rounds=1":                      `unknown key "Rounds"`,
		good + "[[Phase]]\nrounds=1":           `unknown key "Phase"`,
		good + "weight=0.5":                    "weight 0.5: must be at least 1",
		good + "weight=1e200":                  "noise_multiplier 0: must be from 0.01",
		good + "count_std=1e-170":              "noise_multiplier 0: must be from 0.01",
		good + "announced_delta=0.1":           "announced_delta 0.1 is of epsilon",
		strings.Replace(good, "sigma=1", "noise_multiplier=1e-160", 1):                         "noise_multiplier 0: must be from 0.01",
		strings.Replace(good, "sigma=1", "sigma=1e300", 1):                                     "must be from 0.01",
		strings.Replace(good, "sigma=1", "mechanism='laplace'\nparameters=3\nsigma=1e-320", 1): "must be from 0.01",
		"preset='opacus'\nunit='person'":                                                       "unit person is record in opacus",
	} {
		checkRefusal(t, text, want)
	}
}

// checkRefusal fails unless a description is refused by one line that has the words want.
func checkRefusal(t *testing.T, text, want string) {
	t.Helper()
	_, err := Read(strings.NewReader(text))
	said := ""
	if err != nil {
		said = fault.Keyed(err)
	}
	if !strings.Contains(said, want) || strings.Contains(said, "\n") {
		t.Errorf("%q: %q, must say %q", text, said, want)
	}
}
