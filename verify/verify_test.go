package verify_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"mafalda/accounting"
	"mafalda/accounting/bins"
	"mafalda/export"
	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/verify"
	"mafalda/workload"
)

// exported is an export to be verified, and the files that its network comes from, if they are to be at hand.
type exported struct {
	network graph.NetworkOptions // the zero value: none
	problem plan.Problem         // but for the network; without a schema, two participations in six steps
	options plan.Options         // how it is solved; its baselines are added
	write   export.WriteOptions
	files   verify.NetworkFiles
	solved  func() *plan.Solution // instead of all that is to be solved, if it is there
}

// save writes the export to a folder.
func (x exported) save(t testing.TB, dir string) {
	t.Helper()
	if x.solved != nil {
		if err := x.solved().Export(dir, x.write); err != nil {
			t.Fatal(err)
		}
		return
	}
	var err error
	p := x.problem
	if x.network != (graph.NetworkOptions{}) {
		if p.Network, err = graph.LoadNetwork(t.Context(), x.network); err != nil {
			t.Fatal(err)
		}
		if p.Workload, err = p.Workload.On(p.Network); err != nil {
			t.Fatal(err)
		}
	}
	if p.Schema == nil {
		p.Schema = must(participation.NewCyclic(6, 2, 3))
	}
	s, err := plan.Solve(t.Context(), p, x.options)
	if err != nil {
		t.Fatalf("%s: %v", filepath.Base(dir), err)
	}
	if err := s.Export(dir, x.write); err != nil {
		t.Fatalf("%s: %v", filepath.Base(dir), err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// allExports are of every class, and of everything else that changes what a manifest says.
func allExports(t testing.TB) map[string]exported {
	t.Helper()
	folder := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	edges := file("g.edges", "a b\nb c\nc d\nx y\n")
	turns := file("turns.txt", "a b\n\nb c\nc d\n")
	w := file("w.csv", "0.5,0.5,0\n0.25,0.5,0.25\n0,0.5,0.5\n")
	path := graph.NetworkOptions{Source: "path:4"}
	bare := plan.Options{NoBaselines: true}
	of := func(class factorize.Class) plan.Options { return plan.Options{Class: class, NoBaselines: true} }
	private := func(o plan.Options, p plan.Privacy) plan.Options { o.Privacy = &p; return o }
	patterns := must(participation.NewPatternList(6, [][]int{{0, 2}, {1, 3}, {2, 5}, {4, 5}}))
	lanczos := func(probes, steps int) plan.Gram {
		return plan.Gram{Method: plan.GramLanczos, Probes: probes, LanczosSteps: steps, Seed: 5}
	}
	trained := func(s workload.Spec) plan.Problem { return plan.Problem{Workload: s} }
	all := map[string]exported{
		"dense": {network: path, options: private(plan.Options{}, plan.Privacy{
			Target: accounting.Target{Epsilon: 8, Delta: 1e-6}, Adjacency: accounting.ReplaceOne})},
		"banded": {network: path, options: private(of(factorize.Banded{Bandwidth: 2}),
			plan.Privacy{Target: accounting.Target{Mu: 1}, Clip: 2})},
		"toeplitz": {network: path, problem: plan.Problem{Workload: workload.Spec{Kind: workload.Message}},
			options: of(factorize.Toeplitz{})},
		"scaled": {network: path, options: of(factorize.Toeplitz{ScaleColumns: true}),
			write: export.WriteOptions{Format: export.FormatBoth}},
		"blt": {network: path, options: private(of(factorize.BLT{Buffers: 3}),
			plan.Privacy{Target: accounting.Target{Mu: 1, Delta: 1e-5}})},
		"parameters": {network: path, options: of(factorize.BLT{Buffers: 2}),
			write: export.WriteOptions{ParametersOnly: true}},
		"banded-inverse": {network: path, options: of(factorize.BandedInverse{Bandwidth: 3})},
		"comb":           {network: path, options: of(factorize.Comb{Buffers: 2, ScaleColumns: true})},
		"per node":       {network: path, options: plan.Options{PerNode: true, NoBaselines: true}},
		"groups": {network: path, options: plan.Options{Groups: 2},
			problem: trained(workload.Spec{Optimizer: workload.Optimizer{Momentum: 0.5}})},
		"min-sep": {network: path, problem: plan.Problem{Schema: must(participation.NewMinSep(6, 2, 2))},
			options: bare},
		"patterns": {network: path, problem: plan.Problem{Schema: patterns, SchemaFile: "pat"}, options: bare},
		"longer cyclic": {network: path, problem: plan.Problem{Schema: must(participation.NewCyclic(7, 2, 2))},
			options: bare},
		"single": {network: path, problem: plan.Problem{Schema: must(participation.NewCyclic(6, 1, 6))},
			options: bare},
		"worst step": {network: path, problem: plan.Problem{Objective: plan.Worst}},
		"last step":  {network: path, problem: plan.Problem{Objective: plan.Last}, options: bare},
		"estimate": {network: graph.NetworkOptions{Source: "barabasi:100,2", Seed: 5},
			problem: plan.Problem{Gram: lanczos(30, 5)}},
		"unit vectors": {network: graph.NetworkOptions{Source: "barabasi:20,2", Seed: 5},
			problem: plan.Problem{Gram: lanczos(4, 4)}},
		"poisson": {network: path, problem: plan.Problem{Schema: must(participation.NewCyclic(3, 2, 2))},
			options: private(plan.Options{Sampling: participation.Poisson}, plan.Privacy{
				Target: accounting.Target{Epsilon: 30, Delta: 1e-5}, Clip: 3})},
		"random allocation": {network: path,
			problem: plan.Problem{Schema: must(participation.NewCyclic(6, 2, 3))},
			options: private(plan.Options{Sampling: participation.Allocation, Class: factorize.Banded{Bandwidth: 2}}, plan.Privacy{
				Target: accounting.Target{Epsilon: 30, Delta: 1e-5}, Clip: 3})},
		"bins":   {solved: inBins},
		"prefix": {problem: plan.Problem{Workload: workload.Spec{Kind: workload.Prefix}}},
		"momentum": {network: path, problem: trained(workload.Spec{Optimizer: workload.Optimizer{Momentum: 0.9,
			Nesterov: true, WeightDecay: 0.1, GossipRounds: 2, LearningRates: must(workload.ParseSchedule("cosine"))}})},
		"tracking": {network: path, problem: trained(workload.Spec{Kind: workload.Message,
			Optimizer: workload.Optimizer{GradientTracking: true}})},
		"local steps, banded": {network: path, problem: trained(workload.Spec{
			Optimizer: workload.Optimizer{LocalSteps: 2}}), options: of(factorize.Banded{Bandwidth: 2})},
		"failures": {network: path, problem: trained(workload.Spec{Changes: workload.Changes{NodeFailures: 0.2}}),
			options: bare},
		"carried": {network: path, options: bare,
			problem: trained(workload.Spec{Absence: workload.Absence{MissedSteps: 0.2, Carry: true}})},
		"centralized": {problem: trained(workload.Spec{Kind: workload.Prefix,
			Optimizer: workload.Optimizer{Momentum: 0.5}}), options: bare},
		"sequence": {network: graph.NetworkOptions{Source: edges, GraphSequence: turns}, options: bare,
			problem: trained(workload.Spec{Optimizer: workload.Optimizer{Momentum: 0.5}}),
			files:   verify.NetworkFiles{Graph: edges, GraphSequence: turns}},
		"graph file": {network: graph.NetworkOptions{Source: edges}, options: bare,
			files: verify.NetworkFiles{Graph: edges}},
		"without it": {network: graph.NetworkOptions{Source: edges}},
		"directed": {network: graph.NetworkOptions{Source: edges, Directed: true}, options: bare,
			files: verify.NetworkFiles{Graph: edges}},
		"gossip file": {network: graph.NetworkOptions{GossipFile: w}, options: bare,
			files: verify.NetworkFiles{GossipMatrix: w}},
		"both files": {network: graph.NetworkOptions{Source: "path:3", GossipFile: w}, options: bare,
			files: verify.NetworkFiles{GossipMatrix: w}},
	}
	for name, x := range sharedExports(t) {
		all["shared "+name] = x
	}
	return all
}

// inBins is solved once: its search takes seconds.
var inBins = sync.OnceValue(func() *plan.Solution {
	n := must(graph.LoadNetwork(context.Background(), graph.NetworkOptions{Source: "path:4"}))
	p := plan.Problem{Network: n, Schema: must(participation.NewCyclic(7, 3, 3))}
	return must(plan.Solve(context.Background(), p, plan.Options{Sampling: participation.Bins, Class: factorize.Banded{},
		NoBaselines: true, MonteCarlo: bins.MonteCarlo{Samples: 2048, Seed: 7},
		Privacy: &plan.Privacy{Target: accounting.Target{Epsilon: 2, Delta: 1e-6}, Clip: 3}}))
})

// smallExports makes allExports, and returns the files of their networks by their folders.
func smallExports(t testing.TB) map[string]verify.NetworkFiles {
	t.Helper()
	base, files := t.TempDir(), map[string]verify.NetworkFiles{}
	for name, x := range allExports(t) {
		dir := filepath.Join(base, name)
		x.save(t, dir)
		files[dir] = x.files
	}
	return files
}

// verified verifies an export, with the network of the files if there are any.
func verified(t testing.TB, dir string, at verify.NetworkFiles) (verify.Report, error) {
	e, err := export.Load(dir)
	if err != nil {
		return verify.Report{}, err
	}
	var n *graph.Network
	if at != (verify.NetworkFiles{}) {
		o, err := verify.NetworkOptions(e.Manifest, at)
		var (
			failed  *verify.FailedError
			missing *verify.MissingFilesError
		)
		switch {
		case errors.As(err, &failed) || errors.As(err, &missing): // Verify says so as well
		case err != nil:
			return verify.Report{}, err
		default:
			if n, err = graph.LoadNetwork(t.Context(), o); err != nil {
				return verify.Report{}, err
			}
		}
	}
	var seen []verify.Check
	r, err := verify.VerifyWatched(t.Context(), e, []*graph.Network{n}, func(c verify.Check) { seen = append(seen, c) })
	if err == nil && !slices.Equal(seen, r.Checks) {
		t.Errorf("saw %v, reported are %v", seen, r.Checks)
	}
	return r, err
}

// noticed reports whether Verify fails, or lists the key as not checked.
func noticed(r verify.Report, err error, path string) bool {
	return err != nil || !r.OK() || slices.ContainsFunc(r.NotChecked, func(key string) bool {
		rest, ok := strings.CutPrefix(path, key)
		return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
	})
}

// Nothing in a manifest can be changed, however little, that Verify does not notice or list as not checked: baselines,
// ratios, bounds of classes, costs, bandwidths and buffers, poles, what single nodes lose, removed blocks, numbers that have no
// place there, ... Every change is made in one export of each class (noise that nodes share is one), or of each sampling scheme where
// numbers depend on it, and every 25th of the others.
// Whatever else is in a manifest, Verify ends soon and without a panic.
func TestVerifyNoticesEveryLeaf(t *testing.T) {
	made, count, few := map[string]bool{}, 0, testing.Short()
	exports, rng := smallExports(t), rand.New(rand.NewPCG(7, 7))
	for _, dir := range slices.Sorted(maps.Keys(exports)) {
		f := exports[dir]
		if r, err := verified(t, dir, f); err != nil || !r.OK() {
			t.Errorf("%s does not verify: %v, %+v", filepath.Base(dir), err, r)
			continue
		}
		text, manifest := readGeneric(t, dir)
		sampling, _ := manifest["sampling"].(map[string]any)
		class := manifest["strategy"].(map[string]any)["class"]
		leaves := changes("", manifest, nil)
		all := append(slices.Clone(leaves), additions(manifest)...)
		if manifest["space"] != nil {
			class = "shared"
		}
		for _, c := range all {
			what := fmt.Sprint(class, c.path, c.about)
			if sampling["epsilon"] != nil && ofSampling.MatchString(c.path) { // secret batches take long
				what = fmt.Sprint(sampling["scheme"], c.path, c.about)
			}
			if count++; few && count%50 != 0 || made[what] && count%25 != 0 {
				continue
			}
			made[what] = true
			c.apply()
			writeGeneric(t, dir, manifest)
			c.undo()
			if filepath.Base(dir) == "min-sep" && c.path == "participation.b" && c.about == "+1" {
				continue // true, but weaker: for who takes part less often every number holds, too
			}
			if r, err := verified(t, dir, f); !noticed(r, err, c.path) {
				t.Errorf("%s: %s %s is not noticed", filepath.Base(dir), c.path, c.about)
			} else if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %s %s: several lines: %v", filepath.Base(dir), c.path, c.about, err)
			}
		}
		verifyAnything(t, rng, dir, f, text, manifest, leaves)
	}
	t.Logf("%d changes, %d in one export", count, len(made))
}

// ofSampling are the keys whose numbers depend on how batches are drawn.
var ofSampling = regexp.MustCompile(`sampling|privacy|gap|bound|baselines`)

// A bound that is not one does not pass because the gap follows from it: above what the optimum reaches, but below the
// exported loss.
func TestVerifyConsistentFalseBounds(t *testing.T) {
	for name, x := range map[string]exported{
		"toeplitz": {options: plan.Options{Class: factorize.Toeplitz{Bandwidth: 2}}},
		"stopped":  {options: plan.Options{Tolerance: 0.3}},
		"groups":   {options: plan.Options{Groups: 2, Tolerance: 0.3}},
		"last":     {problem: plan.Problem{Objective: plan.Last}, options: plan.Options{Tolerance: 0.3}},
		"min-sep":  {problem: plan.Problem{Schema: must(participation.NewMinSep(12, 3, 2))}},
	} {
		x.network, x.options.NoBaselines = graph.NetworkOptions{Source: "florentine"}, true
		if x.problem.Schema == nil {
			x.problem.Schema = must(participation.NewCyclic(12, 3, 4))
		}
		dir := filepath.Join(t.TempDir(), "out")
		x.save(t, dir)
		_, manifest := readGeneric(t, dir)
		loss := must(manifest["loss"].(json.Number).Float64())
		bound := loss * (1 - 1e-9)
		manifest["lower_bound"], manifest["gap"] = bound, (loss-bound)/bound
		delete(manifest, "history")
		writeGeneric(t, dir, manifest)
		r, err := verified(t, dir, verify.NetworkFiles{})
		wrong := slices.ContainsFunc(r.Failures(), func(c verify.Check) bool { return c.Name == "lower bound" })
		if err != nil || !wrong {
			t.Errorf("%s: %+v, %v", name, r.Failures(), err)
		}
	}
}

// What strategies cost that are best for another training is known to its first digits where a search proves no small gap: of
// poles, and where patterns overlap. On another processor, whose products round otherwise, it ends at strategies that are
// nearly as good, and digits like these differ.
func TestVerifyKnowsTheFirstDigitsOfOtherOptima(t *testing.T) {
	cosine := workload.Spec{Optimizer: workload.Optimizer{LearningRates: must(workload.ParseSchedule("cosine"))}}
	minSep := must(participation.NewMinSep(6, 2, 2))
	for key, problems := range map[string]map[factorize.Class]participation.Schema{
		"plain_strategy_loss": {factorize.BLT{Buffers: 2}: nil, factorize.Comb{Buffers: 1, Bandwidth: 2}: nil, factorize.Banded{}: minSep},
		"baselines.d-mf":      {factorize.Banded{}: minSep},
	} {
		for class, schema := range problems {
			dir := filepath.Join(t.TempDir(), class.Name())
			exported{network: graph.NetworkOptions{Source: "path:4"}, options: plan.Options{Class: class},
				problem: plan.Problem{Workload: cosine, Schema: schema}}.save(t, dir)
			_, manifest := readGeneric(t, dir)
			block, name := manifest, "plain_strategy_loss"
			if key != name {
				block, name = manifest["baselines"].(map[string]any)["d-mf"].(map[string]any), "loss"
			}
			loss := must(block[name].(json.Number).Float64())
			for by, ok := range map[float64]bool{1: true, 1.001: true, 0.999: true, 1.3: false} {
				block[name] = loss * by
				if key != "plain_strategy_loss" {
					block["squared_error"] = loss * by // sens² is 1
				}
				writeGeneric(t, dir, manifest)
				r, err := verified(t, dir, verify.NetworkFiles{})
				if err != nil || r.OK() != ok || !slices.Contains(r.NotChecked, key) {
					t.Errorf("%s of %s, times %v: %v, %+v", key, class.Name(), by, err, r)
				}
			}
		}
	}
}
