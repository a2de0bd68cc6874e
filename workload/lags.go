package workload

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"mafalda/graph"
)

// lags says which powers of W a kernel is made of: rows x_τ = W^(first + stride·τ) for τ < count, or sums of two of
// them, so that row τ is the response to the gradient τ steps ago wherever that depends on τ alone.
type lags struct {
	first, stride, count int

	rule *rule // rows are the responses of a recursion with feedback to x; nil: powers of W

	now, before []float64 // row τ is now[τ]·x_τ + before[τ]·(x_τ - x_(τ-1)), x_(-1) = 0; nil: x_τ
}

// lags returns the powers that T = steps steps take.
//
// Where rates do not change and gossip follows every step, decay and gradient tracking are in the rows: with ρ = 1 - λ,
// plain rows are ρ^τ x_τ, and rows of gradient tracking
//
//	A_τ = ρ^τ x_τ + b_τ (x_τ - x_(τ-1)),     b_τ = 1 + ρ + … + ρ^(τ-1),
//
// which for λ = 0 is (τ+1) W^τ - τ W^(τ-1). The difference is small where τ is large, so that little is cancelled.
func (s Spec) lags(steps int) lags {
	l := lags{stride: s.gossipRounds(), count: steps}
	switch local := s.localSteps(); {
	case local > 1 && s.Kind == Message:
		l.count = (steps-1)/local + 1
	case local > 1:
		l.count = steps/local + 1
	case s.Kind == Model && !s.GradientTracking:
		l.first = l.stride
	}
	if !s.LearningRates.constant() || s.localSteps() > 1 || s.WeightDecay == 0 && !s.GradientTracking {
		return l
	}
	l.now = make([]float64, steps)
	if s.GradientTracking {
		l.before = make([]float64, steps)
	}
	keep, power, sum := 1-s.WeightDecay, 1.0, 0.0
	for tau := range l.now {
		l.now[tau] = power
		if l.before != nil {
			l.before[tau] = sum
		}
		sum = 1 + keep*sum
		power *= keep
	}
	return l
}

// equal reports whether other asks for the same rows.
func (l lags) equal(other lags) bool {
	return l.rule == nil && other.rule == nil && l.first == other.first && l.stride == other.stride && l.count == other.count &&
		slices.Equal(l.now, other.now) && slices.Equal(l.before, other.before)
}

// rowsTo writes the rows for the vector x, which it overwrites, over the network w.
func (l lags) rowsTo(row func(tau int) []float64, x []float64, w *graph.CSR) {
	if l.rule != nil {
		l.rule.rowsTo(row, l.count, x, w)
		return
	}
	multiply := func(dst, x []float64) { w.MulVecTo(dst, false, x) }
	scratch := make([]float64, len(x))
	for range l.first {
		multiply(scratch, x)
		x, scratch = scratch, x
	}
	copy(row(0), x)
	for tau := 1; tau < l.count; tau++ {
		from := row(tau - 1)
		for range l.stride - 1 {
			multiply(x, from)
			from = x
			x, scratch = scratch, x
		}
		multiply(row(tau), from)
	}
	l.filter(row)
}

// filter turns the rows x_τ into the rows of the kernel.
func (l lags) filter(row func(tau int) []float64) {
	if l.now == nil {
		return
	}
	for tau := l.count - 1; tau >= 0; tau-- {
		x := row(tau)
		now := l.now[tau]
		if l.before == nil || tau == 0 {
			floats.Scale(now, x)
			continue
		}
		before := l.before[tau]
		for i, older := range row(tau - 1) {
			x[i] = now*x[i] + before*(x[i]-older)
		}
	}
}

// adjointTo writes Σ_τ R_τᵀ row(τ) to dst for the responses R_τ of rowsTo; back is Wᵀ. It changes the rows.
func (l lags) adjointTo(dst []float64, row func(tau int) []float64, back *graph.CSR) {
	if l.rule != nil {
		l.rule.adjointTo(dst, row, l.count, back)
		return
	}
	l.filterBack(row)
	next := make([]float64, len(dst))
	for tau := l.count - 1; tau >= 0; tau-- {
		floats.Add(dst, row(tau))
		powers := l.stride
		if tau == 0 {
			powers = l.first
		}
		for range powers {
			back.MulVecTo(next, false, dst)
			copy(dst, next)
		}
	}
}

// filterBack is the transpose of filter.
func (l lags) filterBack(row func(tau int) []float64) {
	if l.now == nil {
		return
	}
	for tau := range l.count {
		x := row(tau)
		if l.before == nil || tau == 0 {
			floats.Scale(l.now[tau], x)
		} else {
			floats.Scale(l.now[tau]+l.before[tau], x)
		}
		if l.before != nil && tau+1 < l.count {
			floats.AddScaled(x, -l.before[tau+1], row(tau+1))
		}
	}
}

// stationary returns what the rows make of the eigenvalue 1 of W: ρ^τ.
func (l lags) stationary() []float64 {
	ones := make([]float64, l.count)
	l.rowsTo(func(tau int) []float64 { return ones[tau : tau+1] }, []float64{1}, diagonal([]float64{1}))
	return ones
}
