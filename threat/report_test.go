package threat

import (
	"strings"
	"testing"
)

func TestByDistance(t *testing.T) {
	pair := func(distance int, squared, mu float64) Pair {
		return Pair{Distance: &distance, SensSquared: &squared, Mu: &mu}
	}
	zero, four := 0, 4.0
	seen := pair(1, 0, 0)
	seen.SensSquared, seen.Mu, seen.Infinite = nil, nil, true
	compared := pair(1, 3, 1.5)
	compared.Cyffers = &four
	far := pair(0, 1, 1)
	far.Distance = nil
	rows := ByDistance([]Report{
		{Pairs: []Pair{{Distance: &zero, Infinite: true}, pair(1, 1, 1), seen, compared}},
		{Pairs: []Pair{pair(2, 0.5, 0.7), far}},
	})
	if len(rows) != 3 {
		t.Fatalf("%+v", rows)
	}
	if r := rows[0]; r.Distance != 1 || r.Pairs != 3 || r.Infinite != 1 || r.Least != 1 || r.Mean != 2 || r.Most != 3 ||
		r.Mu != 1.5 || *r.Cyffers != 4 {
		t.Errorf("%+v", r)
	}
	if r := rows[1]; r.Distance != 2 || r.Pairs != 1 || r.Cyffers != nil {
		t.Errorf("%+v", r)
	}
	if rows[2].Distance != NoPath {
		t.Errorf("%+v", rows[2])
	}
}

func TestWritePairs(t *testing.T) {
	distance, squared, mu := 2, 0.1, 1./3
	var out strings.Builder
	err := WritePairs(&out, []Report{{Attacker: "a,b", Drawn: new(uint64(7)), DrawnHoldsFor: "seed 7", LocalMu: &squared, HoldsFor: "fixed streams", Pairs: []Pair{{Victim: "a", Bound: "best", Infinite: true},
		{Victim: "c", Distance: &distance, SensSquared: &squared, Mu: &mu,
			Bound: Refined, WithoutReaction: &squared, DrawnSensSquared: &squared}}}})
	const want = `attacker,victim,distance,sens_squared,mu,rdp,epsilon,cyffers_sens_squared,ldp_mu,bound,ldp_sens_squared,without_reaction,worst_answer,holds_for,drawn_by_seed,drawn_sens_squared,drawn_mu,drawn_epsilon,drawn_holds_for
"a,b",a,,inf,,,,,0.10000000000000001,best,,,,fixed streams,7,,,,seed 7
"a,b",c,2,0.10000000000000001,0.33333333333333331,,,,0.10000000000000001,refined,,0.10000000000000001,,fixed streams,7,0.10000000000000001,,,seed 7
`
	if err != nil || out.String() != want {
		t.Errorf("%s%v", &out, err)
	}
}
