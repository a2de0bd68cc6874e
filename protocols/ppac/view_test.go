package ppac

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"mafalda/protocols/internal/span"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// The informative sequence ends early enough, and late enough (Propositions 6.3 and 6.4).
func TestInformativeSequenceEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProtocol(t, 12)
		degree := minimalPolynomialDegree(t, p)
		for i := range p.Nodes() {
			v, err := p.View(context.Background(), []int{i}, Forever)
			if err != nil {
				t.Fatal(err)
			}
			last := 0
			if m := v.informative(); len(m) > 0 {
				last = m[len(m)-1].Round
			}
			if eccentricity := slices.Max(distances(p, i)); last > degree-1 || last < eccentricity-2 {
				t.Fatalf("node %d: last informative round %d, minimal polynomial of degree %d, eccentricity %d", i,
					last, degree, eccentricity)
			}
		}
	})
}

// distances is from node i.
func distances(p *Protocol, i int) []int {
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
func minimalPolynomialDegree(t *rapid.T, p *Protocol) int {
	n := p.Nodes()
	s := mat.NewSymDense(n, nil)
	p.weights.Matrix.DoNonZero(func(i, j int, v float64) { s.SetSym(min(i, j), max(i, j), v) })
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

// In a network that is too large to be followed for ever, what is seen in a few rounds is what it is in others.
func TestFewRoundsOfLargeNetworks(t *testing.T) {
	p := cycle(t, 41)
	ctx, d := context.Background(), Deviations{10, 150}
	leaks := func(rounds int) ([]Leakage, error) {
		v, err := p.View(ctx, []int{0, 7}, rounds)
		if err != nil {
			return nil, err
		}
		return v.Leakages(ctx, d)
	}
	want, err := leaks(3)
	if err != nil {
		t.Fatal(err)
	}
	p.work = span.Work{Most: 2e4, Probe: 1e3}
	got, err := leaks(3)
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range got {
		if math.Abs(l.Nats-want[i].Nats) > 1e-13*(1+want[i].Nats) {
			t.Errorf("node %d: %.17g, followed for ever %.17g", l.Victim, l.Nats, want[i].Nats)
		}
	}
	if _, err := leaks(Forever); !errors.Is(err, ErrTooLarge) {
		t.Errorf("for ever: %v", err)
	}
}

// informative returns the informative sequence (Definition 6.1): the messages that tell the observers something new,
// by round and then sender. All others are combinations of these, of what they knew, and of what they received in
// preparation.
func (v *View) informative() []span.Message {
	return slices.SortedFunc(slices.Values(v.span.Messages),
		func(a, b span.Message) int { return cmp.Or(a.Round-b.Round, a.From-b.From) })
}
