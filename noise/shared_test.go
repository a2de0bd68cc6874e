package noise

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/export"
	"mafalda/graph"
	"mafalda/noise/keys"
	"mafalda/secrets"
	"mafalda/strategy"
	"mafalda/workload"
)

// ring is four nodes in a ring of secrets, and one that shares with nobody; own and pairs' variances differ.
func ring(t *testing.T) *secrets.Noise {
	t.Helper()
	n := &secrets.Noise{Own: []float64{0.5, 0.7, 0.6, 0.9, 1}, Pairs: []secrets.Shared{{Pair: secrets.Pair{U: 0, V: 1}, Deviation: 1.5},
		{Pair: secrets.Pair{U: 0, V: 3}, Deviation: 0.8}, {Pair: secrets.Pair{U: 1, V: 2}, Deviation: 2}, {Pair: secrets.Pair{U: 2, V: 3}, Deviation: 0.3}}}
	worst, err := n.Worst(context.Background(), colluding(t, 5))
	if err != nil {
		t.Fatal(err)
	}
	return n.Scaled(math.Sqrt(worst.Value) * (1 + 1e-12))
}

// couple is two nodes.
func couple() *secrets.Noise {
	return &secrets.Noise{Own: []float64{1.1, 1.2}, Pairs: []secrets.Shared{{Pair: secrets.Pair{U: 0, V: 1}, Deviation: 0.7}}}
}

func colluding(t *testing.T, nodes int) *secrets.Attackers {
	t.Helper()
	a, err := secrets.Colluding(nodes, 1)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// labels of nodes of tests, in another order than their bytes would sort.
var labels = []string{"ann", `b,"ob`, "Ann", "2", "alone"}

// sharedExport writes an export whose nodes share noise.
func sharedExport(t *testing.T, c strategy.Strategy, n *secrets.Noise) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	worst, err := n.Worst(context.Background(), colluding(t, n.Nodes()))
	if err != nil || worst.Value > 1 {
		t.Fatal(err, worst)
	}
	names := labels[:n.Nodes()]
	var edges []graph.Edge
	for _, p := range n.Pairs {
		edges = append(edges, graph.Edge{U: p.U, V: p.V, Weight: 1})
	}
	g, err := graph.New(names, edges, false)
	if err != nil {
		t.Fatal(err)
	}
	shared, err := export.NewSharedNoise(g.Labels(), n)
	if err != nil {
		t.Fatal(err)
	}
	files, err := shared.Files(g)
	if err != nil {
		t.Fatal(err)
	}
	victim := g.Label(worst.Victim)
	attacker := []string{}
	for _, a := range worst.Attacker {
		attacker = append(attacker, g.Label(a))
	}
	m := &export.Manifest{Version: "test", Workload: "model", WorkloadSpec: new(workload.Spec), Steps: steps, Trust: export.TrustSecLDP,
		Space: &export.Space{LargestPair: 1000, Secrets: export.Secrets{Source: export.SecretsGossip, Pairs: len(n.Pairs)},
			Coalitions: export.Coalitions{Size: 1}, Worst: export.Worst{Attacker: attacker, Victim: victim, Value: worst.Value}},
		Participation: export.Participation{Schema: "cyclic", K: 2, B: 6}, Strategy: export.Describe(c),
		SensSquared: 1, SensKind: "exact", SquaredError: 2, Loss: 2, RMSE: 1, LDPLoss: 3, JointLowerBound: 1,
		Tolerance: 0.1, Status: "converged",
		Graph:   &graph.Origin{Source: "ring", Nodes: n.Nodes(), Edges: len(edges), Gossip: "uniform"},
		Privacy: &export.Privacy{Mu: 0.5, Sigma: 2, Clip: 1, Adjacency: "zero-out", NoiseStd: 2}}
	if c.Name() == "dense" {
		matrices, err := export.Matrices(c, export.FormatNPY)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, matrices...)
	}
	if err := export.WriteDir(dir, m, files, export.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// allRows returns all rows of a source.
func allRows(t *testing.T, s interface{ Next([]float64) error }, dim int) *mat.Dense {
	t.Helper()
	z := mat.NewDense(steps, dim, nil)
	for row := range steps {
		if err := s.Next(z.RawRowView(row)); err != nil {
			t.Fatal(err)
		}
	}
	return z
}

// TestSharedCovariance: over nodes and steps together the covariance is noise_std²·M ⊗ (CᵀC)⁻¹, M written out pair by
// pair.
func TestSharedCovariance(t *testing.T) {
	const dim = 20000
	n := ring(t)
	c := strategies(t)["banded"]
	dir := sharedExport(t, c, n)
	nodes := n.Nodes()
	m := mat.NewDense(nodes, nodes, nil)
	for i, d := range n.Own {
		m.Set(i, i, d*d)
	}
	for _, p := range n.Pairs {
		difference := mat.NewVecDense(nodes, nil)
		difference.SetVec(p.U, 1)
		difference.SetVec(p.V, -1)
		m.RankOne(m, p.Deviation*p.Deviation, difference, difference)
	}
	var lower, noising mat.TriDense
	c.StrategyTo(&lower)
	if err := c.NoisingTo(&noising); err != nil {
		t.Fatal(err)
	}
	var overTime, want mat.Dense
	overTime.Mul(&noising, noising.T())
	want.Kronecker(m, &overTime)
	want.Scale(4, &want)
	all := mat.NewDense(nodes*steps, dim, nil)
	e, err := export.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, label := range e.Shared.Labels {
		seed := uint64(11)
		s, err := Open(dir, label, dim, Options{Seed: &seed})
		if err != nil {
			t.Fatal(err)
		}
		all.Slice(i*steps, (i+1)*steps, 0, dim).(*mat.Dense).Copy(allRows(t, s, dim))
	}
	var got mat.Dense
	got.Mul(all, all.T())
	got.Scale(1./dim, &got)
	worst := 0.
	for i := range nodes * steps {
		for j := range i + 1 {
			deviation := math.Sqrt((want.At(i, i)*want.At(j, j) + want.At(i, j)*want.At(i, j)) / dim)
			worst = math.Max(worst, math.Abs(got.At(i, j)-want.At(i, j))/deviation)
		}
	}
	if worst > 5 { // of 1830 normal numbers the largest is below 4.5 with probability 0.99
		t.Errorf("an entry of the covariance is %.1f standard deviations off", worst)
	}
	t.Logf("of 1830 entries the worst is %.2f standard deviations off", worst)
}

// TestPairsCancel: what a pair shares is the same bits at both ends, and stays opposite to the last bit through every
// filter and every grid, if nothing else is in it.
func TestPairsCancel(t *testing.T) {
	for name, c := range strategies(t) {
		for _, opts := range []Options{{}, {Grid: 0x1p-20}, {Regenerate: true}} {
			dir := sharedExport(t, c, couple())
			var rows []*mat.Dense
			for _, label := range labels[:2] {
				seed := uint64(5)
				opts.Seed = &seed
				s, err := Open(dir, label, 1000, opts)
				if err != nil {
					t.Fatal(err)
				}
				s.share.check = true
				rows = append(rows, allRows(t, s, 1000))
			}
			var sum mat.Dense
			sum.Add(rows[0], rows[1])
			if mat.Max(&sum) != 0 || mat.Min(&sum) != 0 || mat.Norm(rows[0], 2) < 1 {
				t.Errorf("%s, %+v: two ends do not cancel", name, opts)
			}
		}
	}
}

// TestEndsThatDifferHideAsMuch: where somebody in between lets the two ends of a pair have different keys, each draws
// that part alone, as if it were its own: no attacker learns more of any node than with the keys they should have.
func TestEndsThatDifferHideAsMuch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(2, 6).Draw(t, "nodes")
		n, apart := &secrets.Noise{}, &secrets.Noise{}
		for i := range nodes {
			n.Own = append(n.Own, rapid.Float64Range(0.3, 2).Draw(t, "own"))
			apart.Own = append(apart.Own, n.Own[i])
		}
		for i := range nodes {
			for j := i + 1; j < nodes; j++ {
				p := secrets.Shared{Pair: secrets.Pair{U: i, V: j}, Deviation: rapid.Float64Range(0, 3).Draw(t, "pair")}
				n.Pairs = append(n.Pairs, p)
				if !rapid.Bool().Draw(t, "apart") {
					apart.Pairs = append(apart.Pairs, p)
					continue
				}
				for _, end := range []int{i, j} {
					apart.Own[end] = math.Hypot(apart.Own[end], p.Deviation)
				}
			}
		}
		for a := -1; a < nodes; a++ {
			var coalition []int
			if a >= 0 {
				coalition = []int{a}
			}
			var together, different mat.Dense
			m, others := n.Unknown(coalition)
			k, _ := apart.Unknown(coalition)
			if len(others) == 0 {
				continue
			}
			if err := errors.Join(together.Inverse(m), different.Inverse(k)); err != nil {
				t.Fatal(err)
			}
			for v := range others {
				if different.At(v, v) > together.At(v, v)*(1+1e-9) {
					t.Fatalf("attacker %v learns %v of node %d, not %v", coalition, different.At(v, v), others[v], together.At(v, v))
				}
			}
		}
	})
}

// node is one with a key, for runs in tests.
type node struct {
	label string
	join  Join
}

// met are the nodes of an export with their keys, in one folder.
func met(t *testing.T, dir string) []*node {
	t.Helper()
	e, err := export.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	var nodes []*node
	var public strings.Builder
	for i, label := range e.Shared.Labels {
		key, err := keys.New(label)
		path := filepath.Join(work, string(rune('a'+i))+".key")
		if err := errors.Join(err, key.Save(path)); err != nil {
			t.Fatal(err)
		}
		public.WriteString(key.Public().Line())
		nodes = append(nodes, &node{label, Join{Key: path, Keys: filepath.Join(work, "keys.csv"), Runs: t.TempDir()}})
	}
	write(t, filepath.Join(work, "keys.csv"), []byte(public.String()))
	return nodes
}

// announce lets nodes announce a run to each other.
func announce(t *testing.T, dir, check string, nodes ...*node) {
	t.Helper()
	runs := t.TempDir()
	for i, n := range nodes {
		n.join.Runs = runs
		with := ""
		if check != "" {
			with = nodes[1-i].label
		}
		a, err := Announce(dir, 3, n.join, with, Options{})
		if err == nil {
			err = a.WriteFile(filepath.Join(runs, string(rune('a'+i))+".run"), false)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// begin starts the state of a node.
func (n *node) begin(t *testing.T, dir string) (*Stream, string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state")
	d, err := OpenDurable(dir, n.label, 3, State{Path: path, New: true, Join: &n.join}, Options{})
	if err == nil {
		t.Cleanup(func() { _ = d.release() })
	}
	return d, path, err
}

// TestRun: the nodes of a run share what they should: the sum of the rows of all nodes is the sum of their own noise
// alone; a restart goes on; a second run with the same keys has other rows, and the announcements of the first begin
// nothing again.
func TestRun(t *testing.T) {
	dir := sharedExport(t, dense(t), ring(t))
	nodes := met(t, dir)
	rows := func() (all []*mat.Dense) {
		announce(t, dir, "", nodes...)
		for i, n := range nodes {
			d, path, err := n.begin(t, dir)
			if err != nil {
				t.Fatal(err)
			}
			if !d.Private() || d.Check() {
				t.Error("a run says that it is none")
			}
			z := mat.NewDense(steps, 3, nil)
			for row := range steps {
				if err := d.Next(z.RawRowView(row)); err != nil {
					t.Fatal(err)
				}
				if row == i { // each node at another place
					if err := d.Close(); err != nil {
						t.Fatal(err)
					}
					if d, err = OpenDurable(dir, n.label, 3, State{Path: path}, Options{}); err != nil {
						t.Fatal(err)
					}
				}
			}
			// what the node has drawn of its own
			own, err := streamWith(dense(t), gaussian{n.label, d.key, 2}, 3, Options{})
			if err != nil {
				t.Fatal(err)
			}
			alone := allRows(t, own, 3)
			alone.Scale(d.share.own, alone)
			var shared mat.Dense
			shared.Sub(z, alone)
			all = append(all, z, &shared)
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
		}
		return all
	}
	first := rows()
	sum := mat.NewDense(steps, 3, nil)
	largest := 0.
	for i := 1; i < len(first); i += 2 {
		sum.Add(sum, first[i])
		largest = math.Max(largest, mat.Norm(first[i], math.Inf(1)))
	}
	if mat.Norm(sum, math.Inf(1)) > 1e-13*largest || largest < 1 {
		t.Errorf("what nodes share is %v, and its sum %v", largest, mat.Norm(sum, math.Inf(1)))
	}
	for _, n := range nodes {
		if _, _, err := n.begin(t, dir); !errors.Is(err, keys.ErrUsed) {
			t.Errorf("%s once more: %v", n.label, err)
		}
	}
	second := rows()
	for i := range first {
		var both mat.Dense
		if both.Sub(first[i], second[i]); i/2 < 4 && mat.Norm(&both, 2) < 0.1 {
			t.Errorf("a second run has the same rows (%d)", i)
		}
	}
}

// TestCheckRun: two ends of a checked pair are opposite in every bit; the rows differ from a run's.
func TestCheckRun(t *testing.T) {
	dir := sharedExport(t, dense(t), ring(t))
	nodes := met(t, dir)
	ends := nodes[:2]
	announce(t, dir, "check", ends...)
	var rows []*mat.Dense
	for _, n := range ends {
		d, path, err := n.begin(t, dir)
		if err != nil {
			t.Fatal(err)
		}
		if d.Private() || !d.Check() || len(d.Neighbours()) != 1 {
			t.Error("a check says that it is none")
		}
		first := make([]float64, 3)
		if err := errors.Join(d.Next(first), d.Close()); err != nil {
			t.Fatal(err)
		}
		if d, err = OpenDurable(dir, n.label, 3, State{Path: path}, Options{}); err != nil {
			t.Fatal(err)
		}
		z := mat.NewDense(steps, 3, nil)
		z.SetRow(0, first)
		for row := 1; row < steps; row++ {
			if err := d.Next(z.RawRowView(row)); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, z)
	}
	var sum mat.Dense
	if sum.Add(rows[0], rows[1]); mat.Max(&sum) != 0 || mat.Min(&sum) != 0 || mat.Norm(rows[0], 2) < 1 {
		t.Error("the ends of a check do not cancel")
	}
}

// TestNoRowWithoutNeighbours: whatever is missing, there is an error, and neither a row nor a state.
func TestNoRowWithoutNeighbours(t *testing.T) {
	dir, other := sharedExport(t, dense(t), ring(t)), sharedExport(t, dense(t), ring(t).Scaled(1.1))
	if _, err := Open(dir, "ann", 3, Options{}); !errors.Is(err, ErrNeighbours) {
		t.Errorf("without keys: %v", err)
	}
	if _, err := Open(dir, "alone", 3, Options{}); err != nil {
		t.Errorf("a node without neighbours: %v", err)
	}
	path := filepath.Join(t.TempDir(), "state")
	if _, err := OpenDurable(dir, "ann", 3, State{Path: path, New: true}, Options{}); !errors.Is(err, ErrNeighbours) {
		t.Errorf("with a state, without keys: %v", err)
	}
	if _, err := Announce(exported(t, dense(t)), 3, met(t, dir)[0].join, "", Options{}); !errors.Is(err, ErrExport) {
		t.Errorf("announcing a run that needs none: %v", err)
	}
	for name, tc := range map[string]struct {
		change func(nodes []*node)
		say    string
	}{
		"another export": {func(nodes []*node) {
			a, err := Announce(other, 3, nodes[1].join, "", Options{})
			if err := errors.Join(err, a.WriteFile(filepath.Join(nodes[1].join.Runs, "b.run"), true)); err != nil {
				t.Fatal(err)
			}
		}, "another export"},
		"another model": {func(nodes []*node) {
			a, err := Announce(dir, 4, nodes[1].join, "", Options{})
			if err := errors.Join(err, a.WriteFile(filepath.Join(nodes[1].join.Runs, "b.run"), true)); err != nil {
				t.Fatal(err)
			}
		}, "rows of 4 numbers"},
		"more noise": {func(nodes []*node) {
			a, err := Announce(dir, 3, nodes[1].join, "", Options{NoiseStd: 5})
			if err := errors.Join(err, a.WriteFile(filepath.Join(nodes[1].join.Runs, "b.run"), true)); err != nil {
				t.Fatal(err)
			}
		}, "a noise level of 5, not 2"},
		"a check": {func(nodes []*node) {
			a, err := Announce(dir, 3, nodes[1].join, "ann", Options{})
			if err := errors.Join(err, a.WriteFile(filepath.Join(nodes[1].join.Runs, "b.run"), true)); err != nil {
				t.Fatal(err)
			}
		}, "a check, not a run"},
		"another's key": {func(nodes []*node) { nodes[0].join.Key = nodes[1].join.Key }, `is of node "b,\"ob", not "ann"`},
	} {
		nodes := met(t, dir)
		announce(t, dir, "", nodes...)
		tc.change(nodes)
		_, path, err := nodes[0].begin(t, dir)
		if err == nil || !strings.Contains(err.Error(), tc.say) {
			t.Errorf("%s: %v, want %q", name, err, tc.say)
		}
		if _, err := OpenDurable(dir, "ann", 3, State{Path: path}, Options{}); err == nil {
			t.Errorf("%s has left a state", name)
		}
	}
}

// TestSharedState: a state of shared noise is of its export, node and neighbours, and one whose run never began gives
// no rows.
func TestSharedState(t *testing.T) {
	dir := sharedExport(t, dense(t), ring(t))
	nodes := met(t, dir)
	announce(t, dir, "", nodes...)
	d, path, err := nodes[0].begin(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	row := make([]float64, 3)
	if err := errors.Join(d.Next(row), d.Close()); err != nil {
		t.Fatal(err)
	}
	good := content(t, path)
	reopenIt := func() error {
		d, err := OpenDurable(dir, "ann", 3, State{Path: path}, Options{})
		if err == nil {
			_ = d.release()
		}
		return err
	}
	if err := reopenIt(); err != nil {
		t.Error(err)
	}
	for _, other := range []string{sharedExport(t, dense(t), couple()), exported(t, dense(t))} {
		if _, err := OpenDurable(other, "ann", 3, State{Path: path}, Options{}); !errors.Is(err, ErrState) {
			t.Errorf("of another export: %v", err)
		}
	}
	h := d.head()
	again := func(change func(h *stateHead), p place) error {
		changed := h
		changed.Pairs = slices.Clone(h.Pairs)
		change(&changed)
		replaced := filepath.Join(t.TempDir(), "state")
		r, err := newRecord(replaced, changed, p)
		if err != nil {
			t.Fatal(err)
		}
		_ = r.file.Close()
		write(t, path, content(t, replaced))
		return reopenIt()
	}
	if err := again(func(*stateHead) {}, place{Issued: 1}); err != nil {
		t.Errorf("made again: %v", err)
	}
	for name, change := range map[string]func(h *stateHead){
		"no neighbours":       func(h *stateHead) { h.Pairs = nil },
		"a neighbour less":    func(h *stateHead) { h.Pairs = h.Pairs[1:] },
		"neighbours swapped":  func(h *stateHead) { h.Pairs[0], h.Pairs[1] = h.Pairs[1], h.Pairs[0] },
		"another neighbour":   func(h *stateHead) { h.Pairs[0].Neighbour = "alone" },
		"a short key":         func(h *stateHead) { h.Pairs[0].Key = h.Pairs[0].Key[2:] },
		"a key of no digits":  func(h *stateHead) { h.Pairs[0].Key = "z" + h.Pairs[0].Key[1:] },
		"a stranger's check":  func(h *stateHead) { h.Check, h.Pairs[0].Neighbour = true, "alone" },
		"the format of alone": func(h *stateHead) { h.Format = stateFormat },
	} {
		if err := again(change, place{Issued: 1}); !errors.Is(err, ErrState) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := again(func(*stateHead) {}, place{Joining: true}); !errors.Is(err, ErrState) || !strings.Contains(err.Error(), "before its run began") {
		t.Errorf("cut off before it began: %v", err)
	}
	write(t, path, good)
}

// TestWorstIsComputedAgain: an export whose noise hides less than its manifest says begins no run.
func TestWorstIsComputedAgain(t *testing.T) {
	n := ring(t)
	dir := sharedExport(t, dense(t), n)
	nodes := met(t, dir)
	announce(t, dir, "", nodes...)
	e, err := export.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	weak := n.Scaled(0.99)
	g, err := graph.New(labels, []graph.Edge{{U: 0, V: 1, Weight: 1}, {U: 0, V: 3, Weight: 1}, {U: 1, V: 2, Weight: 1}, {U: 2, V: 3, Weight: 1}}, false)
	if err != nil {
		t.Fatal(err)
	}
	shared, err := export.NewSharedNoise(g.Labels(), weak)
	if err != nil {
		t.Fatal(err)
	}
	files, err := shared.Files(g)
	matrices, err2 := export.Matrices(dense(t), export.FormatNPY)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	if err := export.WriteDir(dir, e.Manifest, append(files, matrices...), export.WriteOptions{Force: true}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := nodes[0].begin(t, dir); !errors.Is(err, ErrExport) || !strings.Contains(err.Error(), "attackers learn") {
		t.Errorf("%v", err)
	}
	if _, err := OpenOdometer(dir, "", 1e-6); !errors.Is(err, ErrExport) || !strings.Contains(err.Error(), "attackers learn") {
		t.Errorf("odometer: %v", err)
	}
}
