package pld

import "math"

// A lossLattice is a distribution under P of losses at·step + offset for ascending numbers at.
type lossLattice struct {
	step, offset float64
	at           []int
	mass         []float64
	lost         float64 // mass of losses without bound
}

// pessimistic returns a lattice whose pair dominates the histogram's pair: "connecting the dots" of the privacy
// curve (Doroshenko, Ghazi, Kamath, Kumar & Manurangsi 2022). Dividing a loss between two nodes without a change of
// mass under P or Q undoes a post-processing. The error is of second order in the step.
func (h lossHistogram) pessimistic() lossLattice {
	l := lossLattice{step: h.step, at: h.nodes, mass: make([]float64, len(h.nodes)), lost: h.above}
	for i := range h.lower {
		l.mass[i] += h.lower[i]
		l.mass[i+1] += h.upper[i]
	}
	l.mass[h.belowNode] += h.below
	return l
}

// optimistic returns a lattice whose pair the histogram's pair dominates: by a post-processing that tells only
// the bin, or, drawn at random for some outcomes, a neighbouring one, so that the mean of e^loss under Q is at its
// node exactly. Where this is impossible mass under P is dropped, and the node rounded down. The error is of second
// order in the step, too.
//
// Nodes lie in the middles of narrow bins, or, if that drops too much mass over all rounds, where least is dropped:
// where much of all mass is in a few bins there may not be enough beside it to move its mean.
func (h lossHistogram) optimistic(rounds int) lossLattice {
	var best lossLattice
	least := math.Inf(1)
	for _, part := range []float64{8, 4, 12, 2, 6, 10, 14, 1, 3, 5, 7, 9, 11, 13, 15, 0.25, 15.75} {
		l, dropped := h.latticeAbove(part / 16 * h.step)
		if dropped < least {
			best, least = l, dropped
		}
		if least*float64(rounds) < 1e-5 {
			break
		}
	}
	return best
}

// latticeAbove returns an optimistic lattice whose nodes lie offset above the histogram's, and how much mass it drops.
func (h lossHistogram) latticeAbove(offset float64) (lossLattice, float64) {
	n := len(h.lower)
	s := sweep{step: h.step, at: make([]int, n+1), bins: make([]massPair, n), placed: make([]float64, n+1)}
	s.at[0] = h.nodes[0] - 1
	dropped := 0.0
	for i := range n {
		from, width := h.nodes[i], h.nodes[i+1]-h.nodes[i]
		s.at[i+1] = from + (width-1)/2
		mass, above := h.lower[i]+h.upper[i], math.Expm1(float64(s.at[i+1]-from)*h.step+offset)
		lack := above*mass + (1+above)*math.Expm1(-h.width(i))*h.upper[i]
		s.bins[i] = massPair{mass, mass + lack}
		dropped += mass
	}
	pool := massPair{}
	for i := range n {
		pool = s.node(i, pool)
	}
	for _, m := range s.placed {
		dropped -= m
	}
	return lossLattice{step: h.step, offset: offset, at: s.at, mass: s.placed}, dropped
}

// A massPair is mass of some outcomes under P, and under Q times e^node for a node. Where the latter is larger the
// outcomes' mean of e^loss is below the node.
type massPair struct{ p, q float64 }

func (m massPair) times(fraction float64) massPair { return massPair{m.p * fraction, m.q * fraction} }

func (m massPair) plus(o massPair) massPair { return massPair{m.p + o.p, m.q + o.q} }

// A sweep places the outcomes of a histogram's bins on the nodes of a lattice, from the least loss to the largest.
type sweep struct {
	step   float64    // step of the lattice
	at     []int      // nodes in steps: at[i+1] is the node of bin i, at[0] one below all of them
	bins   []massPair // mass of every bin that is not placed yet, a pair for the bin's own node
	placed []float64  // mass under P on every node, in the order of at
}

// rise returns the ratio of e^loss at node i+1 to e^loss at node k+1.
func (s *sweep) rise(i, k int) float64 { return math.Exp(float64(s.at[i+1]-s.at[k+1]) * s.step) }

// reachOfSweep is how many nodes a node may take outcomes from.
const reachOfSweep = 64

// node places bin i with a pool that the node before could not use, and returns the pool for the next one. If their
// mean is below the node, outcomes of the next bins raise it; if it is above, part of what is on the nodes before
// comes back up.
func (s *sweep) node(i int, pool massPair) massPair {
	pool.q *= s.rise(i, i-1)
	pool = pool.plus(s.bins[i])
	s.bins[i] = massPair{}
	if pool.p >= pool.q {
		if s.raise(i, pool, false) {
			return massPair{}
		}
		if i < len(s.bins)-1 {
			return pool
		}
		s.raise(i, pool, true)
		return massPair{}
	}
	if placed, ok := s.gather(i, pool); ok {
		s.placed[i+1] += placed
		return massPair{}
	}
	// its mean is above the node before
	pool.q *= s.rise(i-1, i)
	s.raise(i-1, pool, true)
	return massPair{}
}

// gather takes outcomes of the next bins to bring a pool's mean up to node i, if there are enough, and returns the
// mass.
func (s *sweep) gather(i int, pool massPair) (mass float64, ok bool) {
	for j := i + 1; j < len(s.bins) && j <= i+reachOfSweep; j++ {
		next := massPair{s.bins[j].p, s.bins[j].q * s.rise(i, j)}
		need := pool.q - pool.p
		if surplus := next.p - next.q; surplus > need {
			taken := need / surplus
			s.bins[j] = s.bins[j].times(1 - taken)
			clear(s.bins[i+1 : j])
			return pool.q + taken*next.q, true
		}
		pool = pool.plus(next)
	}
	return 0, false
}

// raise places a pool whose mean is above node i: it takes mass from the nodes before to bring the mean down. If that
// is not enough it drops the rest, or does nothing unless forced.
func (s *sweep) raise(i int, pool massPair, forced bool) bool {
	excess, least := pool.p-pool.q, max(-1, i-reachOfSweep)
	if !forced {
		capacity := 0.0
		for k := i - 1; k >= least && capacity < excess; k-- {
			capacity += s.placed[k+1] * (s.rise(i, k) - 1)
		}
		if capacity < excess {
			return false
		}
	}
	for k := i - 1; k >= least && excess > 0; k-- {
		rise := s.rise(i, k)
		if lack := s.placed[k+1] * (rise - 1); lack > 0 {
			taken := math.Min(excess/lack, 1)
			pool.q += s.placed[k+1] * taken * rise
			s.placed[k+1] *= 1 - taken
			excess -= lack * taken
		}
	}
	s.placed[i+1] += pool.q
	return true
}
