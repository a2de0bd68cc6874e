package span

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"mafalda/graph"
	"mafalda/internal/exact"
	"mafalda/internal/lists"
	"mafalda/protocols/internal/consensus"
	"mafalda/protocols/internal/modular"
	"mafalda/protocols/internal/protocoltest"
)

// observer returns what a node sees that knows v(0) of its own, and of neighbours that hear from nobody else, as in
// PPAC.
func observer(w *consensus.Weights, around [][]int, node int) *Observation {
	return &Observation{Weights: w,
		Known: func(v int) bool {
			return v == node || !slices.ContainsFunc(around[v], func(u int) bool { return u != node })
		},
		Seen: func(v int) bool { return slices.Contains(around[v], node) },
	}
}

// drawTree draws a tree of n nodes with weights of either scheme.
func drawTree(t *testing.T, r *rand.Rand, n int, scheme graph.Scheme) (*consensus.Weights, [][]int) {
	t.Helper()
	var pairs [][2]int
	for v := 1; v < n; v++ {
		pairs = append(pairs, [2]int{r.IntN(v), v})
	}
	g := protocoltest.FromEdges(t, n, pairs...)
	return consensus.NewWeights(protocoltest.GossipOf(t, g, scheme).Matrix()), consensus.Neighbourhoods(g)
}

// followed counts trees on which chains were followed, and those on which a precision was not enough.
type followed struct{ deep, refused, alsoRefused int }

// On trees Arnoldi in double precision can go wrong without a sign but where the chains end. What is accepted agrees
// with 1024 bits.
func TestTreesAreFollowed(t *testing.T) {
	var counts followed
	step := uint64(1)
	if testing.Short() {
		step = 5 // the smallest, and the largest, on which double precision is refused
	}
	for seed := uint64(0); seed < 6; seed += step {
		r := rand.New(rand.NewPCG(seed, 9))
		n := 45 + 8*int(seed)
		w, around := drawTree(t, r, n, []graph.Scheme{graph.Laplacian, graph.Metropolis}[seed%2])
		for _, near := range around {
			r.IntN(len(near)) // chosen neighbours, which spans do not depend on
		}
		for range 3 {
			node := r.IntN(n)
			rounds := []int{Forever, 5, n / 2}[r.IntN(3)]
			o := observer(w, around, node)
			s, err := o.Observe(context.Background(), rounds)
			if err != nil {
				t.Fatal(err)
			}
			if s.Ceiling {
				t.Fatalf("tree of %d nodes: too much precision", n)
			}
			if s.Rank() == len(s.Hidden) || len(s.Messages) == 0 {
				continue
			}
			if worst := counts.follow(t, o, s, around[node]); worst > 1e-9 {
				t.Errorf("tree of %d nodes, observer %d: the basis is off by %g", n, node, worst)
			}
		}
	}
	t.Logf("double precision was refused for %d of %d, 106 bits for %d", counts.refused, counts.deep,
		counts.alsoRefused)
	if counts.refused == 0 || counts.refused == counts.deep {
		t.Error("no test of both precisions")
	}
}

// follow makes the basis of a span in all precisions and returns how far it is off, by 1024 bits.
func (f *followed) follow(t *testing.T, o *Observation, s *Span, neighbours []int) (worst float64) {
	t.Helper()
	all, err := s.again(o)
	if err != nil {
		t.Fatal(err)
	}
	var senders []int
	for _, u := range neighbours {
		if s.Place[u] >= 0 {
			senders = append(senders, u)
		}
	}
	p := newPursuit(o.Weights, s, senders, all, Forever)
	end, least, err := p.chains(context.Background(), newDoubles(o.Weights, s))
	if err != nil {
		t.Fatal(err)
	}
	if end > doubleEnd || least < doubleLeast {
		f.refused++
	}
	long := &bigs{o: o, s: s, last: map[int][]*big.Float{}}
	if end, _, err := p.chains(context.Background(), long); err != nil || end > 1e-100 {
		t.Fatalf("a chain ends with %g, %v", end, err)
	}
	f.deep++
	end, least, err = p.chains(context.Background(), newPrecise(o.Weights, s))
	if err != nil || end > fineEnd || least < fineLeast {
		f.alsoRefused++
	}
	exact, width := long.doubles[:len(s.Basis)], len(s.Hidden)
	for i := range s.Basis { // rows are unique up to their signs
		row := i / width * width
		sign := math.Copysign(1, blas64.Dot(vector(exact[row:row+width]), vector(s.Basis[row:row+width])))
		worst = max(worst, math.Abs(exact[i]-sign*s.Basis[i]))
	}
	return worst
}

// again repeats the exact pursuit of a span for ever.
func (s *Span) again(o *Observation) ([]Message, error) {
	fresh := &Span{Hidden: s.Hidden, Place: s.Place, pivots: &modular.Echelon{}}
	var senders []int
	for _, m := range s.Messages {
		if m.Round == 0 {
			senders = append(senders, m.From)
		}
	}
	return fresh.pursue(context.Background(), o, senders, Forever)
}

// bigs is Arnoldi's arithmetic in 1024 bits. Weights are 1/k, and what they leave of 1 on the diagonal.
type bigs struct {
	o       *Observation
	s       *Span
	basis   [][]*big.Float
	doubles []float64
	last    map[int][]*big.Float
	from    int
	row     []*big.Float
	size    *big.Float
}

func longNumber(x float64) *big.Float { return exact.To(1024, x) }

func (b *bigs) start(node int) {
	b.from, b.row = node, lists.Make(len(b.s.Hidden), func(int) *big.Float { return longNumber(0) })
	b.row[b.s.Place[node]] = longNumber(1)
}

func (b *bigs) step(from int) {
	x, next := b.last[from], lists.Map(b.last[from], func(v *big.Float) *big.Float { return exact.Plus(v, longNumber(0)) })
	for at, v := range b.s.Hidden {
		b.o.Weights.Matrix.DoRowNonZero(v, func(_, u int, w float64) {
			if u == v {
				return
			}
			moved := exact.Over(x[at], longNumber(math.Round(1/w)))
			next[at] = exact.Minus(next[at], moved)
			if to := b.s.Place[u]; to >= 0 {
				next[to] = exact.Plus(next[to], moved)
			}
		})
	}
	b.from, b.row = from, next
}

func (b *bigs) dot(p, q []*big.Float) *big.Float {
	sum := longNumber(0)
	for i := range p {
		sum = exact.Plus(sum, exact.Times(p[i], q[i]))
	}
	return sum
}

func (b *bigs) newPart() float64 {
	for _, q := range b.basis {
		along := b.dot(q, b.row)
		for i := range q {
			b.row[i] = exact.Minus(b.row[i], exact.Times(along, q[i]))
		}
	}
	b.size = longNumber(0)
	b.size.Sqrt(b.dot(b.row, b.row))
	size, _ := b.size.Float64()
	return size
}

func (b *bigs) keep() {
	for i, x := range b.row {
		b.row[i] = exact.Over(x, b.size)
		v, _ := b.row[i].Float64()
		b.doubles = append(b.doubles, v)
	}
	b.basis, b.last[b.from] = append(b.basis, b.row), b.row
}
