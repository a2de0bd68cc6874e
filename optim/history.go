package optim

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// minCurvature is the least cosine between a step and its change of gradient for the pair to be kept.
const minCurvature = 1e-10

// history is the memory of L-BFGS: the last steps s and changes of gradient y, in a ring whose places are made when
// they are first needed.
type history struct {
	n     int
	s, y  [][]float64
	rho   []float64 // 1/(sᵀy)
	alpha []float64
	first int // the oldest pair
	count int
}

func newHistory(memory, n int) *history {
	places := memory + 1 // one more to compute the next pair in
	return &history{n: n, s: make([][]float64, places), y: make([][]float64, places), rho: make([]float64, places),
		alpha: make([]float64, places)}
}

func (h *history) empty() bool    { return h.count == 0 }
func (h *history) clear()         { h.count = 0 }
func (h *history) slot(i int) int { return (h.first + i) % len(h.s) }

// nextSlot returns the free place for the next pair.
func (h *history) nextSlot() (s, y []float64) {
	i := h.slot(h.count)
	if h.s[i] == nil {
		h.s[i], h.y[i] = make([]float64, h.n), make([]float64, h.n)
	}
	return h.s[i], h.y[i]
}

// push keeps the pair written to next, unless its curvature is not safely positive.
func (h *history) push() {
	i := h.slot(h.count)
	curvature := dot(h.s[i], h.y[i])
	if !(curvature > minCurvature*math.Sqrt(dot(h.s[i], h.s[i])*dot(h.y[i], h.y[i]))) {
		return
	}
	h.rho[i] = 1 / curvature
	if h.count < len(h.s)-1 {
		h.count++
	} else {
		h.first = h.slot(1)
	}
}

// solveTo writes the two-loop product of the inverse Hessian approximation and g to dst (Nocedal & Wright, Algorithm
// 7.4). Between the loops stands precondition, or sᵀy/yᵀy of the last pair if that is nil.
func (h *history) solveTo(dst, g []float64, precondition func(dst, g []float64)) {
	q := dst
	var scratch []float64
	if precondition != nil { // the free pair's space serves as scratch
		scratch, _ = h.nextSlot()
		q = scratch
	}
	copy(q, g)
	for k := h.count - 1; k >= 0; k-- {
		i := h.slot(k)
		h.alpha[i] = h.rho[i] * dot(h.s[i], q)
		addScaled(q, -h.alpha[i], h.y[i])
	}
	switch {
	case precondition != nil:
		precondition(dst, scratch)
	case h.count > 0:
		last := h.slot(h.count - 1)
		floats.Scale(1/(h.rho[last]*dot(h.y[last], h.y[last])), dst)
	}
	for k := range h.count {
		i := h.slot(k)
		beta := h.rho[i] * dot(h.y[i], dst)
		addScaled(dst, h.alpha[i]-beta, h.s[i])
	}
}
