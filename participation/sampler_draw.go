package participation

import "math"

// A coin comes up with a probability that is never above the one asked for: 64 random bits, read as a number from 0 to
// 2⁶⁴-1, are below the threshold ⌊q·2⁶⁴⌋, so that the probability is below q by less than 2⁻⁶⁴, and not at all for q ≥
// 2⁻¹², whose product is whole. That is the safe side: a smaller probability q' leads to a mixture of the distribution
// for q, with weight q'/q, and of the distribution without the record, and divergences are convex.
type coin struct {
	threshold uint64
	always    bool // q = 1, whose threshold is 2⁶⁴
}

// newCoin returns the coin of a probability 0 ≤ q ≤ 1.
func newCoin(q float64) coin {
	if q >= 1 {
		return coin{always: true}
	}
	return coin{threshold: uint64(math.Ldexp(q, 64))} // exact, then rounded down: q < 1 is at most 1 - 2⁻⁵³
}

// comesUp reports whether the coin comes up for a number of 64 uniform bits.
func (c coin) comesUp(number uint64) bool { return c.always || number < c.threshold }

// uniform returns one of 0, ..., m-1, all equally likely, for a number of 64 uniform bits; not ok for those above the
// last whole multiple of m, of which there are fewer than m.
func uniform(number, m uint64) (v uint64, ok bool) {
	v = number % m
	return v, number-v <= -m
}

// assign draws one of 0, ..., m-1 for every record, independently and exactly uniformly: with the number of attempt 0,
// 1, ..., whichever is the first that uniform takes.
func (k Key) assign(of purpose, records, m int) []int {
	assigned := make([]int, records)
	var again []int
	k.eachNumber(of, 0, records, func(record int, number uint64) {
		v, ok := uniform(number, uint64(m))
		if assigned[record] = int(v); !ok {
			again = append(again, record)
		}
	})
	for _, record := range again {
		for attempt, ok := 1, false; !ok; attempt++ {
			var v uint64
			v, ok = uniform(k.number(of, attempt, record), uint64(m))
			assigned[record] = int(v)
		}
	}
	return assigned
}
