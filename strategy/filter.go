package strategy

import (
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/rows"
)

// A Filter makes row t of C⁻¹Z in step t, of row t of Z and a few rows that are kept from step to step. It is
// immutable: what is kept is in the hands of the caller, so that one filter may run for many models at a time.
//
// A step is linear in z and the kept rows together, and so it says how row t of the noise is combined: run with unit
// vectors for kept rows and z, it writes the coefficients to dst, and how the kept rows go on to kept.
type Filter interface {
	// Memory returns how many rows are kept: the Floats of NodeCost.
	Memory() int
	// Steps returns T, or 0 for a filter that knows no end.
	Steps() int
	// StepTo writes row t of C⁻¹Z to dst, of row t of Z and the Memory() kept rows, in whose place it puts those for
	// step t+1. Before step 0 they are zero. A row that is nil is zero, too, and is made when there is something to
	// keep. Every row has the length of z; dst and z are no kept rows, and must not overlap.
	StepTo(dst, z []float64, kept [][]float64, t int)
}

// A Recombiner is a filter that keeps earlier rows of Z as they are, all of them: whoever can make these again need
// not keep any.
type Recombiner interface {
	Filter
	// RecombineTo is StepTo with row(s) for row s of Z, s < t, asked for one after the other, and nothing kept.
	RecombineTo(dst, z []float64, t int, row func(s int) []float64)
}

// A Fetcher is a filter that, in a step, brings half as many numbers as it keeps into the cache, from behind its kept
// rows if these lie one after the other: the kept rows of other numbers may lie there.
type Fetcher interface {
	Filter
	Fetches()
}

var (
	_ Filter     = autoregressive{}
	_ Filter     = moving{}
	_ Fetcher    = rational{}
	_ Recombiner = recombining{}
)

// The kernels of package rows round after every product and sum on every machine, so that seeded noise is the same
// everywhere.

// push keeps a copy of a row as the first, in the place of the last.
func push(kept [][]float64, row []float64) {
	if len(kept) == 0 {
		return
	}
	place := kept[len(kept)-1]
	if place == nil {
		place = make([]float64, len(row))
	}
	copy(place, row)
	copy(kept[1:], kept)
	kept[0] = place
}

// autoregressive is C with w bands: ξ_t = (z_t - Σ_{j≥1} C[t,t-j] ξ_{t-j})/C[t,t]. It keeps w-1 rows of ξ, newest
// first.
type autoregressive struct {
	steps, bands int
	entry        func(lag, s int) float64 // C[s+lag, s]
}

func (a autoregressive) Memory() int { return a.bands - 1 }
func (a autoregressive) Steps() int  { return a.steps }

func (a autoregressive) StepTo(dst, z []float64, kept [][]float64, t int) {
	copy(dst, z)
	for j, row := range kept[:min(len(kept), t)] {
		rows.AddScaled(dst, -a.entry(j+1, t-j-1), row)
	}
	rows.ScaleTo(dst, 1/a.entry(0, t), dst)
	push(kept, dst)
}

// moving is C⁻¹ of w coefficients: ξ_t = Σ_j r_j z_{t-j}. It keeps w-1 rows of Z, newest first.
type moving struct{ r []float64 }

func (m moving) Memory() int { return len(m.r) - 1 }
func (m moving) Steps() int  { return 0 }

func (m moving) StepTo(dst, z []float64, kept [][]float64, _ int) {
	rows.ScaleTo(dst, m.r[0], z)
	for j, row := range kept {
		rows.AddScaled(dst, m.r[j+1], row)
	}
	push(kept, z)
}

// rational is a BLT: 1/c(x) = Π (1 - a x + b x²)/(1 - p x + q x²)/scale, a section after the other in transposed
// direct form II, a buffer for each pole.
type rational struct{ *rows.Cascade }

func (r rational) Memory() int { return r.Poles() }
func (r rational) Steps() int  { return 0 }
func (r rational) Fetches()    {}

func (r rational) StepTo(dst, z []float64, kept [][]float64, _ int) {
	for i, row := range kept {
		if row == nil {
			kept[i] = make([]float64, len(z))
		}
	}
	r.Cascade.StepTo(dst, z, kept)
}

// recombining is any C, by the rows of C⁻¹: it keeps all rows of Z, oldest first.
type recombining struct{ noising *mat.Dense }

func (r recombining) Memory() int { return r.Steps() }
func (r recombining) Steps() int  { n, _ := r.noising.Dims(); return n }

func (r recombining) StepTo(dst, z []float64, kept [][]float64, t int) {
	weights := r.noising.RawRowView(t)
	rows.ScaleTo(dst, weights[t], z)
	rows.AddAll(dst, weights[:t], kept[:t])
	if kept[t] == nil {
		kept[t] = make([]float64, len(z))
	}
	copy(kept[t], z)
}

func (r recombining) RecombineTo(dst, z []float64, t int, row func(s int) []float64) {
	weights := r.noising.RawRowView(t)
	rows.ScaleTo(dst, weights[t], z)
	for s := range t {
		if weights[s] != 0 {
			rows.AddScaled(dst, weights[s], row(s))
		}
	}
}
