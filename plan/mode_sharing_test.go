package plan_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/accounting"
	"mafalda/export"
	"mafalda/factorize"
	"mafalda/factorize/baselines"
	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/optim"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/secrets"
	"mafalda/workload"
)

func networkOf(t fataler, source string) *graph.Network {
	t.Helper()
	return must(graph.LoadNetwork(context.Background(), graph.NetworkOptions{Source: source}))
}

// sharedOn returns the problem of T = k·b steps on a network whose nodes share noise.
func sharedOn(t fataler, n *graph.Network, k, b int, s plan.Sharing) plan.Problem {
	t.Helper()
	return plan.Problem{Network: n, Schema: must(participation.NewCyclic(k*b, k, b)), Sharing: must(s.Resolve(n))}
}

// seen is max [M_A⁻¹]_vv by definition: what A does not know of the others' noise, inverted.
func seen(n *secrets.Noise, a *secrets.Attackers) float64 {
	var worst float64
	for _, coalition := range allowed(a) {
		var others []int
		for v := range n.Own {
			if !slices.Contains(coalition, v) {
				others = append(others, v)
			}
		}
		m := mat.NewDense(len(others), len(others), nil)
		for i, v := range others {
			m.Set(i, i, n.Own[v]*n.Own[v])
		}
		for _, p := range n.Pairs {
			u, v, e := slices.Index(others, p.U), slices.Index(others, p.V), p.Deviation*p.Deviation
			if u >= 0 && v >= 0 {
				m.Set(u, u, m.At(u, u)+e)
				m.Set(v, v, m.At(v, v)+e)
				m.Set(u, v, -e)
				m.Set(v, u, -e)
			}
		}
		var inverse mat.Dense
		if err := inverse.Inverse(m); err != nil {
			return math.Inf(1)
		}
		for i := range others {
			worst = math.Max(worst, inverse.At(i, i))
		}
	}
	return worst
}

// errorOf is the squared error by definition: every number that a node or a pair draws runs through the network.
func errorOf(w mat.Matrix, noising *mat.Dense, n *secrets.Noise) float64 {
	steps, _ := noising.Dims()
	nodes := len(n.Own)
	var total float64
	impulse := func(b *mat.VecDense) {
		for drawn := range steps {
			model := mat.NewVecDense(nodes, nil)
			for t := drawn; t < steps; t++ {
				model.AddScaledVec(model, noising.At(t, drawn), b)
				var next mat.VecDense
				next.MulVec(w, model)
				model = &next
				total += mat.Dot(model, model)
			}
		}
	}
	for i, d := range n.Own {
		b := mat.NewVecDense(nodes, nil)
		b.SetVec(i, d)
		impulse(b)
	}
	for _, p := range n.Pairs {
		b := mat.NewVecDense(nodes, nil)
		b.SetVec(p.U, p.Deviation)
		b.SetVec(p.V, -p.Deviation)
		impulse(b)
	}
	return total
}

// checkShared compares what a solution says with the definitions.
func checkShared(t fataler, s *plan.Solution) *export.Manifest {
	t.Helper()
	m, n := s.Manifest(), s.Space.Noise
	if v := seen(n, s.Problem.Sharing.Setting().Attackers); !(v <= 1+1e-12) || math.Abs(m.Space.Worst.Value-v) > 1e-9 {
		t.Errorf("%v is seen; said to be %+v", v, m.Space.Worst)
	}
	var noising mat.TriDense
	if err := s.Strategy().NoisingTo(&noising); err != nil {
		t.Fatal(err)
	}
	is := errorOf(s.Problem.Network.Gossip.Matrix(), mat.DenseCopyOf(&noising), n)
	if math.Abs(is/m.SquaredError-1) > 1e-9 || math.Abs(m.Loss-m.SensSquared*m.SquaredError) > 1e-12*m.Loss {
		t.Errorf("squared error %v; said to be %v, with the loss %v", is, m.SquaredError, m.Loss)
	}
	if b := m.Baselines; len(b) == 1 { // without others
		return m
	}
	if !(m.JointLowerBound <= m.Loss) || m.Loss > m.LDPLoss*(1+1e-4) || m.LowerBound != 0 || m.Gap != 0 ||
		m.Trust != export.TrustSecLDP {
		t.Errorf("loss %v, LDP %v, joint bound %v, bound %v, gap %v", m.Loss, m.LDPLoss, m.JointLowerBound, m.LowerBound,
			m.Gap)
	}
	if b := m.Baselines; b[baselines.DECOR].Loss < m.JointLowerBound || b[baselines.DECORInTime].Loss < m.Loss*(1-1e-4) ||
		b[baselines.LDPOptimal].Loss != m.LDPLoss {
		t.Errorf("baselines %v, loss %v, LDP %v", b, m.Loss, m.LDPLoss)
	}
	return m
}

// exportOf writes a solution, which is checked, and compares what is in the folder with it.
func exportOf(t *testing.T, s *plan.Solution) *export.Export {
	t.Helper()
	checkShared(t, s)
	dir := filepath.Join(t.TempDir(), "export")
	if err := s.Export(dir, export.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	e := must(export.Load(dir))
	setting, pairs := s.Problem.Sharing.Setting(), must(e.Shared.Graph())
	attackers := must(e.Manifest.Space.Coalitions.Attackers(e.Shared.Labels))
	if !slices.Equal(pairs.Pairs(), setting.Secrets.Pairs()) ||
		!slices.EqualFunc(attackers.Coalitions(), setting.Attackers.Coalitions(), slices.Equal) {
		t.Errorf("exported pairs %v, attackers %v", pairs, attackers)
	}
	if !mat.Equal(e.Shared.Covariance(), s.Space.Noise.Covariance()) || e.Manifest.Loss != s.Quality.Loss ||
		e.Manifest.CheckPrivacy() != nil {
		t.Errorf("%+v, not %+v; %v", e.Shared, s.Space.Noise, e.Manifest.CheckPrivacy())
	}
	return e
}

// Shared noise on small random networks, between random pairs, costs and hides what its export says, and with LDP
// alone the same problem costs ldp_loss.
func TestSharedNoise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := networkOf(t, rapid.SampledFrom([]string{"path:4", "cycle:5", "star:4", "complete:3", "path:2"}).Draw(t, "graph"))
		p := sharedOn(t, n, rapid.IntRange(1, 3).Draw(t, "k"), rapid.IntRange(1, 3).Draw(t, "b"), plan.Sharing{
			Secrets:    rapid.SampledFrom([]string{"", "gossip", "all"}).Draw(t, "secrets"),
			Coalitions: rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "coalitions")})
		s, err := plan.Solve(context.Background(), p, plan.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if s.Ending.Status != optim.Converged || s.Space.GapSpace > 1e-4 || s.Space.GapTime > 1e-6 {
			t.Errorf("%+v, gaps %v and %v", s.Ending, s.Space.GapSpace, s.Space.GapTime)
		}
		checkShared(t, s)
		p.Sharing = nil
		alone, err := plan.Solve(context.Background(), p, plan.Options{NoBaselines: true})
		if err != nil || math.Abs(alone.Quality.Loss/s.Space.LDP.Loss-1) > 2e-6 {
			t.Errorf("LDP loss %v, %v; with secrets it is said to be %v", alone.Quality.Loss, err, s.Space.LDP.Loss)
		}
	})
}

// fataler is a test or a property.
type fataler interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// Every class has a solution; its gap over time counts from the best strategy of all.
func TestSharedNoiseOfEveryClass(t *testing.T) {
	p := sharedOn(t, networkOf(t, "cycle:5"), 2, 4, plan.Sharing{})
	dense := solved(t, p, plan.Options{})
	for _, class := range factorize.Classes() {
		s := solved(t, p, plan.Options{Class: class})
		m := exportOf(t, s).Manifest
		if m.Strategy.Class != class.Name() || m.Loss < dense.Quality.Loss*(1-1e-4) ||
			m.Loss > m.JointLowerBound*(1+m.Space.GapTime)*1.5 {
			t.Errorf("%s: loss %v, dense %v, gaps %v", m.Strategy.Class, m.Loss, dense.Quality.Loss, m.Space)
		}
	}
}

// Files name pairs and coalitions. Pairs without noise are in pairs.csv as well, and nodes without secrets are no error.
func TestSharingFromFiles(t *testing.T) {
	dir, n := t.TempDir(), networkOf(t, "path:5")
	pairs, sets := filepath.Join(dir, "pairs"), filepath.Join(dir, "sets")
	for path, text := range map[string]string{pairs: "0 1\n3 4\n", sets: "0\n4,2\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := sharedOn(t, n, 2, 2, plan.Sharing{Secrets: pairs, Coalitions: sets})
	e := exportOf(t, solved(t, p, plan.Options{}))
	rows := must(csv.NewReader(bytes.NewReader(must(e.Read("pairs.csv")))).ReadAll())
	if m := e.Manifest.Space; len(rows) != 3 || m.Secrets.Source != "pairs" || len(m.Secrets.SHA256) != 64 ||
		m.Secrets.Pairs != 2 || m.Coalitions.Source != "sets" ||
		!slices.EqualFunc(m.Coalitions.Sets, [][]string{{"0"}, {"2", "4"}}, slices.Equal) {
		t.Errorf("%v, %+v", rows, m)
	}
	other := sharedOn(t, n, 2, 2, plan.Sharing{Secrets: pairs})
	if p.Key() == other.Key() || p.Key() != sharedOn(t, n, 2, 2, plan.Sharing{Secrets: pairs, Coalitions: sets}).Key() {
		t.Error("the key is not that of pairs and coalitions")
	}
}

// Under Poisson sampling the noise of one participation is shared, and the bands decide the multiplier.
func TestSharedNoiseIsSampled(t *testing.T) {
	p := sharedOn(t, networkOf(t, "cycle:5"), 3, 4, plan.Sharing{})
	o := sampled(2, factorize.Banded{Bandwidth: 2})
	o.NoBaselines = false
	s := solved(t, p, o)
	m := exportOf(t, s).Manifest
	if nu := m.Sampling.NoiseMultiplier; math.Abs(m.ErrorAtPrivacy/(nu*nu*m.SquaredError)-1) > 1e-9 ||
		m.Strategy.Bandwidth != 2 {
		t.Errorf("%+v, %+v", m.Sampling, m.Strategy)
	}
	one := solved(t, p, sampled(2, factorize.Banded{Bandwidth: 1}))
	if b := m.Baselines[baselines.DECOR]; b.ErrorAtPrivacy < one.ErrorAtPrivacy*(1-1e-4) {
		t.Errorf("DECOR has the error %v, the best noise for one band %v", b.ErrorAtPrivacy, one.ErrorAtPrivacy)
	}
}

// The number of bands that is found is the best of all, or as good as.
func TestSharedNoiseFindsBands(t *testing.T) {
	p := sharedOn(t, networkOf(t, "cycle:5"), 3, 4, plan.Sharing{})
	for _, epsilon := range []float64{0.5, 8} {
		found, least := solved(t, p, sampled(epsilon, nil)), math.Inf(1)
		for w := 1; w <= 4; w++ {
			least = math.Min(least, solved(t, p, sampled(epsilon, factorize.Banded{Bandwidth: w})).ErrorAtPrivacy)
		}
		if checkShared(t, found); found.ErrorAtPrivacy > least*(1+1e-3) {
			t.Errorf("epsilon %v: error %v with %d bands, the least is %v", epsilon, found.ErrorAtPrivacy,
				found.Sampling.Groups, least)
		}
	}
}

// A search goes on from its checkpoint, and one that is interrupted has something to show.
func TestSharedNoiseGoesOn(t *testing.T) {
	p := sharedOn(t, florentine(t), 2, 4, plan.Sharing{})
	whole := solved(t, p, plan.Options{})
	path := filepath.Join(t.TempDir(), "ckpt")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cut, err := plan.Solve(ctx, p, plan.Options{Checkpoint: path, Partial: true, Progress: func(e plan.Event) {
		if strings.HasPrefix(e.Phase, "round 2") {
			cancel()
		}
	}})
	if err != nil || cut.Ending.Status != optim.Interrupted || cut.Quality.Loss < whole.Quality.Loss*(1-1e-4) {
		t.Fatalf("%v, %+v", err, cut)
	}
	if err := cut.Export(filepath.Join(t.TempDir(), "cut"), export.WriteOptions{}); err != nil {
		t.Error(err)
	}
	said := ""
	on := solved(t, p, plan.Options{Checkpoint: path, Resume: true, Progress: func(e plan.Event) { said += e.Note }})
	if math.Abs(on.Quality.Loss/whole.Quality.Loss-1) > 1e-4 || !strings.Contains(said, "going on") {
		t.Errorf("loss %v, not %v; %q", on.Quality.Loss, whole.Quality.Loss, said)
	}
	var argument *fault.Argument
	o := plan.Options{Checkpoint: path, Resume: true, Class: factorize.Banded{Bandwidth: 2}}
	if _, err := plan.Solve(t.Context(), p, o); !errors.As(err, &argument) {
		t.Errorf("another class: %v", err)
	}
}

// A loose tolerance ends the search early, and the checkpoint holds the last step.
func TestSharedNoiseEndsSoon(t *testing.T) {
	p := sharedOn(t, florentine(t), 2, 4, plan.Sharing{})
	path := filepath.Join(t.TempDir(), "ckpt")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	hold, said, count, steps := make(chan struct{}), "", 0, 0
	defer close(hold)
	_, err := plan.Solve(ctx, p, plan.Options{Checkpoint: path, Progress: func(e plan.Event) {
		said += e.Note
		if e.Iteration != nil {
			count++
		}
		if strings.HasPrefix(e.Phase, "round 1: noise") {
			if steps++; steps == 4 {
				cancel()
				<-hold // a step that takes long
			}
		}
	}})
	if !errors.Is(err, context.Canceled) || !strings.Contains(said, "kept in "+path) {
		t.Fatalf("%v, %q", err, said)
	}
	said = ""
	solved(t, p, plan.Options{Checkpoint: path, Resume: true, Progress: func(e plan.Event) { said += e.Note }})
	if !strings.Contains(said, fmt.Sprintf("going on after %d iterations", count-1)) { // the last was not yet shown
		t.Errorf("%q after %d iterations", said, count)
	}
}

// What all pairs need grows with the pairs that a search works with at a time.
func TestAllPairsOf500NodesFit(t *testing.T) {
	p := sharedOn(t, networkOf(t, "cycle:500"), 4, 8, plan.Sharing{Secrets: export.SecretsAll})
	if r := p.Needs(plan.Options{}); r.Memory > 4e9 || r.Memory < 1e9 {
		t.Errorf("%s need %v bytes", r.What, r.Memory)
	}
}

// What is not for shared noise is a bad argument, in one line.
func TestBadSharing(t *testing.T) {
	n := networkOf(t, "path:4")
	missing := filepath.Join(t.TempDir(), "missing")
	written := func(text string) string {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, s := range map[string]plan.Sharing{
		"no file of pairs":      {Secrets: missing},
		"no file of coalitions": {Coalitions: missing},
		"size":                  {Coalitions: "3"},
		"unknown label":         {Secrets: written("0 9\n")},
		"unknown member":        {Coalitions: written("9\n")},
		"nobody left":           {Coalitions: written("0 1 2 3\n")},
		"no coalition":          {Coalitions: written("\n")},
		"folder":                {Secrets: t.TempDir()},
	} {
		var argument *fault.Argument
		if _, err := s.Resolve(n); !errors.As(err, &argument) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
	privacy := &plan.Privacy{Target: accounting.Target{Epsilon: 2, Delta: 1e-6}}
	for name, change := range map[string]func(p *plan.Problem, o *plan.Options){
		"objective":   func(p *plan.Problem, _ *plan.Options) { p.Objective = plan.Worst },
		"per node":    func(_ *plan.Problem, o *plan.Options) { o.PerNode = true },
		"groups":      func(_ *plan.Problem, o *plan.Options) { o.Groups = 2 },
		"bins":        func(_ *plan.Problem, o *plan.Options) { o.Sampling, o.Privacy = participation.Bins, privacy },
		"start":       func(_ *plan.Problem, o *plan.Options) { o.StartFrom = "x" },
		"estimate":    func(p *plan.Problem, _ *plan.Options) { p.Gram.Method = plan.GramLanczos },
		"prefix":      func(p *plan.Problem, _ *plan.Options) { p.Workload.Kind, p.Network = workload.Prefix, nil },
		"failures":    func(p *plan.Problem, _ *plan.Options) { p.Workload.NodeFailures = 0.1 },
		"many steps":  func(p *plan.Problem, _ *plan.Options) { p.Schema = must(participation.NewCyclic(5000, 1, 5000)) },
		"overlap":     func(p *plan.Problem, _ *plan.Options) { p.Schema = must(participation.NewCyclic(5, 2, 2)) },
		"not its own": func(p *plan.Problem, _ *plan.Options) { p.Network = networkOf(t, "path:3") },
		"not on any":  func(p *plan.Problem, _ *plan.Options) { p.Sharing = &plan.Sharing{} },
	} {
		p, o := sharedOn(t, n, 2, 2, plan.Sharing{}), plan.Options{}
		change(&p, &o)
		var argument *fault.Argument
		if err := p.Check(o); !errors.As(err, &argument) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Noise that is optimized for nodes that miss steps has a smaller expected error then than noise that is not, both as
// private, and no certificate of it contradicts what the other reaches; complete graphs need no bound of what pairs share.
func TestSharedNoiseForMissedSteps(t *testing.T) {
	for source, gain := range map[string]float64{"complete:6": 20, "florentine": 1.001} {
		for _, absence := range []workload.Absence{{MissedSteps: 0.05}, {MissedSteps: 0.05, Carry: true}} {
			p := sharedOn(t, networkOf(t, source), 2, 3, plan.Sharing{})
			ignorant := must(plan.Solve(t.Context(), p, plan.Options{NoBaselines: true}))
			p.Workload.Absence = absence
			aware := must(plan.Solve(t.Context(), p, plan.Options{NoBaselines: true}))
			w := must(workload.NewSpaceTime(p.Network.Gossip.Matrix(), 6, workload.Options{Spec: p.Workload}))
			expected := func(s *plan.Solution) float64 {
				h := must(w.TimeGram(t.Context(), s.Space.Covariance()))
				return must(factorize.Evaluate(s.Strategy(), factorize.Mean(h), p.Schema)).Loss
			}
			at, of := expected(ignorant), expected(aware)
			if !(of <= at*(1+1e-4)) || math.Abs(of-aware.Quality.Loss) > 1e-9*of || aware.Space.JointLowerBound > of {
				t.Errorf("%s, %+v: expected loss %v, says %v, bound %v; of noise that does not know %v", source, absence, of,
					aware.Quality.Loss, aware.Space.JointLowerBound, at)
			}
			if !absence.Carry && at/of < gain {
				t.Errorf("%s: knowing gains a factor %v, want %v", source, at/of, gain)
			}
		}
	}
}

// allowed returns every coalition, and every part of one: who may put together what they know.
func allowed(a *secrets.Attackers) [][]int {
	var all [][]int
	for _, c := range a.Coalitions() {
		for set := range 1 << len(c) {
			var part []int
			for i, v := range c {
				if set>>i&1 == 1 {
					part = append(part, v)
				}
			}
			all = append(all, part)
		}
	}
	return all
}
