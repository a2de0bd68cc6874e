package span

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"mafalda/graph"
	"mafalda/internal/exact"
	"mafalda/internal/lists"
	"mafalda/protocols/internal/consensus"
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

// On trees rows become parallel within a few rounds. Exposures agree with those of an orthonormal basis of 1024 bits.
func TestTreesAreFollowed(t *testing.T) {
	step, deep := uint64(1), 0
	if testing.Short() {
		step = 5
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
			if s.Whole || len(s.Messages) == 0 {
				continue
			}
			deep++
			exposures, err := s.Exposures(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			long := &bigs{o: o, s: s, last: map[int][]*big.Float{}}
			for at, seen := range long.seen() {
				if e := exposures[at]; !(e.Seen >= seen*(1-1e-14) && e.Seen <= seen*(1+1e-14)+1e-40) {
					t.Errorf("tree of %d nodes, observer %d: exposure %.17g, must be %.17g", n, node, e.Seen, seen)
				}
			}
		}
	}
	if deep == 0 {
		t.Error("nothing was followed")
	}
}

// seen returns the exposures of the hidden nodes, by the basis of all messages.
func (b *bigs) seen() []float64 {
	for _, m := range b.s.Messages {
		if m.Round == 0 {
			b.start(m.From)
		} else {
			b.step(m.From)
		}
		b.newPart()
		b.keep()
	}
	return lists.Make(len(b.s.Hidden), func(at int) float64 {
		sum := longNumber(0)
		for _, q := range b.basis {
			sum = exact.Plus(sum, exact.Times(q[at], q[at]))
		}
		v, _ := sum.Float64()
		return v
	})
}

// bigs is Arnoldi's arithmetic in 1024 bits. Weights are 1/k, and what they leave of 1 on the diagonal.
type bigs struct {
	o     *Observation
	s     *Span
	basis [][]*big.Float
	last  map[int][]*big.Float
	from  int
	row   []*big.Float
	size  *big.Float
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

// newPart takes the basis out of the row.
func (b *bigs) newPart() {
	for _, q := range b.basis {
		along := b.dot(q, b.row)
		for i := range q {
			b.row[i] = exact.Minus(b.row[i], exact.Times(along, q[i]))
		}
	}
	b.size = longNumber(0)
	b.size.Sqrt(b.dot(b.row, b.row))
}

func (b *bigs) keep() {
	for i, x := range b.row {
		b.row[i] = exact.Over(x, b.size)
	}
	b.basis, b.last[b.from] = append(b.basis, b.row), b.row
}
