package dpps

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	_ "mafalda/internal/seeded"
)

// Max-consensus takes as many rounds as it needs, and no fewer.
func TestMaxConsensus(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSequence(t, 9)
		start := rapid.IntRange(0, s.Period()-1).Draw(t, "start")
		rounds := s.floodRounds(start)
		short := true
		for winner := range s.Nodes() {
			values := make([]float64, s.Nodes())
			values[winner] = 1
			for _, v := range s.maxConsensus(values, start, rounds) {
				if v != 1 {
					t.Fatalf("after %d rounds somebody holds %g", rounds, v)
				}
			}
			for _, v := range s.maxConsensus(values, start, rounds-1) {
				short = short && v == 1
			}
		}
		if short {
			t.Fatalf("%d rounds, but one less is enough", rounds)
		}
	})
}

// Large networks' broadcasts are bounded by the number of nodes.
func TestBroadcastsOfLargeNetworksAreLongEnough(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSequence(t, 9)
		if exact, err := s.BroadcastRounds(t.Context()); err != nil || exact > (s.Nodes()-1)*s.Period() {
			t.Fatalf("it takes %d rounds for %d nodes with period %d (%v)", exact, s.Nodes(), s.Period(), err)
		}
	})
}

// Rounds do not compose for those who hear the broadcasts: S of round 1 holds the size of the noise that hid the
// answer of round 0. The attacker knows the values, sees one answer, and asks whether S is what node 0's noise would
// make of it.
func TestBroadcastsBreakComposition(t *testing.T) {
	s, err := DOut(10, 2)
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Calibrate(context.Background(), 5, nil)
	if err != nil {
		t.Fatal(err)
	}
	var values [][]float64
	for i := range 10 {
		values = append(values, []float64{float64(i%2)*2 - 1})
	}
	const runs = 2000
	o := Options{Plan: Plan{B: 0.25, NoiseRate: 1, Sync: 5}, Calibration: c}
	var hits [2]int // by who has answered
	for seed := range uint64(runs) {
		p, err := NewPushSum(s, values, o, rand.New(rand.NewPCG(seed, 5)))
		if err != nil {
			t.Fatal(err)
		}
		first, err := p.Round(nil)
		if err != nil {
			t.Fatal(err)
		}
		second, err := p.Round(nil)
		if err != nil {
			t.Fatal(err)
		}
		again := rand.New(rand.NewPCG(seed, 5)) // the same noise, to have the messages
		for who := range hits {
			size := first.Estimated / o.B * again.ExpFloat64()
			if again.Uint64()&1 == 0 {
				size = -size
			}
			answer := values[who][0] + size
			noise := math.Abs(answer - values[0][0])
			predicted := min(2*c.C*c.Lambda*(1+noise), 2*c.Ergodicity[1]*(1+noise))
			if math.Abs(second.Estimated-predicted) < 1e-9*predicted {
				hits[who]++
			}
		}
	}
	// two rounds of 0.25 would allow e^0.5 times as often as with node 1, and δ more
	if hits[0] < runs/20 || hits[1] != 0 {
		t.Errorf("of %d runs S fits node 0's noise %d times when it has answered, %d times when node 1 has", runs,
			hits[0], hits[1])
	}
}

// maxConsensus returns what every node holds after so many rounds, from round t on, in which all keep the largest
// number they hear.
func (s *Sequence) maxConsensus(values []float64, t, rounds int) []float64 {
	held := append([]float64(nil), values...)
	for r := range rounds {
		next := append([]float64(nil), held...)
		s.Weights(t + r).DoNonZero(func(i, j int, v float64) {
			if v > 0 {
				next[i] = math.Max(next[i], held[j])
			}
		})
		held = next
	}
	return held
}
