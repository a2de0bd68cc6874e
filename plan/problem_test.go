package plan_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"mafalda/graph"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/study"
	"mafalda/workload"
)

// sequenceOf returns a workload of two networks that take turns: n's, and one where every node is alone.
func sequenceOf(t *testing.T, n *graph.Network, order ...int) workload.Spec {
	t.Helper()
	nodes := n.Graph.Nodes()
	alone := make([]int, nodes+1)
	indices, ones := make([]int, nodes), make([]float64, nodes)
	for i := range nodes {
		alone[i+1], indices[i], ones[i] = i+1, i, 1
	}
	all := []*graph.CSR{n.Gossip.Matrix(), graph.NewCSR(nodes, nodes, alone, indices, ones)}
	q := must(workload.NewSequence([]*graph.CSR{all[order[0]], all[order[1]]}, ""))
	return workload.Spec{Changes: workload.Changes{GraphSequence: q}}
}

// Every input has its part in the key, every byte of the graph's file included; nothing else has.
func TestKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.edges")
	load := func(content string, o graph.NetworkOptions) *graph.Network {
		t.Helper()
		o.Source = path
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return must(graph.LoadNetwork(t.Context(), o))
	}
	const text = "# three nodes\na b\nb c\n"
	base := plan.Problem{Network: load(text, graph.NetworkOptions{}), Schema: must(participation.NewCyclic(12, 3, 4)),
		Gram: plan.Gram{Probes: 8, LanczosSteps: 9, Seed: 10}}
	problems := map[string]plan.Problem{"the problem": base}
	change := func(name string, by func(p *plan.Problem)) {
		p := base
		by(&p)
		problems[name] = p
	}
	rates := []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0.5}
	lists := func(patterns ...[]int) participation.Schema { return must(participation.NewPatternList(4, patterns)) }
	change("workload", func(p *plan.Problem) { p.Workload.Kind = workload.Message })
	change("momentum", func(p *plan.Problem) { p.Workload.Momentum = 0.5 })
	change("rates", func(p *plan.Problem) { p.Workload.LearningRates = workload.ListedRates(rates) })
	change("other rates", func(p *plan.Problem) {
		other := slices.Clone(rates)
		other[11] = math.Nextafter(other[11], 1)
		p.Workload.LearningRates = workload.ListedRates(other)
	})
	change("sequence", func(p *plan.Problem) { p.Workload = sequenceOf(t, base.Network, 1, 0) })
	change("other sequence", func(p *plan.Problem) { p.Workload = sequenceOf(t, base.Network, 0, 1) })
	change("no network", func(p *plan.Problem) { p.Network, p.Workload = nil, workload.Spec{Kind: workload.Prefix} })
	change("scheme", func(p *plan.Problem) { p.Network = load(text, graph.NetworkOptions{Scheme: graph.Metropolis}) })
	change("steps", func(p *plan.Problem) { p.Schema = must(participation.NewCyclic(16, 4, 4)) })
	change("participations", func(p *plan.Problem) { p.Schema = must(participation.NewCyclic(12, 2, 6)) })
	change("schema", func(p *plan.Problem) { p.Schema = must(participation.NewMinSep(12, 3, 4)) })
	change("patterns", func(p *plan.Problem) { p.Schema = lists([]int{0, 2}, []int{1, 3}) })
	change("other patterns", func(p *plan.Problem) { p.Schema = lists([]int{1, 2}, []int{0, 3}) })
	change("patterns in one", func(p *plan.Problem) { p.Schema = lists([]int{0, 2}, []int{1}, []int{3}) })
	change("schema's file", func(p *plan.Problem) { p.SchemaFile = "patterns.txt" })
	change("objective", func(p *plan.Problem) { p.Objective = plan.Last })
	change("method", func(p *plan.Problem) { p.Gram.Method = plan.GramLanczos })
	change("probes", func(p *plan.Problem) { p.Gram.Probes++ })
	change("Lanczos steps", func(p *plan.Problem) { p.Gram.LanczosSteps++ })
	change("seed", func(p *plan.Problem) { p.Gram.Seed++ })
	for i := range text {
		changed := []byte(text)
		if changed[i] == '\n' {
			changed[i] = '\t' // the next line is one with this one, or a comment, too
		} else {
			changed[i]++
		}
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		n, err := graph.LoadNetwork(t.Context(), graph.NetworkOptions{Source: path})
		if err != nil {
			continue // no graph any more
		}
		change("byte "+string(rune('a'+i)), func(p *plan.Problem) { p.Network = n })
	}
	keys := map[study.Key]string{}
	for name, p := range problems {
		if other, there := keys[p.Key()]; there {
			t.Errorf("%s and %s have the same key", name, other)
		}
		keys[p.Key()] = name
	}
	if again := base; again.Key() != base.Key() || len(problems) < 25 {
		t.Errorf("the same problem has another key; %d problems", len(problems))
	}
	base.Network = load(text, graph.NetworkOptions{})
	if keys[base.Key()] != "the problem" {
		t.Error("the same network, loaded again, has another key")
	}
}
