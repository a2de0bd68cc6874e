package workload

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// form is R_l.
type form struct {
	*changing
	r []float64
}

func (c *changing) newForm() *form { return &form{c, make([]float64, c.of.size())} }

// stepBack returns a copy of R_l, for l = T-1, T-2, …
func (f *form) stepBack(l int) [][]float64 {
	if l+1 < f.steps {
		if f.lapses != nil {
			f.r = f.lapseSquare(l+1, f.r)
		} else {
			floats.Scale(f.keep[l+1]*f.keep[l+1], f.r)
		}
	}
	if f.Kind != Message {
		f.of.addDiagonal(f.r, f.weights[l:l+1])
	}
	for range f.roundsAfter(l) {
		f.r = f.of.pull(l, f.r)
	}
	if f.Kind == Message {
		f.of.addDiagonal(f.r, f.weights[l:l+1])
	}
	return [][]float64{append([]float64(nil), f.r...)}
}

// forms are the quadratic form of models x and trackers y after step l that the later errors are,
//
//	Q_l = w_l |x|² + E[Q_(l+1)(x', y')],    y' = Wy,  x' = W(f x - η y),
//
// in three matrices, the one between x and y not symmetric.
type forms struct {
	*changing
	xx, xy, yy []float64
}

// stepBack returns Q_l times what the change of a gradient does, (-η_l I, I).
func (f *forms) stepBack(l int) [][]float64 {
	if l+1 < f.steps {
		for range f.gossipRounds() {
			f.xx, f.xy, f.yy = f.of.pull(l+1, f.xx), f.of.pull(l+1, f.xy), f.of.pull(l+1, f.yy)
		}
		keep, rate := f.keep[l+1], f.rates[l+1]
		yx := append([]float64(nil), f.xy...)
		f.of.transpose(yx)
		for i, xx := range f.xx {
			xy := f.xy[i]
			f.yy[i] += rate*rate*xx - rate*(xy+yx[i])
			f.xy[i] = keep * (xy - rate*xx)
			f.xx[i] = keep * keep * xx
		}
	}
	f.of.addDiagonal(f.xx, f.weights[l:l+1])
	x, y := append([]float64(nil), f.xy...), append([]float64(nil), f.xy...)
	f.of.transpose(y)
	for i := range x {
		x[i] -= f.rates[l] * f.xx[i]
		y[i] = f.yy[i] - f.rates[l]*y[i]
	}
	return [][]float64{x, y}
}

// differenceGram replaces h by (I-S)ᵀh(I-S).
func differenceGram(h *mat.SymDense) {
	rows := whole(h)
	for s := range len(rows) - 1 {
		for i, v := range rows[s+1] {
			rows[s][i] -= v
		}
	}
	for _, row := range rows {
		for s := range len(row) - 1 {
			row[s] -= row[s+1]
		}
	}
}
