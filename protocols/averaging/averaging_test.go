package averaging

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/protocols/internal/consensus"
)

func problem(t *testing.T, spec string) Problem {
	t.Helper()
	n, err := graph.LoadNetwork(t.Context(), graph.NetworkOptions{Source: spec, Scheme: graph.Laplacian})
	if err != nil {
		t.Fatal(err)
	}
	return Problem{Network: n, Values: make([]float64, n.Graph.Nodes()), ValueStd: 1}
}

func TestCheck(t *testing.T) {
	rounds := func(t int) *int { return &t }
	for name, change := range map[string]func(p *Problem){
		"ValueStd": func(p *Problem) { p.ValueStd = math.NaN() }, "Rounds": func(p *Problem) { p.Rounds = rounds(-1) },
		" ValueStd": func(p *Problem) { p.ValueStd = 2 * Largest },
		" Rounds":   func(p *Problem) { p.Rounds = rounds(1e12) },
	} {
		p := problem(t, "path:3")
		change(&p)
		var a *fault.Argument
		if err := p.Check(); !errors.As(err, &a) || a.Field != strings.TrimSpace(name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	p := problem(t, "path:3")
	p.Observers, p.Victims = [][]int{{0}}, []int{3}
	if err := p.Check(); !errors.Is(err, consensus.ErrNetwork) {
		t.Errorf("a victim that does not exist: %v", err)
	}
	p.Victims, p.Values = nil, p.Values[1:]
	if err := p.Check(); !errors.Is(err, consensus.ErrNetwork) {
		t.Errorf("two values for three nodes: %v", err)
	}
}

// I - (D-A)/d_max reaches no consensus on regular bipartite graphs, and is mended there alone.
func TestMend(t *testing.T) {
	for spec, want := range map[string]string{"cycle:6": "metropolis", "cycle:5": "laplacian", "path:4": "laplacian"} {
		p := problem(t, spec)
		if err := Mend(p.Network); err != nil || p.Network.Origin.Gossip != want ||
			len(p.Network.Notes) > 0 != (want == "metropolis") {
			t.Errorf("%s: %s, notes %q, %v", spec, p.Network.Origin.Gossip, p.Network.Notes, err)
		}
		if err := consensus.Check(p.Network.Graph, p.Network.Gossip); err != nil {
			t.Errorf("%s: %v", spec, err)
		}
	}
}

func TestReadValues(t *testing.T) {
	path := filepath.Join(t.TempDir(), "values")
	read := func(text string) ([]float64, error) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return ReadValues(path, []string{"a", "b"})
	}
	if u, err := read("\xef\xbb\xbf# mine\r\nb;2\r\n\na, 1e3\r\n"); err != nil || u[0] != 1000 || u[1] != 2 {
		t.Errorf("%v, %v", u, err)
	}
	for text, say := range map[string]string{"a 1\n": "nothing for node b", "a 1\na 2\n": "values:2: node \"a\"",
		"a NaN\n": "finite", "a 1e151\nb 1\n": "1e+150", "a\n": "values:1", strings.Repeat("x", 1<<20): "a line of more than a megabyte"} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

func TestNats(t *testing.T) {
	for _, v := range []Nats{0, 0.1, Nats(math.Inf(1)), math.MaxFloat64, 5e-324} {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var again Nats
		if err := json.Unmarshal(text, &again); err != nil || again != v {
			t.Errorf("%v is %s, and that is %v, %v", v, text, again, err)
		}
	}
	if err := json.Unmarshal([]byte(`"much"`), new(Nats)); err == nil {
		t.Error("much")
	}
}

// Values depend on the seed alone.
func TestDrawValues(t *testing.T) {
	a, b, c := DrawValues(3, 2, 1), DrawValues(3, 1, 1), DrawValues(3, 2, 2)
	for i := range a {
		if a[i] != 2*b[i] || a[i] == c[i] {
			t.Errorf("%v, %v, %v", a, b, c)
		}
	}
}
