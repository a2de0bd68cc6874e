package bands

import (
	"context"
	"math"

	"mafalda/accounting"
	"mafalda/factorize"
	"mafalda/internal/lists"
)

// Search looks for the number of bands of least error at an (ε, δ): a search by branch and bound.
//
// The squared error E(w) of the best strategy of w bands never rises with w, for a strategy of few bands also counts as
// one of more bands. So a lower bound of E(w) is one of all E(v), v ≤ w, too, and with the noise multiplier s_v that v
// bands need, s_v² times it bounds the error at the privacy. What is not below the best so far is excluded, often
// without s_v: if noise of √(best/bound) gives an ε above the target, s_v is larger. Searches for strategies end as
// soon as their own certificate excludes them. So what is found is the best for this accountant, up to the gap.
type Search struct {
	Progress func(settled, total int) // hears how many numbers of bands need not be looked at any more, if not nil

	table          *Table
	epsilon, delta float64
	all            []band // the band of w at index w-1
	best           int    // index; -1: none
	excluded       int
}

// band is what is known of a number of bands.
type band struct {
	Cost
	settled bool    // true if w is excluded, or the table has its strategy
	bound   float64 // lower bound of E, for this class and classes of fewer bands
}

// NewSearch returns the search among all numbers of bands of a table, in which it leaves the strategies that it
// makes; bound is one for the squared error of all strategies.
func NewSearch(t *Table, target accounting.Target, bound float64) *Search {
	return &Search{table: t, epsilon: target.Epsilon, delta: target.Delta, best: -1,
		all: lists.Make(t.Most(), func(i int) band { return band{Cost: t.cost(i + 1), bound: bound} })}
}

// AtMost leaves out all larger numbers of bands.
func (s *Search) AtMost(bands int) { s.all = s.all[:min(len(s.all), bands)] }

// Only leaves out all numbers of bands but one.
func (s *Search) Only(bands int) {
	for i := range s.all {
		s.all[i].settled = i != bands-1
	}
}

// Best returns what was found to cost the least, and its strategy. It is to be called after Run.
func (s *Search) Best() (Cost, *factorize.Result) {
	return s.all[s.best].Cost, s.result(s.best)
}

// Excluded returns how many numbers of bands were shown to have no smaller error than the best.
func (s *Search) Excluded() int { return s.excluded }

// result returns the strategy of a number of bands; nil: it was not searched for, or is excluded.
func (s *Search) result(i int) *factorize.Result { return s.table.found[i+1] }

// Run searches until every number of bands is settled. When ctx ends it stops with what there is, if there is
// something.
func (s *Search) Run(ctx context.Context) error {
	for {
		i, enough, err := s.nextCandidate()
		if i < 0 || err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			if s.best >= 0 {
				return nil
			}
			return err
		}
		if err := s.settle(ctx, i, enough); err != nil {
			return err
		}
		if s.result(i) == nil && ctx.Err() == nil {
			s.excluded++
		}
		if s.Progress != nil {
			s.Progress(s.countSettled(), len(s.all))
		}
	}
}

// nextCandidate returns the number of bands, less one, to look at, and a squared error that need not be searched for
// further once it is shown to be a lower bound; -1 if all are settled. It begins with the fewest and the most bands,
// which all others lie between, and goes on with what looks best. If nothing looks better than the best, it excludes
// from few bands upwards: by as many bands as have, it seems, an error that is large enough for the fewest.
func (s *Search) nextCandidate() (at int, enough float64, err error) {
	first, last, least := -1, -1, math.Inf(1)
	at = -1
	for i := range s.all {
		if s.all[i].settled {
			continue
		}
		if first < 0 {
			first = i
		}
		last = i
		if s.best >= 0 {
			multiplier := s.interpolate(i, func(b *band) float64 { return b.NoiseMultiplier })
			// the logarithm of the error at the privacy, perhaps: it only decides what is looked at first
			if e := math.Log(s.squaredError(i)) + 2*multiplier; e < least {
				at, least = i, e
			}
		}
	}
	switch {
	case first < 0:
		return -1, 0, nil
	case s.best < 0:
		return first, math.Inf(1), s.calibrate(last) // for the guesses
	case s.result(len(s.all)-1) == nil && last == len(s.all)-1:
		return last, math.Inf(1), nil
	}
	wanted := s.all[s.best].ErrorAtPrivacy
	if err := s.calibrate(first); err != nil || math.Exp(least) < wanted {
		return at, s.exclusionBound(at, wanted), err
	}
	enough = s.exclusionBound(first, wanted)
	for at = last; at > first && (s.all[at].settled || s.squaredError(at) < enough*1.02); at-- {
	}
	return at, enough, nil
}

// exclusionBound returns the least squared error with which i+1 bands are no better than what is wanted; +Inf where their
// noise is not known yet.
func (s *Search) exclusionBound(i int, wanted float64) float64 {
	m := s.all[i].NoiseMultiplier
	return wanted / (m * m)
}

// settle excludes a number of bands, or finds its best strategy, or stops where the error is shown to be enough.
func (s *Search) settle(ctx context.Context, i int, enough float64) error {
	b := &s.all[i]
	b.settled = true
	if s.best >= 0 && b.NoiseMultiplier == 0 {
		least := math.Sqrt(s.all[s.best].ErrorAtPrivacy / b.bound)
		if excluded, err := s.table.tooLittle(i+1, least, s.epsilon, s.delta); excluded || err != nil {
			return err
		}
	}
	if err := s.calibrate(i); err != nil {
		return err
	}
	own := math.Inf(1)
	if s.best >= 0 {
		if own = s.exclusionBound(i, s.all[s.best].ErrorAtPrivacy); b.bound >= own {
			return nil
		}
	}
	return s.search(ctx, i, own, enough)
}

// search finds the best strategy of i+1 bands, unless its squared error is first shown to be at least own, which
// excludes these bands, and, if it can be, enough to exclude fewer ones as well.
func (s *Search) search(ctx context.Context, i int, own, enough float64) error {
	searching, stop := context.WithCancel(ctx)
	defer stop()
	excluded := false
	r, err := s.table.optimize(searching, i+1, func(it factorize.Iteration) {
		if it.LowerBound >= own && (it.LowerBound >= enough || it.Loss < enough) && it.Gap > s.table.options.Gap {
			excluded = true
			stop()
		}
	})
	if err != nil {
		return err
	}
	for j := range s.all[:i+1] { // a bound for every smaller number of bands, too
		s.all[j].bound = math.Max(s.all[j].bound, r.ClassBound)
	}
	if excluded || ctx.Err() != nil && s.best >= 0 {
		return nil
	}
	s.table.found[i+1] = r
	b := &s.all[i]
	b.SquaredError, b.ErrorAtPrivacy = r.SquaredError, b.NoiseMultiplier*b.NoiseMultiplier*r.SquaredError
	if s.best < 0 || b.ErrorAtPrivacy < s.all[s.best].ErrorAtPrivacy {
		s.best = i
	}
	return nil
}

func (s *Search) calibrate(i int) error {
	b := &s.all[i]
	if b.NoiseMultiplier != 0 {
		return nil
	}
	var err error
	b.NoiseMultiplier, err = s.table.Multiplier(i+1, s.epsilon, s.delta)
	return err
}

// countSettled returns how many numbers of bands need not be looked at any more.
func (s *Search) countSettled() int {
	count := 0
	for _, b := range s.all {
		if b.settled {
			count++
		}
	}
	return count
}

// Candidates returns those that were searched for to the end, in ascending order.
func (s *Search) Candidates() []Cost {
	var found []Cost
	for i, b := range s.all {
		if s.result(i) != nil {
			found = append(found, b.Cost)
		}
	}
	return found
}

// squaredError estimates the squared error of the best strategy with i+1 bands.
func (s *Search) squaredError(i int) float64 {
	e := s.interpolate(i, func(b *band) float64 {
		if b.SquaredError == 0 && b.Bandwidth == len(s.all) {
			return b.bound
		}
		return b.SquaredError
	})
	return math.Max(math.Exp(e), s.all[i].bound)
}

// interpolate interpolates value over the number of bands, on logarithmic scales. value returns 0 where it is not
// known.
func (s *Search) interpolate(i int, value func(b *band) float64) float64 {
	left, right := -1, -1
	for j := range s.all {
		switch known := value(&s.all[j]) > 0; {
		case known && j <= i:
			left = j
		case known && right < 0:
			right = j
		}
	}
	if left == i || right < 0 {
		return math.Log(value(&s.all[left]))
	}
	x := func(j int) float64 { return math.Log(float64(j + 1)) }
	low, high := math.Log(value(&s.all[left])), math.Log(value(&s.all[right]))
	return low + (high-low)*(x(i)-x(left))/(x(right)-x(left))
}
