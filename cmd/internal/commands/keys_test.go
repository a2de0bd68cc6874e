package commands

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"mafalda/export"
	"mafalda/graph"
	"mafalda/internal/npy"
	"mafalda/noise"
	"mafalda/secrets"
)

// sharing is an export on florentine whose nodes share noise with their neighbours, and the keys of all nodes.
type sharing struct {
	t         *testing.T
	dir, work string
	nodes     []string
}

func newSharing(t *testing.T) *sharing {
	t.Helper()
	s := &sharing{t: t, dir: filepath.Join(t.TempDir(), "shared"), work: t.TempDir()}
	n, err := graph.LoadNetwork(t.Context(), graph.NetworkOptions{Source: "florentine"})
	if err != nil {
		t.Fatal(err)
	}
	e, err := export.Load(noisy(t))
	if err != nil {
		t.Fatal(err)
	}
	shares := &secrets.Noise{}
	for _, p := range secrets.OfEdges(n.Graph).Pairs() {
		shares.Pairs = append(shares.Pairs, secrets.Shared{Pair: p, Deviation: 0.5})
	}
	for range n.Graph.Nodes() {
		shares.Own = append(shares.Own, 1.1)
	}
	labelled, err := export.NewSharedNoise(n.Graph.Labels(), shares)
	if err != nil {
		t.Fatal(err)
	}
	files, err := labelled.Files(n.Graph)
	if err != nil {
		t.Fatal(err)
	}
	c, err := e.SharedStrategy()
	if err != nil {
		t.Fatal(err)
	}
	matrices, err := export.Matrices(c, export.FormatNPY)
	if err != nil {
		t.Fatal(err)
	}
	m := *e.Manifest
	m.Trust, m.LDPLoss, m.JointLowerBound, m.LowerBound, m.Gap = export.TrustSecLDP, m.Loss, m.LowerBound, 0, 0
	m.Space = &export.Space{LargestPair: 1000, Secrets: export.Secrets{Source: export.SecretsGossip, Pairs: len(shares.Pairs)},
		Coalitions: export.Coalitions{Size: 1}, Worst: export.Worst{Attacker: []string{}, Victim: "Medici", Value: 1}}
	if err := export.WriteDir(s.dir, &m, append(files, matrices...), export.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	s.nodes = n.Graph.Labels()
	var public strings.Builder
	for _, node := range s.nodes {
		public.WriteString(s.ok("keys", "new", "--node", node, "-o", s.file(node+".key")))
	}
	if err := os.WriteFile(s.file("keys.csv"), []byte(public.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *sharing) file(name string) string { return filepath.Join(s.work, name) }

// ok runs a command that must do well, and returns what it prints.
func (s *sharing) ok(args ...string) string {
	s.t.Helper()
	code, out, errs := mafalda(args...)
	if code != 0 {
		s.t.Fatalf("%v: code %d, %s", args, code, errs)
	}
	return out
}

// announce lets nodes announce a run, to a folder of its own.
func (s *sharing) announce(name string, nodes []string, args ...string) string {
	s.t.Helper()
	runs := s.file(name)
	if err := os.Mkdir(runs, 0o777); err != nil {
		s.t.Fatal(err)
	}
	for _, node := range nodes {
		s.ok(append([]string{"keys", "run", s.dir, "--key", s.file(node + ".key"), "--peers", s.file("keys.csv"), "--dim", "20000",
			"-o", filepath.Join(runs, node+".run")}, args...)...)
	}
	return runs
}

// noise are the arguments that draw rows of a node.
func (s *sharing) noise(node, state string, args ...string) []string {
	return append([]string{"noise", s.dir, "--node", node, "--dim", "20000", "--state", s.file(state)}, args...)
}

func (s *sharing) joining(node, runs string) []string {
	return []string{"--new", "--key", s.file(node + ".key"), "--peers", s.file("keys.csv"), "--runs", runs}
}

// Two processes with exchanged public keys draw rows that cancel to the last bit, also when one of them is killed and
// started again.
func TestKeysTwoProcesses(t *testing.T) {
	s := newSharing(t)
	const dim = 20000
	runs := s.announce("check", []string{"Albizzi"}, "--check", "Medici")
	s.ok("keys", "run", s.dir, "--key", s.file("Medici.key"), "--peers", s.file("keys.csv"), "--dim", "20000", "--check", "Albizzi",
		"-o", filepath.Join(runs, "Medici.run"))
	whole := noiseProcess(s.noise("Medici", "m", append(s.joining("Medici", runs), "-o", s.file("m.npy"))...)...)
	if err := whole.Start(); err != nil {
		t.Fatal(err)
	}
	killed := noiseProcess(s.noise("Albizzi", "a", s.joining("Albizzi", runs)...)...)
	pipe, err := killed.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	first := make([]float64, dim)
	if err := binary.Read(pipe, binary.LittleEndian, first); err != nil {
		t.Fatal(err)
	}
	one := make([]byte, 1) // of the second row, which does not fit the pipe
	if _, err := io.ReadFull(pipe, one); err != nil {
		t.Fatal(err)
	}
	_ = killed.Process.Kill()
	_ = killed.Wait()
	if err := whole.Wait(); err != nil {
		t.Fatal(err)
	}
	code, out, errs := mafalda(s.noise("Albizzi", "a", "--row", "2", "-o", s.file("a.npy"))...)
	if code != 0 || out != "" || !strings.Contains(errs, "NOT private") || !strings.Contains(errs, "rows 2..15 of 0..15") {
		t.Fatalf("after it was killed: code %d, %s", code, errs)
	}
	m, err := npy.ReadFile(s.file("m.npy"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := npy.ReadFile(s.file("a.npy"))
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Data) != 16*dim || len(a.Data) != 14*dim {
		t.Fatalf("%d and %d numbers", len(m.Data), len(a.Data))
	}
	got, want := append(first, a.Data...), append(slices.Clone(m.Data[:dim]), m.Data[2*dim:]...)
	for i := range got {
		if math.Float64bits(got[i]) != math.Float64bits(-want[i]) || got[i] == 0 {
			t.Fatalf("number %d is %v, and %v at the other end", i, got[i], want[i])
		}
	}
	var about noise.About
	text, err := os.ReadFile(s.file("a.npy.json"))
	if err != nil || json.Unmarshal(text, &about) != nil || about.Private || !about.Check || !slices.Equal(about.SharedWith, []string{"Medici"}) {
		t.Errorf("%s, %v", text, err)
	}
}

// A run of all nodes: a node goes on where it was; a second run with the same keys has other rows; a run that was used
// begins no other.
func TestKeysRun(t *testing.T) {
	s := newSharing(t)
	row := func(node, state string, args ...string) []float64 {
		t.Helper()
		out := s.file(fmt.Sprint(state, len(args), ".npy"))
		s.ok(s.noise(node, state, append(args, "--steps", "1", "-o", out, "--force")...)...)
		a, err := npy.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return a.Data
	}
	one, two := s.announce("one", s.nodes), s.announce("two", s.nodes)
	first := row("Pazzi", "first", s.joining("Pazzi", one)...) // a leaf
	second := row("Pazzi", "second", s.joining("Pazzi", two)...)
	if next := row("Pazzi", "first", "--row", "1"); slices.Equal(first, second) || slices.Equal(first, next) {
		t.Error("rows came twice")
	}
	text, err := os.ReadFile(s.file("first9.npy.json"))
	var about noise.About
	if files, _ := filepath.Glob(s.file("first*.json")); len(files) > 0 {
		text, err = os.ReadFile(files[0])
	}
	if err != nil || json.Unmarshal(text, &about) != nil || !about.Private || about.Check || !slices.Equal(about.SharedWith, []string{"Salviati"}) {
		t.Errorf("%s, %v", text, err)
	}
	if info, err := os.Stat(s.file("Pazzi.key")); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	foreign := s.file("foreign.csv")
	s.ok("keys", "new", "--node", "Salviati", "-o", s.file("foreign.key"))
	keysText, err := os.ReadFile(s.file("keys.csv"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(keysText), "\n")
	at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, `"Salviati"`) })
	lines[at] = s.ok("keys", "show", s.file("foreign.key"))
	if err := os.WriteFile(foreign, []byte(strings.Join(lines, "")), 0o666); err != nil {
		t.Fatal(err)
	}
	lines[at] = ""
	missing := s.file("missing.csv")
	if err := os.WriteFile(missing, []byte(strings.Join(lines, "")), 0o666); err != nil {
		t.Fatal(err)
	}
	three := s.announce("three", s.nodes)
	with := func(flag, value string) []string {
		args := s.joining("Pazzi", three)
		args[slices.Index(args, flag)+1] = value
		return s.noise("Pazzi", "never", args...)
	}
	for name, tc := range map[string]struct {
		args []string
		say  string
	}{
		"a used run":             {with("--runs", one), "has begun a run already"},
		"no keys":                {s.noise("Pazzi", "never", "--new"), "mafalda keys --help"},
		"no state, no keys":      {[]string{"noise", s.dir, "--node", "Pazzi", "--dim", "20000"}, "--state"},
		"keys without --new":     {s.noise("Pazzi", "first", s.joining("Pazzi", three)[1:]...), "is for --new"},
		"half of the flags":      {s.noise("Pazzi", "never", "--new", "--key", "x"), "belong together"},
		"keys and a seed":        {s.noise("Pazzi", "never", append(s.joining("Pazzi", three), "--seed", "1")...), "and --seed: only one of them"},
		"a foreign public key":   {with("--peers", foreign), "another key than its public one"},
		"a missing public key":   {with("--peers", missing), `no public key of "Salviati"`},
		"another node's key":     {with("--key", s.file("Medici.key")), `is of node "Medici", not "Pazzi"`},
		"no announcements":       {with("--runs", s.work), "no announcement"},
		"no folder":              {with("--runs", s.file("nowhere")), "nowhere"},
		"no key file":            {with("--key", s.file("nowhere")), "nowhere"},
		"a public for a private": {with("--key", missing), "missing.csv"},
		"a key in place of one":  {[]string{"keys", "new", "--node", "x", "-o", s.file("Pazzi.key")}, "never replaced"},
		"no such neighbour": {[]string{"keys", "run", s.dir, "--key", s.file("Pazzi.key"), "--peers", s.file("keys.csv"), "--dim", "3", "--check",
			"Medici", "-o", s.file("x.run")}, `shares no noise with "Medici"`},
		"another name": {[]string{"keys", "run", s.dir, "--key", s.file("Pazzi.key"), "--peers", s.file("keys.csv"), "--dim", "3",
			"-o", s.file("x.txt")}, "ends with .run"},
		"nothing":   {[]string{"keys", "run", s.dir}, "needs --key"},
		"no node":   {[]string{"keys", "new"}, "--node and -o"},
		"not a key": {[]string{"keys", "show", filepath.Join(s.dir, "nodes.csv")}, "key cannot be used"},
		"alone":     {[]string{"keys", "run", noisy(t), "--key", s.file("Pazzi.key"), "--peers", s.file("keys.csv"), "--dim", "3", "-o", s.file("x.run")}, "share no noise"},
	} {
		code, out, errs := mafalda(tc.args...)
		if code != 2 || out != "" || !strings.Contains(errs, tc.say) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: code %d, want %q: %s", name, code, tc.say, errs)
		}
		if _, err := os.Stat(s.file("never")); err == nil {
			t.Errorf("%s has left a state", name)
		}
	}
	if out := s.ok("keys", "show", s.file("keys.csv")); strings.Count(out, "\n") != len(s.nodes) || !strings.Contains(string(keysText), strings.SplitAfter(out, "\n")[3]) {
		t.Errorf("%s", out)
	}
}
