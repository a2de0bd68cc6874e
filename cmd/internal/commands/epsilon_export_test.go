package commands

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"mafalda/accounting"
	"mafalda/accounting/pld"
	"mafalda/export"
	"mafalda/internal/npy"
	"mafalda/noise"
)

// spentOf asks the command what is spent after all steps, from 0 on.
func spentOf(t *testing.T, dir string, flags ...string) []noise.Spent {
	t.Helper()
	e, err := export.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	var steps []string
	for s := range e.Manifest.Steps + 1 {
		steps = append(steps, strconv.Itoa(s))
	}
	code, out, errs := mafalda(append([]string{"epsilon", "--export", dir, "--step", strings.Join(steps, ","), "--json"}, flags...)...)
	var r struct{ Spent []noise.Spent }
	if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil || len(r.Spent) != len(steps) {
		t.Fatalf("%s: code %d, %v, %s%s", dir, code, err, out, errs)
	}
	return r.Spent
}

// patternsBefore lists, by the definition of the schema, all sets of steps before t that a record can have taken part in.
func patternsBefore(p export.Participation, steps, t int) (all [][]int) {
	add := func(pattern []int) {
		var cut []int
		for _, s := range pattern {
			if s < t {
				cut = append(cut, s)
			}
		}
		if len(cut) > 0 {
			all = append(all, cut)
		}
	}
	switch p.Schema {
	case "patterns":
		for _, pattern := range p.Patterns {
			add(pattern)
		}
	case "min-sep":
		var grow func(pattern []int, from int)
		grow = func(pattern []int, from int) {
			add(pattern)
			for s := from; s < steps && len(pattern) < p.K; s++ {
				grow(append(append([]int(nil), pattern...), s), s+p.B)
			}
		}
		grow(nil, 0)
	case "people": // unions of two batches
		for first := range p.B {
			for second := range first {
				var union []int
				for s := range steps {
					if s%p.B == first || s%p.B == second {
						union = append(union, s)
					}
				}
				add(union)
			}
		}
	default: // cyclic, single
		for first := range steps {
			var pattern []int
			for s := first; s < steps && len(pattern) < p.K; s += p.B {
				pattern = append(pattern, s)
			}
			add(pattern)
		}
	}
	return all
}

// vectorValue is max Σ X[s,u]⟨g_s, g_u⟩ over unit vectors g of the pattern, by ascent from random starts: each vector in
// turn takes the direction that is best for it.
func vectorValue(x [][]float64, pattern []int, r *rand.Rand) (best float64) {
	k := len(pattern)
	for range 3 {
		g := make([][]float64, k)
		for i := range g {
			g[i] = make([]float64, k)
			for j := range g[i] {
				g[i][j] = r.NormFloat64()
			}
		}
		var value float64
		for range 3000 {
			before := value
			value = 0
			for i, s := range pattern {
				pull := make([]float64, k)
				for j, u := range pattern {
					if i == j {
						continue
					}
					for c := range pull {
						pull[c] += x[s][u] * g[j][c]
					}
				}
				norm := 0.0
				for _, v := range pull {
					norm += v * v
				}
				norm = math.Sqrt(norm)
				value += x[s][s] + norm
				for c := range pull {
					if norm > 0 {
						g[i][c] = pull[c] / norm
					} else {
						g[i][c] = map[bool]float64{true: 1}[c == 0]
					}
				}
			}
			if math.Abs(value-before) <= 1e-13*value {
				break
			}
		}
		value = 0
		for i, s := range pattern {
			for j, u := range pattern {
				var dot float64
				for c := range k {
					dot += g[i][c] * g[j][c]
				}
				if i == j {
					dot = 1
				}
				value += x[s][u] * dot
			}
		}
		best = math.Max(best, value)
	}
	return best
}

// definition returns sens² of C[:t,:t] for t = 0, …, T: from the matrix alone, pattern by pattern.
func definition(c []float64, steps int, p export.Participation) []float64 {
	r := rand.New(rand.NewPCG(1, 2))
	values := make([]float64, steps+1)
	for t := 1; t <= steps; t++ {
		x := make([][]float64, t)
		for s := range x {
			x[s] = make([]float64, t)
			for u := range x[s] {
				for i := range t {
					x[s][u] += c[i*steps+s] * c[i*steps+u]
				}
			}
		}
		for _, pattern := range patternsBefore(p, steps, t) {
			values[t] = math.Max(values[t], vectorValue(x, pattern, r))
		}
	}
	return values
}

// The odometer is what the definition says, from C.npy and the patterns alone, for all classes of strategies.
func TestOdometerIsTheDefinition(t *testing.T) {
	patterns := writeFile(t, "patterns", "0 3 6 9\n1 4 7\n2 5 8\n0 10\n11 1\n")
	for i, flags := range []string{
		"", "-k 2", "-k 1", "-k 12", "--T 20 -k 5", "--T 20 -k 3 -b 4", "--T 10 -k 4 -b 2", "--adjacency replace-one --clip 3",
		"--strategy banded --strategy bandwidth=3", "--strategy banded --strategy bandwidth=2 -k 6", "--strategy toeplitz",
		"--strategy toeplitz --strategy bandwidth=4", "--strategy toeplitz --strategy scale-columns", "--strategy blt --strategy buffers=2",
		"--strategy banded-inverse --strategy bandwidth=3", "--optimizer momentum:0.9 --learning-rates cosine", "--objective last",
		"--schema min-sep -b 3", "--schema min-sep -b 4 --strategy banded --strategy bandwidth=4", "--schema " + patterns,
		"--trust secldp", "--strategy per-node", "--strategy groups=2", "--workload message", "--unit person --unit person:batches=2",
	} {
		t.Run(flags, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "out")
			privacy := []string{"--mu 0.8", "--epsilon 2 --delta 1e-5"}[i%2]
			args := strings.Fields("--graph florentine --T 12 -k 3 --no-baselines " + privacy + " " + flags)
			if strings.Contains(flags, "--schema") {
				args = strings.Fields("--graph florentine --T 12 --no-baselines " + privacy + " " + flags)
			}
			optimizeJSON(t, append(args, "-o", dir)...)
			e, err := export.Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			a, err := npy.ReadFile(filepath.Join(dir, "C.npy"))
			if err != nil {
				t.Fatal(err)
			}
			m, got := e.Manifest, spentOf(t, dir)
			T := m.Steps
			want := make([]float64, T+1)
			for layer := range len(a.Data) / (T * T) {
				for s, v := range definition(a.Data[layer*T*T:(layer+1)*T*T], T, m.Participation) {
					want[s] = math.Max(want[s], v)
				}
			}
			contribution := m.Privacy.Clip
			if m.Privacy.Adjacency == "replace-one" {
				contribution *= 2
			}
			strictly := 0
			for s := T; s >= 0; s-- {
				mu := *got[s].Mu
				truth := math.Sqrt(want[s]) * contribution / m.Privacy.NoiseStd
				if mu < truth*(1-1e-12) && s < T {
					t.Errorf("after %d steps: mu %v, the truth is %v", s, mu, truth)
				}
				exact := truth * (1 + 2e-6)
				if m.Participation.Schema == "min-sep" && m.Strategy.Class != "banded" {
					exact = m.Privacy.Mu // its bounds are bounds
				}
				if mu > math.Min(exact, m.Privacy.Mu) {
					t.Errorf("after %d steps: mu %v, the truth is %v, the plan's %v", s, mu, truth, m.Privacy.Mu)
				}
				if s < T && mu > *got[s+1].Mu*(1+1e-6) {
					t.Errorf("after %d steps mu is %v, then %v", s, mu, *got[s+1].Mu)
				}
				if mu < m.Privacy.Mu*(1-1e-3) {
					strictly++
				}
				checkEpsilonOf(t, m, got[s])
			}
			if strictly == 0 && m.Participation.K > 1 {
				t.Error("it says the plan's number from the first step on")
			}
		})
	}
}

// A node with a budget of its own has spent its μ times the sensitivity of the leading block, also where nodes share
// noise, whose Z has one standard deviation at all of them.
func TestOdometerOfBudgets(t *testing.T) {
	levels := writeFile(t, "levels.csv", "node,mu,clip\n0,0.5,1\n1,2,1.5\n2,1,0.2\n")
	for _, flags := range [][]string{nil, {"--trust", "secldp"}} {
		dir := filepath.Join(t.TempDir(), "out")
		optimizeJSON(t, append(flags, "--graph", "path:3", "--T", "8", "-k", "2", "--no-baselines", "--budgets", levels, "-o", dir)...)
		a, err := npy.ReadFile(filepath.Join(dir, "C.npy"))
		if err != nil {
			t.Fatal(err)
		}
		squared := definition(a.Data, 8, export.Participation{Schema: "cyclic", K: 2, B: 4})
		for node, mu := range map[string]float64{"0": 0.5, "1": 2, "2": 1} {
			for s, got := range spentOf(t, dir, "--node", node) {
				if want := mu * math.Sqrt(squared[s]); *got.Mu < math.Min(want*(1-1e-12), mu) || *got.Mu > want*(1+2e-6) {
					t.Errorf("%v: node %s after %d steps: mu %v, not %v", flags, node, s, *got.Mu, want)
				}
			}
		}
		for s, got := range spentOf(t, dir)[1:] {
			if got.Node != "1" || *got.Mu > 2 {
				t.Errorf("%v: after %d steps %+v, where node 1 has spent the most", flags, s+1, got)
			}
		}
	}
}

// checkEpsilonOf compares ε with μ.
func checkEpsilonOf(t *testing.T, m *export.Manifest, s noise.Spent) {
	t.Helper()
	if m.Privacy.Delta == nil {
		if s.Epsilon != nil {
			t.Errorf("epsilon %v without a delta", *s.Epsilon)
		}
		return
	}
	if *s.Mu == 0 {
		if *s.Epsilon != 0 {
			t.Errorf("epsilon %v of nothing", *s.Epsilon)
		}
		return
	}
	delta, err := accounting.Delta(*s.Mu*(1-1e-14), *s.Epsilon)
	if err != nil || delta > *m.Privacy.Delta {
		t.Errorf("after %d steps epsilon %v with mu %v has delta %v, %v", s.Steps, *s.Epsilon, *s.Mu, delta, err)
	}
}

// Under Poisson sampling it is the accountant's number for the rounds that a record can have been drawn for before the
// step, counted group by group; with random bins it is the plan's number, or the number of a known draw.
func TestOdometerOfSecretBatches(t *testing.T) {
	for _, flags := range []string{"--strategy bandwidth=3", "--T 14 -b 4 --strategy bandwidth=2", "--trust secldp --strategy bandwidth=2"} {
		dir := filepath.Join(t.TempDir(), "out")
		args := strings.Fields("--graph cycle:6 --T 8 -k 2 --no-baselines --epsilon 2 --delta 1e-5 --sampling poisson " + flags)
		if strings.Contains(flags, "-b") && strings.Contains(flags, "--T") {
			args = strings.Fields("--graph cycle:6 --no-baselines --epsilon 2 --delta 1e-5 --sampling poisson " + flags)
		}
		optimizeJSON(t, append(args, "-o", dir)...)
		e, err := export.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		m := e.Manifest
		s := m.Sampling
		for step, got := range spentOf(t, dir) {
			most := 0
			for group := range s.Groups {
				count := 0
				for u := range step {
					if u%s.Groups == group {
						count++
					}
				}
				most = max(most, count)
			}
			want := 0.0
			if most > 0 {
				d, err := pld.Compose(accounting.ZeroOut, pld.Rounds{Rounds: most,
					Mechanism: pld.Mechanism{Probability: s.Probability, NoiseMultiplier: m.Privacy.NoiseStd / m.Privacy.Clip}})
				if err != nil {
					t.Fatal(err)
				}
				if want, _, err = d.Epsilon(*m.Privacy.Delta); err != nil {
					t.Fatal(err)
				}
			}
			if got.Mu != nil || math.Abs(*got.Epsilon-math.Min(want, *m.Privacy.Epsilon)) > 1e-9*want {
				t.Errorf("%q after %d steps: %v; the accountant says %v of %d rounds", flags, step, got, want, most)
			}
		}
	}
	dir := filepath.Join(t.TempDir(), "bins")
	optimizeJSON(t, "--graph", "cycle:6", "--T", "4", "-k", "2", "--no-baselines", "--epsilon", "2", "--delta", "1e-2",
		"--sampling", "bins", "--sampling", "samples=4096", "-o", dir)
	curve := spentOf(t, dir)
	if last := curve[4]; *last.Epsilon != 2 || last.By != noise.ByPlan {
		t.Errorf("bins: %v by %s", last, last.By)
	}
	for s, got := range curve {
		if *got.Epsilon > 2 || s == 1 && got.By != noise.ByKnownDraw {
			t.Errorf("bins after %d steps: %v by %s", s, got, got.By)
		}
	}
}
