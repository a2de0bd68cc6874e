package dpps

// window is the other sound estimate: S = 2 Σ_s τ_s m(t-s), where m(k) is the largest ‖x_j(k)‖₁ that a node has added
// in round k and τ_s the ergodicity coefficient of s rounds. It holds because two rows of a product of s rounds carry
// the same weights but for a share τ_s, and two vectors that are added differ by at most 2m. Maxima are inside the
// sum, which Equation 22 has outside: this is the smaller one if nodes add similar amounts, as in training, and takes
// two more numbers to broadcast, the largest perturbation and the largest of perturbation and noise together.
//
// Lags of L and more come by τ_{L+s} ≤ τ_L τ_s: with F_t the sum of round t, F_t = Σ_{s<L} τ_s m(t-s) + τ_L F_{t-L}.
type window struct {
	tau   []float64 // τ_0 = 1, …, τ_L
	added []float64 // m(k), of all rounds since the last synchronization but this one
	sums  []float64 // F_k
}

// estimate returns S for a round in which nodes have added at most now, before noise.
func (w *window) estimate(now float64) float64 { return 2 * w.sum(now) * (1 + lost) }

func (w *window) sum(now float64) float64 {
	total, last := now, len(w.tau)-1
	t := len(w.added)
	for s := 1; s < last && s <= t; s++ {
		total += w.tau[s] * w.added[t-s]
	}
	if t >= last {
		total += w.tau[last] * w.sums[t-last]
	}
	return total * (1 + lost)
}

// finish notes what nodes have added in a round, noise included.
func (w *window) finish(added float64) {
	w.sums = append(w.sums, w.sum(added))
	w.added = append(w.added, added)
}
