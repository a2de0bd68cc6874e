package simulate

import (
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/factorize/spacetime"
	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/participation"
	"mafalda/secrets"
	"mafalda/strategy"
	"mafalda/workload"
)

// The noise of a node that shares is C⁻¹ applied to its own rows and its pairs' rows, with opposite signs at both ends;
// shared rows cancel in the sum over nodes.
func TestSharedNoiseIsTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, steps, d := rapid.IntRange(1, 5).Draw(t, "n"), rapid.IntRange(1, 6).Draw(t, "T"), rapid.IntRange(1, 4).Draw(t, "d")
		seed := rapid.Uint64().Draw(t, "seed")
		noise, deviation := &secrets.Noise{}, rapid.Float64Range(0.1, 2)
		for u := range n {
			noise.Own = append(noise.Own, deviation.Draw(t, "own"))
			for v := u + 1; v < n; v++ {
				noise.Pairs = append(noise.Pairs, secrets.Shared{Pair: secrets.Pair{U: u, V: v}, Deviation: deviation.Draw(t, "pair")})
			}
		}
		s := drawStrategy(steps, rand.New(rand.NewPCG(seed, 1)))
		c, err := correlation(t, n, Shared(s), cyclic(t, steps, 1, steps)).WithShared(noise)
		if err != nil {
			t.Fatal(err)
		}
		stream := func(purpose, i uint64) *mat.Dense {
			z, r := mat.NewDense(steps, d, nil), random(seed, purpose, i)
			for i := range z.RawMatrix().Data {
				z.RawMatrix().Data[i] = r.NormFloat64()
			}
			return z
		}
		var noising mat.TriDense
		if err := s.NoisingTo(&noising); err != nil {
			t.Fatal(err)
		}
		for u := range n {
			z := stream(forNoise, uint64(u))
			z.Scale(noise.Own[u], z)
			for i, p := range noise.Pairs {
				var part mat.Dense
				switch u {
				case p.U:
					part.Scale(p.Deviation, stream(forPairs, uint64(i)))
				case p.V:
					part.Scale(-p.Deviation, stream(forPairs, uint64(i)))
				default:
					continue
				}
				z.Add(z, &part)
			}
			var want mat.Dense
			want.Mul(&noising, z)
			got := make([]float32, steps*d)
			c.noiseTo(got, u, 3, seed)
			for i, v := range want.RawMatrix().Data {
				if scale := 100 * mat.Norm(&noising, math.Inf(1)); math.Abs(float64(got[i])-3*v) > 1e-6*scale {
					t.Fatalf("node %d: number %d is %v, must be %v", u, i, got[i], 3*v)
				}
			}
		}
	})
}

// What the noise alone makes of the models is what was predicted, of both methods, and the optimum has less of it than
// noise that is not shared.
func TestSharedMethodsArePredicted(t *testing.T) {
	seeds := 40
	if testing.Short() {
		seeds = 10
	}
	c := Config{Task: linearTask(t, 400), Schema: cyclic(t, 16, 4, 4)}
	for name, w := range map[string]workload.Spec{"plain": {}, "momentum": {Optimizer: workload.Optimizer{Momentum: 0.5}},
		"missed": {Absence: workload.Absence{MissedSteps: 0.1}}, "carried": {Absence: workload.Absence{MissedSteps: 0.1, Carry: true}}} {
		c.Workload = w
		by := rows(t, network(t, graph.NetworkOptions{Source: "complete:6"}), c,
			StudyOptions{Methods: []string{Mafalda, DECOR, Secrets}, Mus: []float64{1}, Delta: 1e-6, Seeds: seeds})
		predicted := map[string]float64{}
		for _, m := range []string{Mafalda, DECOR, Secrets} {
			e := by[Cell{Method: m, Mu: 1}].NoiseError
			if e == nil || e.Predicted == nil || e.Off() {
				t.Fatalf("%s, %s: %+v", name, m, e)
			}
			predicted[m] = *e.Predicted
		}
		if w.MissedSteps > 0 {
			continue // noise that should cancel stays
		}
		if ratio := predicted[Secrets] / predicted[Mafalda]; ratio > 0.21 || ratio < 0.19 { // 1/(n-1)
			t.Errorf("%s: with secrets %v of the optimum without", name, ratio)
		}
		if !(predicted[Secrets] < 4*predicted[DECOR]) { // sens² of I
			t.Errorf("%s: %v", name, predicted)
		}
	}
}

// writeShared writes an export whose nodes share noise on a network, with deviations times a factor.
func writeShared(t *testing.T, n *graph.Network, s participation.Schema, factor float64) string {
	t.Helper()
	w, err := workload.NewSpaceTime(n.Gossip.Matrix(), s.Steps(), workload.Options{})
	if err != nil {
		t.Fatal(err)
	}
	attackers, err := secrets.Colluding(n.Graph.Nodes(), 1)
	if err != nil {
		t.Fatal(err)
	}
	r, err := spacetime.Optimize(t.Context(), spacetime.Problem{Workload: w, Schema: s, Class: factorize.Dense{},
		Setting: spacetime.Setting{Secrets: secrets.OfEdges(n.Graph), Attackers: attackers}}, spacetime.Options{})
	if err != nil {
		t.Fatal(err)
	}
	shared, err := export.NewSharedNoise(n.Graph.Labels(), r.Noise.Scaled(factor))
	if err != nil {
		t.Fatal(err)
	}
	files, err := shared.Files(n.Graph)
	if err != nil {
		t.Fatal(err)
	}
	matrices, err := export.Matrices(r.Time.Strategy, export.FormatNPY)
	if err != nil {
		t.Fatal(err)
	}
	m := &export.Manifest{Version: "test", Workload: "model", WorkloadSpec: new(workload.Spec), Steps: s.Steps(), Graph: &n.Origin, Trust: export.TrustSecLDP,
		Participation: export.Participation{Schema: "cyclic", K: s.Participations(), B: s.Separation()},
		Strategy:      export.Strategy{Parameters: strategy.Parameters{Class: "dense"}}, SensSquared: 1, SensKind: "exact",
		SquaredError: 2, Loss: 2, RMSE: 1, LDPLoss: 3, JointLowerBound: 1, Tolerance: 0.1, Status: "converged",
		Space: &export.Space{LargestPair: 1000, Secrets: export.Secrets{Source: export.SecretsGossip, Pairs: len(r.Noise.Pairs)},
			Coalitions: export.Coalitions{Size: 1},
			Worst:      export.Worst{Attacker: []string{}, Victim: n.Graph.Label(0), Value: 1}}}
	dir := filepath.Join(t.TempDir(), "shared")
	if err := export.WriteDir(dir, m, append(files, matrices...), export.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// An export of such noise is what the method is, if it is for these nodes and hides as much as it says.
func TestSharedExport(t *testing.T) {
	n := network(t, graph.NetworkOptions{Source: "cycle:6"})
	c := Config{Task: linearTask(t, 400), Schema: cyclic(t, 12, 3, 4)}
	dir := writeShared(t, n, c.Schema, 1)
	o := StudyOptions{Methods: []string{Secrets, dir}, Mus: []float64{1}, Delta: 1e-6, Seeds: 20}
	s, err := NewStudy(n, c, o)
	if err != nil {
		t.Fatal(err)
	}
	errorsOf := map[string][]float64{}
	var predicted, measured float64
	for _, cell := range s.Cells() {
		r, err := s.Do(t.Context(), cell)
		if err != nil {
			t.Fatal(err)
		}
		errorsOf[cell.Method] = append(errorsOf[cell.Method], *r.NoiseError)
		if cell.Method == dir {
			predicted = *r.Predicted
			measured += *r.NoiseError / 20
		}
	}
	for i, v := range errorsOf[dir] {
		if !near(v, errorsOf[Secrets][i], 1e-3) {
			t.Errorf("seed %d: %v, of the method itself %v", i, v, errorsOf[Secrets][i])
		}
	}
	if !near(measured, predicted, 0.2) {
		t.Errorf("%v, predicted %v", measured, predicted)
	}
	if _, err := NewStudy(network(t, graph.NetworkOptions{Source: "path:6"}), c, o); !errors.Is(err, export.ErrOtherNetwork) {
		t.Errorf("another network: %v", err)
	}
	o.Methods = []string{writeShared(t, n, c.Schema, 0.99)}
	if _, err := NewStudy(n, c, o); !errors.Is(err, export.ErrPrivacy) {
		t.Errorf("less noise: %v", err)
	}
}

// What rows that are lost leave of shared noise is foreseen on sparse, odd and complete graphs, seldom or often.
func TestLostSharedRowsAreForeseen(t *testing.T) {
	c := Config{Task: linearTask(t, 120), Schema: cyclic(t, 8, 2, 4)}
	for _, name := range []string{"cycle:6", "star:5", "complete:5"} {
		n := network(t, graph.NetworkOptions{Source: name})
		dir := writeShared(t, n, c.Schema, 1)
		for _, p := range []float64{0.01, 0.1} {
			c.Workload = workload.Spec{Absence: workload.Absence{MissedSteps: p}}
			by := rows(t, n, c, StudyOptions{Methods: []string{dir}, Mus: []float64{1}, Delta: 1e-6, Seeds: 100})
			for cell, r := range by {
				if e := r.NoiseError; cell.Mu == 1 && (e == nil || e.Predicted == nil || e.Off()) {
					t.Errorf("%s, %v missed: %+v", name, p, e)
				}
			}
		}
	}
}

// A node that leaves its rows out does not take away what its neighbours have added for it: the noise grows.
func TestSharedNoiseOfAbsentNodes(t *testing.T) {
	n := network(t, graph.NetworkOptions{Source: "complete:6"})
	c := Config{Task: linearTask(t, 400), Schema: cyclic(t, 12, 3, 4)}
	dir := writeShared(t, n, c.Schema, 1)
	measured := func(missed float64) float64 {
		c.Workload = workload.Spec{Absence: workload.Absence{MissedSteps: missed, Carry: missed > 0}}
		e := rows(t, n, c, StudyOptions{Methods: []string{dir}, Mus: []float64{1}, Delta: 1e-6, Seeds: 20})
		for cell, r := range e {
			if cell.Mu == 1 {
				if r.NoiseError.Predicted == nil || r.NoiseError.Off() {
					t.Errorf("%v missed: %+v", missed, *r.NoiseError)
				}
				return r.NoiseError.Measured
			}
		}
		t.Fatal(e)
		return 0
	}
	if all, some := measured(0), measured(0.2); some < 2*all {
		t.Errorf("%v with all nodes, %v where they miss steps", all, some)
	}
	c.Workload = workload.Spec{Changes: workload.Changes{NodeFailures: 0.1}}
	s, err := NewStudy(n, c, StudyOptions{Methods: []string{Secrets}, Mus: []float64{1}, Delta: 1e-6, Seeds: 1})
	if err != nil {
		t.Fatal(err)
	}
	var argument *fault.Argument
	if _, err := s.Do(t.Context(), s.Cells()[0]); !errors.As(err, &argument) || argument.Field != "NodeFailures" {
		t.Errorf("an optimum for nodes that fail: %v", err)
	}
}
