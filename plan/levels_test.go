package plan_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mafalda/accounting"
	"mafalda/export"
	"mafalda/graph"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/strategy"
	"mafalda/verify"
	"mafalda/workload"
)

// dualValue returns what the dual of the semidefinite program proves, by its definition: minimize tr(H X⁻¹) over X ≻ 0
// whose sensitivity under the patterns, max ⟨Γ, X[π,π]⟩ over Γ ⪰ 0 with unit diagonal, is at most one. Λ = X⁻¹HX⁻¹ is cut
// to the blocks of the patterns and scaled to a constant diagonal y on each; then (tr (H^½ Λ H^½)^½)² / Σy.
func dualValue(t *testing.T, h, x *mat.SymDense, patterns [][]int) float64 {
	t.Helper()
	n := h.SymmetricDim()
	var inverse, product, lambda mat.Dense
	if err := inverse.Inverse(x); err != nil {
		t.Fatal(err)
	}
	product.Mul(&inverse, h)
	lambda.Mul(&product, &inverse)
	cut := mat.NewDense(n, n, nil)
	var total float64
	for _, p := range patterns {
		var y float64
		for _, s := range p {
			y += lambda.At(s, s) / float64(len(p))
		}
		total += y
		for _, s := range p {
			for _, u := range p {
				cut.Set(s, u, lambda.At(s, u)*y/math.Sqrt(lambda.At(s, s)*lambda.At(u, u)))
			}
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(h, true) {
		t.Fatal("H has no eigenvalues")
	}
	var vectors, root, scaled mat.Dense
	eigen.VectorsTo(&vectors)
	diagonal := mat.NewDiagDense(n, nil)
	for i, v := range eigen.Values(nil) {
		diagonal.SetDiag(i, math.Sqrt(math.Max(v, 0)))
	}
	scaled.Mul(&vectors, diagonal)
	root.Mul(&scaled, vectors.T())
	product.Mul(&root, cut)
	scaled.Mul(&product, &root)
	middle := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			middle.SetSym(i, j, (scaled.At(i, j)+scaled.At(j, i))/2)
		}
	}
	if !eigen.Factorize(middle, false) {
		t.Fatal("no eigenvalues")
	}
	var sum float64
	for _, v := range eigen.Values(nil) {
		sum += math.Sqrt(math.Max(v, 0))
	}
	return sum * sum / total
}

// costOf is tr(H X⁻¹) of C, divided by nothing: C has sensitivity one, or sens² is returned, too.
func costOf(t *testing.T, h *mat.SymDense, c strategy.Strategy, patterns [][]int) (squared, sens float64) {
	t.Helper()
	x := strategy.GramOf(c)
	var inverse, product mat.Dense
	if err := inverse.Inverse(x); err != nil {
		t.Fatal(err)
	}
	product.Mul(h, &inverse)
	for _, p := range patterns {
		var sum float64
		for _, s := range p {
			for _, u := range p {
				sum += math.Abs(x.At(s, u))
			}
		}
		sens = math.Max(sens, sum)
	}
	return mat.Trace(&product), sens
}

// Twenty random problems with random levels: the loss is Σ (noise_i/noise)² tr(H_i X⁻¹) for the H_i of the definition, it is
// as small as the dual of the semidefinite program proves, for one strategy and for one a node, no node has less noise
// than its level takes, and the export verifies.
func TestLevelsAreOptimal(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for try := range 20 {
		perNode := try%2 == 1
		t.Run(fmt.Sprint(try), func(t *testing.T) {
			steps, k := 8, []int{1, 2, 4, 8}[try%4]
			network, err := graph.LoadNetwork(context.Background(), graph.NetworkOptions{
				Source: fmt.Sprintf("erdos:%d,0.6", 4+try%3), Seed: uint64(try)})
			if err != nil {
				t.Fatal(err)
			}
			text := "node,mu,epsilon,delta,clip\n"
			labels := network.Graph.Labels()
			for i, label := range labels {
				level := fmt.Sprintf("%g,,", 0.2+3*r.Float64())
				if i%2 == 0 {
					level = fmt.Sprintf(",%g,1e-6", 0.3+8*r.Float64())
				}
				text += fmt.Sprintf("%s,%s,%g\n", label, level, 0.5+2*r.Float64())
			}
			levels, err := plan.ReadLevels(strings.NewReader(text), "levels")
			if err != nil {
				t.Fatal(err)
			}
			if levels, err = levels.Resolve(network); err != nil {
				t.Fatal(err)
			}
			schema, err := participation.NewCyclic(steps, k, steps/k)
			if err != nil {
				t.Fatal(err)
			}
			adjacency := accounting.Adjacency(try % 2)
			s, err := plan.Solve(context.Background(), plan.Problem{Network: network, Schema: schema, Levels: levels},
				plan.Options{PerNode: perNode, Privacy: &plan.Privacy{Adjacency: adjacency}})
			if err != nil {
				t.Fatal(err)
			}
			grams := explicitGrams(t, fixed(t, network), network.Graph.Nodes(), steps, workload.Spec{})
			all, plain := mat.NewSymDense(steps, nil), mat.NewSymDense(steps, nil)
			var most, loss, bound float64
			for _, l := range s.Budgets {
				most = math.Max(most, l.NoiseStd)
				if need := adjacency.Contribution(l.Clip) / l.Mu; l.NoiseStd < need*(1-1e-12) || l.NoiseStd > need*(1+1e-9) {
					t.Errorf("node %s has noise %v, and needs %v", l.Node, l.NoiseStd, need)
				}
			}
			if s.Privacy.NoiseStd < most {
				t.Errorf("the level for all has noise %v, a node %v", s.Privacy.NoiseStd, most)
			}
			strategies := s.Strategies()
			for i, h := range grams {
				plain.AddSym(plain, h)
				weight := math.Pow(s.Budgets[i].NoiseStd/s.Privacy.NoiseStd, 2)
				h.ScaleSym(weight, h)
				all.AddSym(all, h)
				c := strategies[i%len(strategies)]
				squared, sens := costOf(t, h, c, schema.Patterns())
				if sens > 1+1e-12 {
					t.Errorf("node %d has a strategy of sens² = %v", i, sens)
				}
				loss += squared
				if perNode {
					bound += dualValue(t, h, strategy.GramOf(c), schema.Patterns())
				}
			}
			if !perNode {
				bound = dualValue(t, all, strategy.GramOf(strategies[0]), schema.Patterns())
			}
			if math.Abs(s.Quality.Loss-loss) > 1e-8*loss || loss > bound*(1+1e-5) || bound > loss*(1+1e-9) {
				t.Errorf("the loss is %v, by definition %v, and none is below %v", s.Quality.Loss, loss, bound)
			}
			one, err := plan.Solve(context.Background(), plan.Problem{Network: network, Schema: schema}, plan.Options{NoBaselines: true})
			if err != nil || math.Abs(s.OneLevelLoss-one.Quality.Loss) > 1e-5*one.Quality.Loss {
				t.Errorf("at one level the loss is %v, not %v (%v)", one.Quality.Loss, s.OneLevelLoss, err)
			}
			dir := filepath.Join(t.TempDir(), "out")
			if err := s.Export(dir, export.WriteOptions{}); err != nil {
				t.Fatal(err)
			}
			e, err := export.Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			if report, err := verify.Verify(context.Background(), e, network); err != nil || !report.OK() {
				t.Errorf("%v, %v", report.Failures(), err)
			}
			e.Manifest.Budgets[0].NoiseStd *= 0.999
			if report, err := verify.Verify(context.Background(), e, network); err != nil || report.OK() {
				t.Errorf("less noise at a node verifies (%v)", err)
			}
		})
	}
}

// fixed is a network that stays as it is.
func fixed(t *testing.T, n *graph.Network) *workload.Networks {
	t.Helper()
	networks, err := workload.Spec{}.Networks(n.Gossip.Matrix(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return networks
}

// Every line that says no level is refused in one line that names it; so are nodes without a level, and what levels are not
// for.
func TestBadLevels(t *testing.T) {
	network, err := graph.LoadNetwork(context.Background(), graph.NetworkOptions{Source: "path:3"})
	if err != nil {
		t.Fatal(err)
	}
	for text, say := range map[string]string{
		"":                                   "no header line",
		"node,mu\n":                          "no node has a line",
		"label,mu\n0,1\n":                    `x:1: the column "label"`,
		"mu,clip\n1,1\n":                     "x:1: there is no column node",
		"node,mu,mu\n0,1,1\n":                "x:1: the column mu is there twice",
		"node,mu\n0,1\n1,1\n":                `node "2" has no level`,
		"node,mu\n0,1\n1,1\n2,1\n3,1\n":      `line 5: the network has no node "3"`,
		"node,mu\n0,1\n1,1\n0,2\n":           `x:4: node "0" is there twice: it is in line 2`,
		"node,mu\n0,0\n":                     `x:2: mu "0" must be a number above 0`,
		"node,mu\n0,-1\n":                    "above 0",
		"node,mu\n0,NaN\n":                   "above 0",
		"node,mu\n0,inf\n":                   "above 0",
		"node,mu\n0,x\n":                     "above 0",
		"node,mu,clip\n0,1,0\n":              `x:2: clip "0" must be`,
		"node,mu,clip\n0,1,\n":               `x:2: node "0" has no clip`,
		"node,mu\n0,1,1\n":                   "x:2: 3 fields",
		"node,mu\n0,\n":                      `x:2: node "0": `,
		"node,epsilon\n0,1\n":                "without a delta",
		"node,epsilon,delta\n0,1,2\n":        "x:2: ",
		"node,mu,epsilon,delta\n0,1,1,0.1\n": "both mu",
		"node,mu\n\"0,1\n":                   "x: ",
	} {
		levels, err := plan.ReadLevels(strings.NewReader(text), "x")
		if err == nil {
			_, err = levels.Resolve(network)
		}
		if err == nil || !strings.Contains(err.Error(), say) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v; want %q", text, err, say)
		}
	}
	levels, err := plan.ReadLevels(strings.NewReader("\ufeffnode, clip, mu\n# of the board\n1,2,0.5\n0,1,1\n2,1,3\n"), "x")
	if err != nil {
		t.Fatal(err)
	}
	if levels, err = levels.Resolve(network); err != nil {
		t.Fatal(err)
	}
	schema, err := participation.NewCyclic(8, 2, 4)
	if err != nil {
		t.Fatal(err)
	}
	problem := plan.Problem{Network: network, Schema: schema, Levels: levels}
	s, err := plan.Solve(context.Background(), problem, plan.Options{NoBaselines: true})
	if err != nil {
		t.Fatal(err)
	}
	if l := s.Budgets; l[1].Node != "1" || l[1].Clip != 2 || l[1].Mu != 0.5 || l[0].Mu != 1 || s.Privacy.Mu != 0.5 {
		t.Errorf("%+v", l)
	}
	others := problem
	if others.Levels, err = plan.ReadLevels(strings.NewReader("node,mu\n0,1\n1,1\n2,1\n"), "x"); err == nil {
		others.Levels, err = others.Levels.Resolve(network)
	}
	if plain := (plan.Problem{Network: network, Schema: schema}); err != nil || problem.Key() == plain.Key() || problem.Key() == others.Key() {
		t.Errorf("checkpoints of other levels are not told apart (%v)", err)
	}
	for name, change := range map[string]func(p *plan.Problem, o *plan.Options){
		"Sampling":  func(_ *plan.Problem, o *plan.Options) { o.Sampling = participation.Poisson },
		"Objective": func(p *plan.Problem, _ *plan.Options) { p.Objective = plan.Last },
		"Method":    func(p *plan.Problem, _ *plan.Options) { p.Gram.Method = plan.GramLanczos },
		"networks":  func(p *plan.Problem, _ *plan.Options) { p.Workload.NodeFailures = 0.1 },
	} {
		p, o := problem, plan.Options{}
		change(&p, &o)
		if err := p.Check(o); err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// explicit returns the workload by its definition, nT×nT: column (step, i) is what a unit impulse of noise at node i in a
// step makes of all models, times -1.
func explicit(t testing.TB, networks *workload.Networks, n, steps int, s workload.Spec) *mat.Dense {
	t.Helper()
	size := n * steps
	state, err := workload.NewState[float64](s, steps, n, size, 1)
	if err != nil {
		t.Fatal(err)
	}
	a := mat.NewDense(size, size, nil)
	for step := range steps {
		impulses := mat.NewDense(n, size, nil)
		for i := range n {
			impulses.Set(i, step*n+i, 1)
		}
		state.Step(impulses.RawMatrix().Data, networks, func(models []float64) {
			a.Slice(step*n, (step+1)*n, 0, size).(*mat.Dense).Scale(-1, mat.NewDense(n, size, models))
		})
	}
	return a
}

// explicitGrams returns the H_i of all nodes by their definition, without absences.
func explicitGrams(t testing.TB, networks *workload.Networks, n, steps int, s workload.Spec) []*mat.SymDense {
	t.Helper()
	a := explicit(t, networks, n, steps, s)
	weights, err := s.Weights.Vector(steps)
	if err != nil {
		t.Fatal(err)
	}
	a.Apply(func(r, _ int, v float64) float64 { return v * math.Sqrt(weights[r/n]) }, a)
	grams := make([]*mat.SymDense, n)
	for i := range grams {
		own := mat.NewDense(n*steps, steps, nil)
		for step := range steps {
			own.SetCol(step, mat.Col(nil, step*n+i, a))
		}
		grams[i] = mat.NewSymDense(steps, nil)
		grams[i].SymOuterK(1, own.T())
	}
	return grams
}
