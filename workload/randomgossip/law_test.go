package randomgossip

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"mafalda/graph"
	_ "mafalda/internal/seeded"
)

// drawUniform draws the uniform gossip matrix of a small graph, directed or not.
func drawUniform(t *rapid.T, n int) *graph.CSR {
	directed := rapid.Bool().Draw(t, "directed")
	d := mat.NewDense(n, n, nil)
	for i := range n {
		d.Set(i, i, 1)
		for j := range n {
			switch {
			case j < i && !directed:
				d.Set(i, j, d.At(j, i))
			case j != i && rapid.IntRange(0, 2).Draw(t, "edge") > 0:
				d.Set(i, j, 1)
			}
		}
	}
	for i := range n {
		var sum float64
		for j := range n {
			sum += d.At(i, j)
		}
		for j := range n {
			d.Set(i, j, d.At(i, j)/sum)
		}
	}
	return graph.NewCSRFromDense(d)
}

// outcome is a matrix that may be drawn.
type outcome struct {
	w           *graph.CSR
	probability float64
}

// nodeOutcomes goes through all sets of nodes that fail.
func nodeOutcomes(w *graph.CSR, p float64) []outcome {
	n, _ := w.Dims()
	var all []outcome
	for failed := range 1 << n {
		probability := 1.0
		for i := range n {
			if failed>>i&1 == 1 {
				probability *= p
			} else {
				probability *= 1 - p
			}
		}
		up := func(i, j int) bool { return failed>>i&1 == 0 && failed>>j&1 == 0 }
		all = append(all, outcome{Surviving(w, up), probability})
	}
	return all
}

// linkOutcomes goes through all sets of links that fail.
func linkOutcomes(w *graph.CSR, p float64) []outcome {
	number := map[[2]int]int{}
	w.DoNonZero(func(i, j int, _ float64) {
		key := [2]int{min(i, j), max(i, j)}
		if _, ok := number[key]; !ok && i != j {
			number[key] = len(number)
		}
	})
	var all []outcome
	for failed := range 1 << len(number) {
		probability := 1.0
		for link := range len(number) {
			if failed>>link&1 == 1 {
				probability *= p
			} else {
				probability *= 1 - p
			}
		}
		up := func(i, j int) bool { return failed>>number[[2]int{min(i, j), max(i, j)}]&1 == 0 }
		all = append(all, outcome{Surviving(w, up), probability})
	}
	return all
}

// expect returns E[W] and E[WᵀMW].
func expect(all []outcome, m *mat.Dense) (mean, pulled *mat.Dense) {
	n, _ := m.Dims()
	mean, pulled = mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	for _, o := range all {
		w := o.w.ToDense()
		var half, whole, scaled mat.Dense
		half.Mul(m, w)
		whole.Mul(w.T(), &half)
		whole.Scale(o.probability, &whole)
		pulled.Add(pulled, &whole)
		scaled.Scale(o.probability, w)
		mean.Add(mean, &scaled)
	}
	return mean, pulled
}

// pull returns E[WᵀMW] by a law.
func pull(l *Law, m *mat.Dense) *mat.Dense {
	n, _ := m.Dims()
	var half, whole mat.Dense
	mean := l.Mean().ToDense()
	half.Mul(m, mean)
	whole.Mul(mean.T(), &half)
	l.AddCovariance(whole.RawMatrix().Data, m.RawMatrix().Data)
	return mat.NewDense(n, n, whole.RawMatrix().Data)
}

func drawMatrix(t *rapid.T, n int) *mat.Dense {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
	m := mat.NewDense(n, n, nil)
	m.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, m)
	return m
}

// The closed forms are the expectations over everything that may be drawn, for matrices that need not be symmetric.
func TestLawsAreExpectations(t *testing.T) {
	for name, tc := range map[string]struct {
		law      func(*graph.CSR, float64) (*Law, error)
		outcomes func(*graph.CSR, float64) []outcome
		nodes    int
	}{
		"nodes": {Nodes, nodeOutcomes, 6},
		"links": {Links, linkOutcomes, 5},
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				n := rapid.IntRange(1, tc.nodes).Draw(t, "n")
				w := drawUniform(t, n)
				p := rapid.Float64Range(0.01, 0.99).Draw(t, "p")
				m := drawMatrix(t, n)
				law, err := tc.law(w, p)
				if err != nil {
					t.Fatal(err)
				}
				mean, want := expect(tc.outcomes(w, p), m)
				if !mat.EqualApprox(law.Mean(), mean, 1e-13) {
					t.Fatalf("the mean is\n%v and not\n%v", mat.Formatted(law.Mean()), mat.Formatted(mean))
				}
				if got := pull(law, m); !mat.EqualApprox(got, want, 1e-12) {
					t.Fatalf("E[WᵀMW] is\n%v and not\n%v", mat.Formatted(got), mat.Formatted(want))
				}
			})
		})
	}
}

func TestNeighboursAreExpectations(t *testing.T) {
	for _, size := range [][2]int{{2, 1}, {3, 1}, {3, 2}, {4, 1}, {4, 2}, {4, 3}, {5, 2}} {
		n, s := size[0], size[1]
		m := mat.NewDense(n, n, nil)
		for i := range n { // 2 along the ones, -0.7 across
			for j := range n {
				m.Set(i, j, 2.7/float64(n))
			}
			m.Set(i, i, m.At(i, i)-0.7)
		}
		mean, want := expect(neighbourOutcomes(n, s), m)
		law := NewNeighbours(n, s)
		dense := func(along, across float64) *mat.Dense {
			d := mat.NewDense(n, n, nil)
			for i := range n {
				for j := range n {
					d.Set(i, j, (along-across)/float64(n))
				}
				d.Set(i, i, d.At(i, i)+across)
			}
			return d
		}
		if got := dense(law.Mean()); !mat.EqualApprox(got, mean, 1e-14) {
			t.Errorf("%v: the mean is\n%v and not\n%v", size, mat.Formatted(got), mat.Formatted(mean))
		}
		got := dense(law.Pull(2, -0.7))
		if !mat.EqualApprox(got, want, 1e-12) || math.Abs(law.Trace(law.Pull(2, -0.7))-mat.Trace(want)) > 1e-12 {
			t.Errorf("%v: E[WᵀMW] is\n%v and not\n%v", size, mat.Formatted(got), mat.Formatted(want))
		}
	}
}

// neighbourOutcomes goes through all choices of all nodes.
func neighbourOutcomes(n, s int) []outcome {
	var sets []int // of s among n-1
	for set := range 1 << (n - 1) {
		count := 0
		for b := range n - 1 {
			count += set >> b & 1
		}
		if count == s {
			sets = append(sets, set)
		}
	}
	all := []outcome{}
	choice := make([]int, n)
	for {
		d := mat.NewDense(n, n, nil)
		for i, c := range choice {
			d.Set(i, i, 1/float64(s+1))
			for b := range n - 1 {
				if sets[c]>>b&1 == 1 {
					j := b
					if b >= i {
						j++
					}
					d.Set(i, j, 1/float64(s+1))
				}
			}
		}
		all = append(all, outcome{graph.NewCSRFromDense(d), math.Pow(float64(len(sets)), -float64(n))})
		at := 0
		for ; at < n && choice[at] == len(sets)-1; at++ {
			choice[at] = 0
		}
		if at == n {
			return all
		}
		choice[at]++
	}
}

func TestLawsNeedUniformRows(t *testing.T) {
	uneven := graph.NewCSRFromDense(mat.NewDense(2, 2, []float64{0.75, 0.25, 0.25, 0.75}))
	alone := graph.NewCSRFromDense(mat.NewDense(2, 2, []float64{0, 1, 1, 0}))
	for _, w := range []*graph.CSR{uneven, alone} {
		if _, err := Nodes(w, 0.1); !errors.Is(err, ErrUneven) {
			t.Error(err)
		}
		if _, err := Links(w, 0.1); !errors.Is(err, ErrUneven) {
			t.Error(err)
		}
	}
}

// Large neighbourhoods: what is drawn has the mean that is computed, and a sum over many trials is finite.
func TestHubs(t *testing.T) {
	e := newMoments(0.3)
	for _, m := range []int{0, 1, 50, 5000} {
		var sum float64
		for _, p := range e.distribution(m) {
			sum += p
		}
		// E[1/(1+B)] = (1 - (1-q)^(m+1)) / (q (m+1))
		want := (1 - math.Pow(0.7, float64(m+1))) / (0.3 * float64(m+1))
		if math.Abs(sum-1) > 1e-13 || math.Abs(e.entry(1, 1, m)-want) > 1e-13*want {
			t.Errorf("%d trials: %v, %v", m, sum, e.entry(1, 1, m)-want)
		}
	}
}
