package verify_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"mafalda/export"
	"mafalda/graph"
	"mafalda/plan"
	"mafalda/verify"
	"mafalda/workload"
)

// The network of an export is made again from what its manifest says, and compared with it.
func TestNetworkOf(t *testing.T) {
	file := func(name, content string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	edges, other := file("g.edges", "a b\nb c\nc d\n"), file("h.edges", "a b\nb c\nc a\n")
	load := func(x exported) *export.Export {
		dir := filepath.Join(t.TempDir(), "out")
		x.options.NoBaselines = true
		x.save(t, dir)
		return must(export.Load(dir))
	}
	network := func(path string) *graph.Network {
		return must(graph.LoadNetwork(t.Context(), graph.NetworkOptions{Source: path}))
	}
	built := load(exported{network: graph.NetworkOptions{Source: "barabasi:9,2", Seed: 7, Scheme: graph.Metropolis}})
	if n, err := verify.NetworkOf(t.Context(), built, nil); err != nil || n.Origin.Gossip != "metropolis" ||
		*n.Origin.Seed != 7 || n.Graph.Nodes() != 9 {
		t.Errorf("%+v, %v", n, err)
	}
	fromFile := load(exported{network: graph.NetworkOptions{Source: edges}})
	var missing *verify.MissingFilesError
	if _, err := verify.NetworkOf(t.Context(), fromFile, nil); !errors.As(err, &missing) ||
		missing.Files != (verify.NetworkFiles{Graph: "g.edges"}) {
		t.Errorf("without the file: %v", err)
	}
	if n, err := verify.NetworkOf(t.Context(), fromFile, network(edges)); err != nil || n.Graph.Nodes() != 4 {
		t.Errorf("%+v, %v", n, err)
	}
	var failed *verify.FailedError
	if _, err := verify.NetworkOf(t.Context(), fromFile, network(other)); !errors.As(err, &failed) ||
		failed.Check.Name != "nodes" {
		t.Errorf("another network: %v", err)
	}
	prefix := load(exported{problem: plan.Problem{Workload: workload.Spec{Kind: workload.Prefix}}})
	for _, given := range []*graph.Network{nil, network(edges)} {
		if _, err := verify.NetworkOf(t.Context(), prefix, given); !errors.Is(err, verify.ErrNoNetwork) {
			t.Errorf("prefix: %v", err)
		}
	}
	if _, err := verify.Verify(t.Context(), prefix, network(edges)); !errors.Is(err, verify.ErrNoNetwork) {
		t.Errorf("verifying prefix on a network: %v", err)
	}
}

// A verification that is stopped says that nothing was found, not that something is wrong.
func TestVerifyStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, options := range []plan.Options{{}, {PerNode: true}, {Groups: 2}} {
		dir := filepath.Join(t.TempDir(), "out")
		exported{network: graph.NetworkOptions{Source: "path:4"}, options: options}.save(t, dir)
		if r, err := verify.Verify(ctx, must(export.Load(dir)), nil); !errors.Is(err, context.Canceled) ||
			r.Checks != nil {
			t.Errorf("%+v, %v", r, err)
		}
	}
}
