package optim

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// minCurvature is the least cosine between a step and its change of gradient for the pair to be kept.
const minCurvature = 1e-10

// pair is a step s with its change of gradient y.
type pair struct {
	s, y       []float64
	rho, alpha float64 // 1/(sᵀy), and what solveTo takes of s
}

// history is the memory of L-BFGS: the last pairs, the oldest first, and one more to compute the next pair in.
type history struct {
	n, memory int
	pairs     []*pair
	next      *pair // nil: not made yet
}

func newHistory(memory, n int) *history { return &history{n: n, memory: memory} }

func (h *history) empty() bool { return len(h.pairs) == 0 }

// clear forgets all pairs.
func (h *history) clear() { h.pairs = nil }

// nextPair returns the place for the next pair.
func (h *history) nextPair() *pair {
	if h.next == nil {
		h.next = &pair{s: make([]float64, h.n), y: make([]float64, h.n)}
	}
	return h.next
}

// push keeps the pair written to nextPair, unless its curvature is not safely positive.
func (h *history) push() {
	p := h.next
	curvature := dot(p.s, p.y)
	if !(curvature > minCurvature*math.Sqrt(dot(p.s, p.s)*dot(p.y, p.y))) {
		return
	}
	p.rho = 1 / curvature
	h.pairs, h.next = append(h.pairs, p), nil
	if len(h.pairs) > h.memory {
		h.pairs, h.next = h.pairs[1:], h.pairs[0]
	}
}

// solveTo writes the two-loop product of the inverse Hessian approximation and g to dst (Nocedal & Wright, Algorithm
// 7.4). Between the loops stands precondition, or sᵀy/yᵀy of the last pair if that is nil.
func (h *history) solveTo(dst, g []float64, precondition func(dst, g []float64)) {
	q := dst
	if precondition != nil { // the free pair's space serves as scratch
		q = h.nextPair().s
	}
	copy(q, g)
	for _, p := range slices.Backward(h.pairs) {
		p.alpha = p.rho * dot(p.s, q)
		addScaled(q, -p.alpha, p.y)
	}
	switch {
	case precondition != nil:
		precondition(dst, q)
	case !h.empty():
		last := h.pairs[len(h.pairs)-1]
		floats.Scale(1/(last.rho*dot(last.y, last.y)), dst)
	}
	for _, p := range h.pairs {
		beta := p.rho * dot(p.y, dst)
		addScaled(dst, p.alpha-beta, p.s)
	}
}
