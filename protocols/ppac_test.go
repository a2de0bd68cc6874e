package protocols

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/graph"
)

// named makes a built-in graph.
func named(t testing.TB, spec string) *graph.Graph {
	t.Helper()
	g, _, err := graph.ByName(spec, graph.BuiltinOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// fromEdges makes a graph of pairs of node numbers.
func fromEdges(t testing.TB, n int, pairs ...[2]int) *graph.Graph {
	t.Helper()
	var labels []string
	for i := range n {
		labels = append(labels, fmt.Sprint(i))
	}
	var edges []graph.Edge
	for _, p := range pairs {
		edges = append(edges, graph.Edge{U: p[0], V: p[1], Weight: 1})
	}
	g, err := graph.New(labels, edges, false)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// drawGraph draws a connected graph of n nodes from a tree, whose shape decides how many leaves there are, and some more edges.
func drawGraph(t *rapid.T, most int) *graph.Graph {
	n := rapid.IntRange(2, most).Draw(t, "n")
	seen := map[[2]int]bool{}
	for v := 1; v < n; v++ {
		seen[[2]int{rapid.IntRange(0, v-1).Draw(t, "parent"), v}] = true
	}
	for range rapid.IntRange(0, n).Draw(t, "more") {
		u, v := rapid.IntRange(0, n-1).Draw(t, "u"), rapid.IntRange(0, n-1).Draw(t, "v")
		if u != v {
			seen[[2]int{min(u, v), max(u, v)}] = true
		}
	}
	var labels []string
	for i := range n {
		labels = append(labels, fmt.Sprint(i))
	}
	var edges []graph.Edge
	for p := range seen {
		edges = append(edges, graph.Edge{U: p[0], V: p[1], Weight: 1})
	}
	g, err := graph.New(labels, edges, false)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func gossipOf(t interface{ Fatal(...any) }, g *graph.Graph, s graph.Scheme) *graph.Gossip {
	w, err := graph.NewGossip(g, s)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// drawPPAC draws a protocol; with the Laplacian scheme where that converges, so that exactness is checked, too.
func drawPPAC(t *rapid.T, most int) *PPAC {
	g := drawGraph(t, most)
	chosen := ChooseNeighbours(g, rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "chosen"), 0)))
	p, err := NewPPAC(g, gossipOf(t, g, graph.Laplacian), chosen)
	if err != nil {
		p, err = NewPPAC(g, gossipOf(t, g, graph.Metropolis), chosen)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// rational returns W exactly.
func rational(p *PPAC) [][]*bigRat {
	w := LaplacianRat(p.graph)
	for i := range w {
		for j := range w {
			if x, _ := w[i][j].Float64(); math.Abs(x-p.w.At(i, j)) > 1e-12 {
				return metropolisRat(p.graph)
			}
		}
	}
	return w
}

func drawCoalition(t *rapid.T, n int) []int {
	size := 1
	if n > 3 && rapid.Bool().Draw(t, "collude") {
		size = rapid.IntRange(1, n-2).Draw(t, "size")
	}
	order := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "coalition"), 1)).Perm(n)
	return order[:size]
}

// drawDeviations draws a standard deviation for each source, noise from a billionth of the values to a billion times them.
func drawDeviations(t *rapid.T, p *PPAC) Deviations {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "deviations"), 2))
	scale := math.Pow(10, rapid.Float64Range(-9, 9).Draw(t, "scale"))
	value, noise := map[int]float64{}, map[[2]int]float64{}
	for i, around := range p.neighbours {
		value[i] = 0.5 + r.Float64()
		for _, j := range around {
			noise[[2]int{i, j}] = scale * (0.5 + r.Float64())
		}
	}
	return Deviations{func(i int) float64 { return value[i] }, func(i, j int) float64 { return noise[[2]int{i, j}] }}
}

// The fast view is the definition in rational numbers: informative sequence, who is recovered, and leakage.
func TestViewIsItsDefinition(t *testing.T) {
	worst := 0.0
	rapid.Check(t, func(t *rapid.T) {
		p := drawPPAC(t, 7)
		coalition := drawCoalition(t, p.Nodes())
		rounds := rapid.IntRange(0, p.Nodes()).Draw(t, "rounds")
		forever := rapid.Bool().Draw(t, "forever")
		exact, err := p.ExactView(rational(p), coalition, map[bool]int{true: p.Nodes(), false: rounds}[forever])
		if err != nil {
			t.Fatal(err)
		}
		if forever {
			rounds = Forever
		}
		v, err := p.View(context.Background(), coalition, rounds)
		if err != nil {
			t.Fatal(err)
		}
		if got := v.Informative(); !slices.Equal(got, exact.Informative) {
			t.Fatalf("informative %v, must be %v", got, exact.Informative)
		}
		if v.Ceiling() {
			t.Fatal("too much precision")
		}
		d := drawDeviations(t, p)
		leaks, err := v.Leakages(context.Background(), d)
		if err != nil {
			t.Fatal(err)
		}
		if len(leaks) != p.Nodes()-len(coalition) {
			t.Fatalf("%d leakages of %d nodes with %d observers", len(leaks), p.Nodes(), len(coalition))
		}
		for _, l := range leaks {
			want := exact.Leakage(l.Victim, p, d)
			if math.IsInf(want, 1) != math.IsInf(l.Nats, 1) {
				t.Fatalf("leakage of %d is %v, must be %v", l.Victim, l.Nats, want)
			}
			if math.IsInf(want, 1) {
				continue
			}
			worst = max(worst, math.Abs(l.Nats-want)/(1+want))
			if math.Abs(l.Nats-want) > 1e-10*(1+want) {
				t.Fatalf("leakage of %d is %.17g, must be %.17g", l.Victim, l.Nats, want)
			}
		}
	})
	t.Logf("largest difference %.2g", worst)
}

// Theorem 6.8 and its converse for pairs: nothing is recovered but by generalized leaves and their like. The exact elimination
// knows nothing of the graph.
func TestRecoveryIsAMatterOfTheGraph(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPPAC(t, 7)
		leaves, pairs := GeneralizedLeaves(p.graph), Recoverable(p.graph)
		if want := byDefinition(p, false); !slices.Equal(leaves, want) {
			t.Fatalf("generalized leaves %v, must be %v", leaves, want)
		}
		if want := byDefinition(p, true); !slices.Equal(pairs, want) {
			t.Fatalf("recoverable pairs %v, must be %v", pairs, want)
		}
		if (len(leaves) == 0) != (len(pairs) == 0) {
			t.Fatalf("generalized leaves %v, recoverable %v: Theorem 6.8 is about both", leaves, pairs)
		}
		for tail := range p.Nodes() {
			exact, err := p.ExactView(rational(p), []int{tail}, p.Nodes())
			if err != nil {
				t.Fatal(err)
			}
			for head := range p.Nodes() {
				if head == tail {
					continue
				}
				if got := exact.Recovered(head); got != slices.Contains(pairs, Pair{head, tail}) {
					t.Fatalf("node %d recovers %d: %v; recoverable %v", tail, head, got, pairs)
				}
				if got := recoveredBy(p.neighbours, []int{tail}, head); got != slices.Contains(pairs, Pair{head, tail}) {
					t.Fatalf("recoveredBy(%d, %d) = %v; recoverable %v", tail, head, got, pairs)
				}
			}
		}
		coalition := drawCoalition(t, p.Nodes())
		exact, err := p.ExactView(rational(p), coalition, p.Nodes())
		if err != nil {
			t.Fatal(err)
		}
		for head := range p.Nodes() {
			if !slices.Contains(coalition, head) && exact.Recovered(head) != recoveredBy(p.neighbours, coalition, head) {
				t.Fatalf("coalition %v recovers %d: %v by elimination", coalition, head, exact.Recovered(head))
			}
		}
	})
}

// byDefinition tests every pair.
func byDefinition(p *PPAC, extended bool) []Pair {
	var pairs []Pair
	for head := range p.Nodes() {
		for tail := range p.Nodes() {
			holds := head != tail
			for _, s := range p.neighbours[head] {
				if s == tail {
					continue
				}
				leaf := len(p.neighbours[s]) == 1
				between := len(p.neighbours[s]) == 2 && slices.Contains(p.neighbours[s], tail)
				holds = holds && (between || extended && leaf)
			}
			if holds && p.graph.Nodes() > 1 && len(p.neighbours[head]) > 0 {
				pairs = append(pairs, Pair{head, tail})
			}
		}
	}
	return pairs
}

// The informative sequence ends early enough, and late enough (Propositions 6.3 and 6.4).
func TestInformativeSequenceEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPPAC(t, 12)
		degree := minimalPolynomialDegree(t, p)
		for i := range p.Nodes() {
			v, err := p.View(context.Background(), []int{i}, Forever)
			if err != nil {
				t.Fatal(err)
			}
			last := 0
			if m := v.Informative(); len(m) > 0 {
				last = m[len(m)-1].Round
			}
			level, _ := levels(p.w)
			if i != 0 {
				level = distances(p, i)
			}
			if eccentricity := slices.Max(level); last > degree-1 || last < eccentricity-2 {
				t.Fatalf("node %d: last informative round %d, minimal polynomial of degree %d, eccentricity %d", i, last, degree, eccentricity)
			}
		}
	})
}

// distances is from node i.
func distances(p *PPAC, i int) []int {
	d := slices.Repeat([]int{-1}, p.Nodes())
	d[i] = 0
	for queue := []int{i}; len(queue) > 0; queue = queue[1:] {
		for _, v := range p.neighbours[queue[0]] {
			if d[v] < 0 {
				d[v] = d[queue[0]] + 1
				queue = append(queue, v)
			}
		}
	}
	return d
}

// minimalPolynomialDegree is the number of distinct eigenvalues of the symmetric W.
func minimalPolynomialDegree(t *rapid.T, p *PPAC) int {
	n := p.Nodes()
	s := mat.NewSymDense(n, nil)
	p.w.DoNonZero(func(i, j int, v float64) { s.SetSym(min(i, j), max(i, j), v) })
	var e mat.EigenSym
	if !e.Factorize(s, false) {
		t.Fatal("eigenvalues")
	}
	values := e.Values(nil)
	distinct := 1
	for i := 1; i < n; i++ {
		if values[i]-values[i-1] > 1e-9 {
			distinct++
		}
	}
	return distinct
}

// Leakage is ½ log det Cov(D) + ½ log Var(u) - ½ log det Cov(D, u), the covariance formula of mutual information.
func TestLeakageIsMutualInformation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPPAC(t, 8)
		i := rapid.IntRange(0, p.Nodes()-1).Draw(t, "i")
		d := Uniform(rapid.Float64Range(0.5, 2).Draw(t, "value"), rapid.Float64Range(0.5, 5).Draw(t, "noise"))
		v, err := p.View(context.Background(), []int{i}, Forever)
		if err != nil {
			t.Fatal(err)
		}
		exact, err := p.ExactView(rational(p), []int{i}, p.Nodes())
		if err != nil {
			t.Fatal(err)
		}
		leaks, err := v.Leakages(context.Background(), d)
		if err != nil {
			t.Fatal(err)
		}
		rows := len(exact.Rows)
		scaled := mat.NewDense(rows+1, p.sources, nil)
		for r, row := range exact.Rows {
			for c, x := range row {
				f, _ := x.Float64()
				s := d.Noise(0, 0)
				if c < p.Nodes() {
					s = d.Value(c)
				}
				scaled.Set(r, c, f*s)
			}
		}
		for _, l := range leaks {
			if math.IsInf(l.Nats, 1) {
				continue
			}
			for c := range p.sources {
				scaled.Set(rows, c, 0)
			}
			scaled.Set(rows, l.Victim, d.Value(l.Victim))
			// log-determinants from triangles: the covariance itself would square the condition
			want := logVolume(scaled.Slice(0, rows, 0, p.sources)) + math.Log(d.Value(l.Victim)) - logVolume(scaled)
			if math.Abs(want-l.Nats) > 1e-10*(1+want) {
				t.Fatalf("leakage %.15g, by determinants %.15g", l.Nats, want)
			}
		}
	})
}

// logVolume is ½ log det(MMᵀ).
func logVolume(m mat.Matrix) float64 {
	var qr mat.QR
	qr.Factorize(m.T())
	var r mat.Dense
	qr.RTo(&r)
	rows, _ := m.Dims()
	var sum float64
	for i := range rows {
		sum += math.Log(math.Abs(r.At(i, i)))
	}
	return sum
}

func forever(t testing.TB, p *PPAC, observer, victim int, d Deviations) float64 {
	t.Helper()
	v, err := p.View(context.Background(), []int{observer}, Forever)
	if err != nil {
		t.Fatal(err)
	}
	leaks, err := v.Leakages(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range leaks {
		if l.Victim == victim {
			return l.Nats
		}
	}
	t.Fatalf("no leakage of %d", victim)
	return 0
}

// cyclePPAC is C_n with m_i the next node.
func cyclePPAC(t testing.TB, n int) *PPAC {
	t.Helper()
	g := named(t, fmt.Sprintf("cycle:%d", n))
	next := make([]int, n)
	for i := range next {
		next[i] = (i + 1) % n
	}
	scheme := graph.Laplacian
	if n%2 == 0 {
		scheme = graph.Metropolis
	}
	p, err := NewPPAC(g, gossipOf(t, g, scheme), next)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Figure 7: leakage falls with the length of the cycle, grows when noise shrinks, and never falls below what the average itself says,
// ½ log(1 + 1/(n-1)), which many standard deviations of noise come close to.
func TestCyclesLeakLessWhenLonger(t *testing.T) {
	previous := map[float64]float64{}
	for _, n := range []int{5, 7, 10, 20, 30, 40} {
		p := cyclePPAC(t, n)
		floor := math.Log1p(1/float64(n-1)) / 2
		before := math.Inf(1)
		for _, noise := range []float64{15, 150, 1500, 1.5e4, 1.5e5, 1.5e6} {
			leak := forever(t, p, 0, 1, Uniform(10, noise))
			if last, ok := previous[noise]; ok && leak >= last {
				t.Errorf("C_%d with noise %g leaks %g, a shorter cycle %g", n, noise, leak, last)
			}
			previous[noise] = leak
			if leak < floor*(1-1e-9) || leak > before*(1+1e-9) {
				t.Errorf("C_%d with noise %g leaks %.12g, with less noise %.12g; floor %.12g", n, noise, leak, before, floor)
			}
			before = leak
		}
		t.Logf("C_%d: %.6g nats at noise 1.5e6, floor %.6g", n, before, floor)
	}
}

func TestNewPPACRefuses(t *testing.T) {
	star := named(t, "star:4")
	even := named(t, "cycle:4")
	lonely := fromEdges(t, 3, [2]int{0, 1})
	for name, c := range map[string]struct {
		g      *graph.Graph
		scheme graph.Scheme
		chosen []int
	}{
		"not a neighbour":       {star, graph.Metropolis, []int{1, 2, 0, 0}},
		"itself":                {star, graph.Metropolis, []int{1, 1, 0, 0}},
		"out of range":          {star, graph.Metropolis, []int{9, 0, 0, 0}},
		"too few":               {star, graph.Metropolis, []int{1, 0, 0}},
		"not doubly stochastic": {star, graph.Uniform, []int{1, 0, 0, 0}},
		"periodic":              {even, graph.Laplacian, []int{1, 0, 1, 0}},
		"degree 0":              {lonely, graph.Metropolis, []int{1, 0, 0}},
		"one node":              {named(t, "complete:1"), graph.Metropolis, []int{0}},
	} {
		if _, err := NewPPAC(c.g, gossipOf(t, c.g, c.scheme), c.chosen); !isNetwork(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// On graphs that are too large for rational numbers: a basis of Arnoldi's and that of all coordinates give the same leakage, and nobody
// learns less than the average says.
func TestLeakageDoesNotDependOnTheBasis(t *testing.T) {
	for _, spec := range []string{"barabasi:200,3", "watts:150,4,0.2"} {
		g := named(t, spec)
		p, err := NewPPAC(g, gossipOf(t, g, graph.Laplacian), ChooseNeighbours(g, rand.New(rand.NewPCG(1, 1))))
		if err != nil {
			t.Fatal(err)
		}
		v, err := p.View(context.Background(), []int{17}, Forever)
		if err != nil {
			t.Fatal(err)
		}
		if v.span.rank() != len(v.span.hidden) {
			t.Fatalf("%s: %d of %d dimensions", spec, v.span.rank(), len(v.span.hidden))
		}
		d := Uniform(10, 1500)
		leaks, err := v.Leakages(context.Background(), d)
		if err != nil {
			t.Fatal(err)
		}
		quick := &doubles{w: p.w, s: v.span, last: map[int][]float64{}}
		if _, _, err := chains(context.Background(), quick, p.neighbours[17], known(v.span.messages),
			Forever); err != nil {
			t.Fatal(err)
		}
		v.span.basis = quick.basis
		others, err := v.Leakages(context.Background(), d)
		if err != nil {
			t.Fatal(err)
		}
		floor := math.Log1p(1/float64(p.Nodes()-1)) / 2
		for j, l := range leaks {
			if math.Abs(l.Nats-others[j].Nats) > 1e-9*l.Nats || l.Nats < floor*(1-1e-9) {
				t.Errorf("%s: %.12g nats of %d, by block Arnoldi %.12g; floor %.12g", spec, l.Nats, l.Victim, others[j].Nats, floor)
			}
		}
	}
}

func known(messages []Message) map[Message]bool {
	set := map[Message]bool{}
	for _, m := range messages {
		set[m] = true
	}
	return set
}

// On trees Arnoldi in double precision can go wrong without a sign but where the chains end. What is accepted agrees with 1024 bits.
func TestTreesAreFollowed(t *testing.T) {
	refused, alsoRefused, deep := 0, 0, 0
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 9))
		n := 45 + 8*int(seed)
		var pairs [][2]int
		for v := 1; v < n; v++ {
			pairs = append(pairs, [2]int{r.IntN(v), v})
		}
		g := fromEdges(t, n, pairs...)
		scheme := []graph.Scheme{graph.Laplacian, graph.Metropolis}[seed%2]
		p, err := NewPPAC(g, gossipOf(t, g, scheme), ChooseNeighbours(g, r))
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			observer := r.IntN(n)
			rounds := []int{Forever, 5, n / 2}[r.IntN(3)]
			v, err := p.View(context.Background(), []int{observer}, rounds)
			if err != nil {
				t.Fatal(err)
			}
			if v.Ceiling() {
				t.Fatalf("tree of %d nodes: too much precision", n)
			}
			if v.span.rank() == len(v.span.hidden) || len(v.span.messages) == 0 {
				continue
			}
			all, err := v.span.again(p)
			if err != nil {
				t.Fatal(err)
			}
			var senders []int
			for _, u := range p.neighbours[observer] {
				if v.span.place[u] >= 0 {
					senders = append(senders, u)
				}
			}
			quick, long := &doubles{w: p.w, s: v.span, last: map[int][]float64{}}, newBigs(p.weights, v.span, 1024)
			end, least, err := chains(context.Background(), quick, senders, known(all), Forever)
			if err != nil {
				t.Fatal(err)
			}
			if end > doubleEnd || least < doubleLeast {
				refused++
			}
			if end, _, err := chains(context.Background(), long, senders, known(all), Forever); err != nil ||
				end > 1e-100 {
				t.Fatalf("a chain ends with %g, %v", end, err)
			}
			deep++
			twice := newTwofolds(p.weights, v.span)
			if end, least, err := chains(context.Background(), twice, senders, known(all), Forever); err != nil ||
				end > twofoldEnd || least < twofoldLeast {
				alsoRefused++
			}
			worst := 0.0
			exact := long.doubles()[:len(v.span.basis)]
			for i := range len(v.span.basis) { // rows are unique up to their signs
				row := i / len(v.span.hidden) * len(v.span.hidden)
				sign := math.Copysign(1, blas64.Dot(vector(exact[row:row+len(v.span.hidden)]), vector(v.span.basis[row:row+len(v.span.hidden)])))
				worst = max(worst, math.Abs(exact[i]-sign*v.span.basis[i]))
			}
			if worst > 1e-9 {
				t.Errorf("tree of %d nodes, observer %d: the basis is off by %g (end %g, least %g)", n, observer, worst, end, least)
			}
		}
	}
	t.Logf("double precision was refused for %d of %d, 106 bits for %d", refused, deep, alsoRefused)
	if refused == 0 || refused == deep {
		t.Error("no test of both precisions")
	}
}

// again repeats the exact pursuit of a view for ever.
func (s *span) again(p *PPAC) ([]Message, error) {
	fresh := &span{hidden: s.hidden, place: s.place, pivots: &echelon{}}
	var senders []int
	for _, m := range s.messages {
		if m.Round == 0 {
			senders = append(senders, m.From)
		}
	}
	return fresh.pursue(context.Background(), &observation{weights: p.weights, residues: p.residues}, senders, Forever)
}

// The same on a real graph: powers of W are so nearly parallel here that a basis pursuit on them in floating point misses messages.
func TestFlorentineIsItsDefinition(t *testing.T) {
	g := named(t, "florentine")
	p, err := NewPPAC(g, gossipOf(t, g, graph.Laplacian), ChooseNeighbours(g, rand.New(rand.NewPCG(2, 2))))
	if err != nil {
		t.Fatal(err)
	}
	w, d := LaplacianRat(g), Uniform(10, 1500)
	for _, observer := range []int{0, 3, 8} { // Acciaiuoli, Bischeri, Medici
		exact, err := p.ExactView(w, []int{observer}, p.Nodes())
		if err != nil {
			t.Fatal(err)
		}
		v, err := p.View(context.Background(), []int{observer}, Forever)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(v.Informative(), exact.Informative) {
			t.Errorf("%s: informative %v, must be %v", g.Label(observer), v.Informative(), exact.Informative)
		}
		leaks, err := v.Leakages(context.Background(), d)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range leaks {
			want := exact.Leakage(l.Victim, p, d)
			if !(math.Abs(l.Nats-want) <= 1e-11*want) && !(math.IsInf(l.Nats, 1) && math.IsInf(want, 1)) {
				t.Errorf("%s learns %.15g of %s, must be %.15g", g.Label(observer), l.Nats, g.Label(l.Victim), want)
			}
		}
	}
}

// With more and more noise, observers who see all of v(0) are left with sums over components, others with less.
func TestNoiseLeavesSumsOverComponents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPPAC(t, 9)
		coalition := drawCoalition(t, p.Nodes())
		v, err := p.View(context.Background(), coalition, Forever)
		if err != nil {
			t.Fatal(err)
		}
		everything := v.span.rank() == len(v.span.hidden)
		value := func(i int) float64 { return 1 + float64(i%3) }
		leaks, err := v.Leakages(context.Background(), Deviations{value, func(int, int) float64 { return 1e5 }})
		if err != nil {
			t.Fatal(err)
		}
		limits := p.Limits(coalition, value)
		for _, a := range coalition {
			if !math.IsNaN(limits[a]) {
				t.Fatalf("observer %d has the limit %g", a, limits[a])
			}
		}
		for _, l := range leaks {
			limit := limits[l.Victim]
			if everything && !(math.Abs(l.Nats-limit) < 1e-6) && !(math.IsInf(limit, 1) && math.IsInf(l.Nats, 1)) {
				t.Fatalf("%v learn %g of %d, the sums say %g", coalition, l.Nats, l.Victim, limit)
			}
			if l.Nats > limit+1e-6 {
				t.Fatalf("%v learn %g of %d, more than the sums, %g", coalition, l.Nats, l.Victim, limit)
			}
		}
	})
	// on a cycle half of the nodes are in a sum
	for _, n := range []int{10, 11, 40} {
		if got, want := cyclePPAC(t, n).Limits([]int{0}, func(int) float64 { return 10 })[1], math.Log1p(1/float64(n/2-1))/2; math.Abs(got-want) > 1e-12 {
			t.Errorf("C_%d: %g, must be %g", n, got, want)
		}
	}
}
