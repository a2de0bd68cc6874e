package spacetime

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Where pairs are many, a search works with some of them at a time, those that it keeps: the interior point has no
// other variables. Which pairs are missing the dual point tells (dual.go): those that it pulls at by more than they
// cost. A dual point that pulls at no pair of all by more is a certificate for all pairs.

const (
	// mostDirect is the number of pairs of a node, on average, up to which a search works with all of them.
	mostDirect = 20
	// mostKept is that number for the pairs that are kept. More take too long, and about 20 are used in the optima for
	// 200 nodes.
	mostKept = 30
	// cheap is how many may be kept where nodes are few.
	cheap = 2500
)

// Variables returns how many variables, of nodes and pairs, a Newton step of Space has at most.
func Variables(nodes, pairs int) int {
	if pairs <= mostDirect*nodes {
		return nodes + pairs
	}
	return nodes + min(pairs, keptAtMost(nodes))
}

// keptAtMost returns how many pairs are kept at most.
func keptAtMost(nodes int) int { return max(mostKept*nodes, cheap) }

// firstPairs returns the pairs to begin with: the pairs of an interior start, or else the cheapest pairs of every node,
// a few random ones, and the pairs of start.
func (d *design) firstPairs(start *Point) []int {
	const cheapest, random = 4, 2
	var all []int
	if start != nil {
		for i, v := range start.Pairs {
			if v > 0 {
				all = append(all, i)
			}
		}
		if start.Mu > 0 && len(all) > 0 {
			return all
		}
	}
	of := make([][]int, d.nodes)
	for i, p := range d.pairs {
		of[p.U], of[p.V] = append(of[p.U], i), append(of[p.V], i)
	}
	source := rand.New(rand.NewPCG(1, 2))
	for _, pairs := range of {
		slices.SortStableFunc(pairs, func(i, j int) int { return cmp.Compare(d.cost[d.nodes+i], d.cost[d.nodes+j]) })
		all = append(all, pairs[:min(cheapest, len(pairs))]...)
		for range min(random, len(pairs)) {
			all = append(all, pairs[source.IntN(len(pairs))])
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// part returns the design of the pairs that are kept.
func (s *spaceSearch) part() *design {
	if s.kept == nil {
		return s.all
	}
	return s.all.part(s.kept)
}

// restrict picks the variances of kept pairs from the variances of all pairs.
func (s *spaceSearch) restrict(all []float64) []float64 {
	if s.kept == nil {
		return all
	}
	n := s.all.nodes
	x := slices.Clone(all[:n])
	for _, i := range s.kept {
		x = append(x, all[n+i])
	}
	return x
}

// whole returns variances of all pairs, of which those that are not kept have none.
func (s *spaceSearch) whole(x []float64) []float64 {
	if s.kept == nil {
		return slices.Clone(x)
	}
	n := s.all.nodes
	all := make([]float64, s.all.size())
	copy(all, x[:n])
	for j, i := range s.kept {
		all[n+i] = x[n+j]
	}
	return all
}

// exchange drops pairs that are idle and takes up some that are pulled at by more than they cost. It returns whether
// the interior point is another one.
func (s *spaceSearch) exchange(pull []float64) bool {
	if s.kept == nil {
		return false
	}
	gap, changed := s.gap(), false
	kept := s.busy(pull, gap)
	idle := len(s.kept) - len(kept)
	kept = append(kept, s.pairsToAdd(pull, len(kept))...)
	if idle > 0 || len(kept) > len(s.kept) {
		slices.Sort(kept)
		changed = s.keep(kept, gap)
	}
	// Steps are short where products are far below what is left to gain.
	const far, share, short = 0.005, 0.05, 2
	if gap < 1 && s.idle >= short && s.interior.mu < far*s.products(gap) {
		changed = s.interior.widen(share*s.products(gap)) || changed
	}
	return changed
}

// busy returns the pairs that are kept but for those that cost next to nothing and more than they are pulled at.
func (s *spaceSearch) busy(pull []float64, gap float64) []int {
	const early, share, slack = 0.1, 0.1, 0.8
	if gap > early {
		return slices.Clone(s.kept)
	}
	in, n, spare := s.interior, s.all.nodes, share*s.products(gap)
	busy := make([]int, 0, len(s.kept)) // nil would be all pairs
	for j, i := range s.kept {
		if cost := s.all.cost[n+i]; in.x[n+j]*cost >= spare || pull[n+i] >= slack*cost {
			busy = append(busy, i)
		}
	}
	return busy
}

// pairsToAdd returns pairs that are not kept and pulled at by more than they cost, the most so first: the more of them
// the more there are, as long as not too many are kept.
func (s *spaceSearch) pairsToAdd(pull []float64, busy int) []int {
	const more, part, atOnce = 1e-6, 20, 3
	n := s.all.nodes
	in := make([]bool, len(s.all.pairs))
	for _, i := range s.kept {
		in[i] = true
	}
	over := func(i int) float64 { return pull[n+i] - s.all.cost[n+i] }
	var wanted []int
	for i := range s.all.pairs {
		if !in[i] && over(i) > more*s.all.cost[n+i] {
			wanted = append(wanted, i)
		}
	}
	slices.SortStableFunc(wanted, func(i, j int) int { return cmp.Compare(over(j), over(i)) })
	count := max(n, min(len(wanted)/part, atOnce*n))
	return wanted[:max(0, min(len(wanted), count, keptAtMost(n)-busy))]
}

// keep continues the search with other pairs. New pairs get slacks and multipliers whose products match the gap. It
// returns false and changes nothing where rounding does not allow it.
func (s *spaceSearch) keep(kept []int, gap float64) bool {
	const share = 0.1
	in, n := s.interior, s.all.nodes
	at := make(map[int]int, len(s.kept))
	for j, i := range s.kept {
		at[i] = n + j
	}
	mu := in.mu
	if gap < 1 {
		mu = math.Max(mu, share*s.products(gap))
	}
	d := s.all.part(kept)
	x, lower, upper := slices.Clone(in.x[:n]), slices.Clone(in.lower[:n]), slices.Clone(in.upper[:n])
	for k, i := range kept {
		if j, ok := at[i]; ok {
			x, lower, upper = append(x, in.x[j]), append(lower, in.lower[j]), append(upper, in.upper[j])
			continue
		}
		limit := d.limit[n+k]
		v := math.Min(mu/math.Max(d.cost[n+k], 1e-9), 0.1*limit)
		x, lower, upper = append(x, v), append(lower, mu/v), append(upper, mu/(limit-v))
	}
	position := newPosition(d, x)
	if position == nil {
		return false
	}
	s.kept = kept
	in.design, in.x, in.lower, in.upper, in.position = d, x, lower, upper, position
	return true
}
