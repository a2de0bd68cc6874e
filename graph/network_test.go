package graph_test

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/internal/files"
)

// write makes a file in a new folder and returns its path.
func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoadNetwork(t *testing.T) {
	edges := write(t, "g.edges", "a b\nb c\nc a\nb a\nx y\n")
	w := write(t, "w.csv", "0.5,0.5\n0.5,0.5\n")
	for name, tc := range map[string]struct {
		o      graph.NetworkOptions
		line   string
		gossip string
		notes  []string // in part
	}{
		"built in": {graph.NetworkOptions{Source: "cycle:5"}, "cycle:5: 5 nodes, 5 undirected edges", "uniform", nil},
		"random": {graph.NetworkOptions{Source: "barabasi:9,2", Seed: 7, Scheme: graph.Metropolis},
			"barabasi:9,2: 9 nodes, 14 undirected edges", "metropolis", nil},
		"a file": {graph.NetworkOptions{Source: edges},
			"g.edges: 3 nodes, 3 undirected edges (largest component, 2 nodes dropped)", "uniform",
			[]string{"ignored 1 repeated edges and 0 self-loops", "warning: the graph is not connected"}},
		"directed": {graph.NetworkOptions{Source: edges, Directed: true},
			"g.edges: 3 nodes, 4 directed edges (largest component, 2 nodes dropped)", "uniform",
			[]string{"warning: the graph is not connected"}},
		"a matrix": {graph.NetworkOptions{GossipFile: w}, "w.csv: 2 nodes, 1 undirected edges", "w.csv", nil},
		"both": {graph.NetworkOptions{Source: "path:2", GossipFile: w}, "path:2: 2 nodes, 1 undirected edges",
			"w.csv", nil},
		"one node": {graph.NetworkOptions{Source: "path:1"}, "path:1: 1 nodes, 0 undirected edges", "uniform",
			[]string{"warning: the graph has one node"}},
		"one way": {graph.NetworkOptions{Source: write(t, "d", "1 2\n"), Directed: true},
			"d: 2 nodes, 1 directed edges", "uniform",
			[]string{"warning: the directed graph is not strongly connected"}},
	} {
		t.Run(name, func(t *testing.T) {
			n, err := graph.LoadNetwork(t.Context(), tc.o)
			if err != nil {
				t.Fatal(err)
			}
			if n.Line() != tc.line || n.Origin.GossipLine() != tc.gossip {
				t.Errorf("%q with %q, want %q with %q", n.Line(), n.Origin.GossipLine(), tc.line, tc.gossip)
			}
			matches := func(note, want string) bool { return strings.HasPrefix(note, want) }
			if !slices.EqualFunc(n.Notes, tc.notes, matches) {
				t.Errorf("notes %q, want %q", n.Notes, tc.notes)
			}
			if (n.Origin.Seed != nil) != strings.Contains(tc.o.Source, ":") || n.Origin.Nodes != n.Graph.Nodes() {
				t.Errorf("origin %+v", n.Origin)
			}
		})
	}
}

// A bad option is named by its field, and other errors are of a kind that a program can tell.
func TestLoadNetworkErrors(t *testing.T) {
	apart := write(t, "apart", "1 2\n2 3\n4 5\n")
	upper := write(t, "upper.mtx", "%%MatrixMarket matrix array real general\n2 2\n0\n1\n0\n0\n")
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	as := func(target any) func(error) bool { return func(err error) bool { return errors.As(err, target) } }
	is := func(target error) func(error) bool { return func(err error) bool { return errors.Is(err, target) } }
	field := func(name string) func(error) bool {
		return func(err error) bool {
			var a *fault.Argument
			return errors.As(err, &a) && a.Field == name
		}
	}
	for name, tc := range map[string]struct {
		ctx  context.Context
		o    graph.NetworkOptions
		want func(error) bool
		say  string
	}{
		"nothing": {nil, graph.NetworkOptions{}, field("Source"), "which network?"},
		"no such": {nil, graph.NetworkOptions{Source: "nowhere"}, field("Source"),
			"neither a file nor one of florentine"},
		"directed": {nil, graph.NetworkOptions{Source: "cycle:5", Directed: true}, field("Directed"), "from files"},
		"form": {nil, graph.NetworkOptions{Source: "cycle"}, func(error) bool { return true },
			"the form is cycle:n"},
		"drawn": {nil, graph.NetworkOptions{Source: "erdos:100,0.001"}, as(new(*graph.DrawError)),
			"not connected in 100 draws: choose a larger p"},
		"strict": {nil, graph.NetworkOptions{Source: apart, Strict: true}, as(new(*graph.DisconnectedError)),
			"its largest component has 3 of 5 nodes"},
		"scheme": {nil, graph.NetworkOptions{Source: apart, Directed: true, Scheme: graph.Laplacian},
			is(graph.ErrDirected), "gossip scheme laplacian needs an undirected graph"},
		"asymmetric":     {nil, graph.NetworkOptions{Source: upper}, is(graph.ErrAsymmetric), "(2,1) and (1,2) differ"},
		"matrix missing": {nil, graph.NetworkOptions{GossipFile: apart + ".csv"}, is(fs.ErrNotExist), "apart.csv"},
		"not a matrix": {nil, graph.NetworkOptions{GossipFile: upper}, is(graph.ErrGossip),
			"1 entries cannot fill 2 rows"},
		"canceled": {canceled, graph.NetworkOptions{Source: "cycle:5"}, is(context.Canceled), "canceled"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := tc.ctx
			if ctx == nil {
				ctx = t.Context()
			}
			n, err := graph.LoadNetwork(ctx, tc.o)
			if err == nil || !tc.want(err) || !strings.Contains(err.Error(), tc.say) || n != nil {
				t.Errorf("%v, %v; want an error with %q", n, err, tc.say)
			}
		})
	}
}

// The digest depends on labels and weights, and on nothing else.
func TestDigest(t *testing.T) {
	digest := func(o graph.NetworkOptions) string {
		t.Helper()
		n, err := graph.LoadNetwork(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return n.Digest()
	}
	triangle := write(t, "triangle", "0 1\n1 2\n2 0\n")
	first := digest(graph.NetworkOptions{Source: "cycle:3"})
	if other := digest(graph.NetworkOptions{Source: triangle, Seed: 3}); other != first {
		t.Error("the same weights have another digest")
	}
	for name, o := range map[string]graph.NetworkOptions{
		"labels":  {Source: write(t, "labels", "a b\nb c\nc a\n")},
		"weights": {Source: "cycle:3", Scheme: graph.MaxDegree},
		"nodes":   {Source: "cycle:4"},
	} {
		if digest(o) == first {
			t.Errorf("other %s have the same digest", name)
		}
	}
}

func TestHops(t *testing.T) {
	edges := write(t, "d", "0 1\n1 2\n2 1\n")
	n, err := graph.LoadNetwork(t.Context(), graph.NetworkOptions{Source: edges, Directed: true})
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ to, want []int }{
		"the receiver": {[]int{0}, []int{0, 1, 2}},
		"a sender":     {[]int{2}, []int{-1, 1, 0}}, // nobody hears node 0
		"two":          {[]int{0, 2}, []int{0, 1, 0}},
	} {
		if got := graph.Hops(n.Gossip.Matrix(), tc.to); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

func TestRegularBipartite(t *testing.T) {
	for spec, want := range map[string]bool{"cycle:6": true, "cycle:5": false, "hypercube:3": true, "path:3": false,
		"complete:4": false, "path:1": false, "complete:2": true} {
		g, _, err := graph.ByName(spec, graph.BuiltinOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if g.RegularBipartite() != want {
			t.Errorf("%s: %v", spec, !want)
		}
	}
}

func TestInspect(t *testing.T) {
	inspect := func(o graph.NetworkOptions) graph.Inspection {
		t.Helper()
		n, err := graph.LoadNetwork(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		r, err := graph.Inspect(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := inspect(graph.NetworkOptions{Source: "cycle:6"})
	if *r.Diameter != 3 || r.MinDegree != 2 || r.MaxDegree != 2 || math.Abs(r.MeanDegree-2) > 1e-12 ||
		r.Components != 1 || !r.Symmetric ||
		!r.DoublyStochastic || !r.StronglyConnected || r.Weighted || r.Lambda2Error != nil || r.DiameterLower != nil {
		t.Errorf("%+v", r)
	}
	if math.Abs(*r.Lambda2-2./3) > 1e-12 || math.Abs(*r.SpectralGap-1./3) > 1e-12 { // (1 + 2 cos(2πj/6))/3
		t.Errorf("second eigenvalue %v, gap %v", *r.Lambda2, *r.SpectralGap)
	}
	r = inspect(graph.NetworkOptions{Source: "cycle:5002"}) // of which only bounds are looked for
	if r.Diameter != nil &&
		*r.Diameter != 2501 || r.Diameter == nil && (*r.DiameterLower > 2501 || *r.DiameterUpper < 2501) {
		t.Errorf("%+v", r)
	}
	one := write(t, "one-way", "1 2\n")
	if r = inspect(graph.NetworkOptions{Source: one, Directed: true}); r.Diameter != nil ||
		r.DiameterLower != nil || r.StronglyConnected {
		t.Errorf("%+v", r)
	}
}

func TestWriteFiles(t *testing.T) {
	n, err := graph.LoadNetwork(t.Context(), graph.NetworkOptions{Source: "florentine"})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "florence")
	if err := n.WriteFiles(dir, false); err != nil {
		t.Fatal(err)
	}
	again, err := graph.LoadNetwork(t.Context(), graph.NetworkOptions{Source: filepath.Join(dir, "edges.tsv"),
		GossipFile: filepath.Join(dir, "gossip.mtx")})
	if err != nil || again.Digest() != n.Digest() {
		t.Errorf("what is written is another network: %v", err)
	}
	if err := n.WriteFiles(dir, false); !errors.Is(err, files.ErrExists) {
		t.Errorf("over files: %v", err)
	}
	if err := n.WriteFiles(dir, true); err != nil {
		t.Error(err)
	}
}
