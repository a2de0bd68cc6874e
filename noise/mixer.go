package noise

import (
	"gonum.org/v1/gonum/mat"

	"mafalda/factorize"
)

// mixer turns rows of Z into rows of C⁻¹Z, one after the other. next may use dst as it likes; z is row t of Z.
type mixer interface {
	next(dst, z []float64, t int)
	floats() int // numbers kept for each coordinate
}

// newMixer returns the mixer of a strategy in the least memory. rows gives back earlier rows of Z: a dense strategy that is not
// to keep them asks for them again.
func newMixer(c factorize.Strategy, dim int, rows func(dst []float64, t int), regenerate bool) (mixer, error) {
	switch c := c.(type) {
	case *factorize.Banded:
		return &autoregressive{diagonals: c.Diagonals(), past: history{dim: dim, keep: c.Bands() - 1}}, nil
	case *factorize.Toeplitz:
		return newToeplitz(c, dim), nil
	case *factorize.BandedInverse:
		r := c.Coefficients()
		return &moving{r: r, past: history{dim: dim, keep: len(r) - 1}}, nil
	case *factorize.BLT:
		return newRational(c, dim), nil
	}
	noising, err := inverseOf(c)
	if err != nil {
		return nil, err
	}
	d := &full{noising: noising, dim: dim, steps: c.Steps()}
	if regenerate {
		d.again = rows
	}
	return d, nil
}

// addScaled adds c·src to dst, and scaleTo writes c·src to it: product and sum rounded one after the other on every machine, so
// that seeded noise is the same everywhere.
func addScaled(dst []float64, c float64, src []float64) {
	for i, v := range src {
		dst[i] += float64(c * v)
	}
}

func scaleTo(dst []float64, c float64, src []float64) {
	for i, v := range src {
		dst[i] = c * v
	}
}

// history keeps the last rows, newest first.
type history struct {
	dim, keep int
	rows      [][]float64
}

// push keeps a copy of a row, in the place of the oldest.
func (h *history) push(row []float64) {
	if h.keep == 0 {
		return
	}
	var place []float64
	if len(h.rows) < h.keep {
		place = make([]float64, h.dim)
		h.rows = append(h.rows, nil)
	} else {
		place = h.rows[len(h.rows)-1]
	}
	copy(place, row)
	copy(h.rows[1:], h.rows)
	h.rows[0] = place
}

// autoregressive is C with w bands: ξ_t = (z_t - Σ_{j≥1} C[t,t-j] ξ_{t-j})/C[t,t]. It keeps w-1 rows of ξ.
type autoregressive struct {
	diagonals [][]float64
	past      history
}

func (a *autoregressive) floats() int { return a.past.keep }

func (a *autoregressive) next(dst, z []float64, t int) {
	copy(dst, z)
	for j, row := range a.past.rows {
		addScaled(dst, -a.diagonals[j+1][t-j-1], row)
	}
	scaleTo(dst, 1/a.diagonals[0][t], dst)
	a.past.push(dst)
}

func newToeplitz(c *factorize.Toeplitz, dim int) *autoregressive {
	coefficients, columns := c.Coefficients(), c.Columns()
	a := &autoregressive{past: history{dim: dim, keep: len(coefficients) - 1}}
	for lag, v := range coefficients {
		diagonal := make([]float64, c.Steps()-lag)
		for s := range diagonal {
			diagonal[s] = v
			if columns != nil {
				diagonal[s] *= columns[s]
			}
		}
		a.diagonals = append(a.diagonals, diagonal)
	}
	return a
}

// moving is C⁻¹ of w coefficients: ξ_t = Σ_j r_j z_{t-j}. It keeps w-1 rows of Z.
type moving struct {
	r    []float64
	past history
}

func (m *moving) floats() int { return m.past.keep }

func (m *moving) next(dst, z []float64, _ int) {
	scaleTo(dst, m.r[0], z)
	for j, row := range m.past.rows {
		addScaled(dst, m.r[j+1], row)
	}
	m.past.push(z)
}

// rational is a BLT: 1/c(x) = Π (1 - a x + b x²)/(1 - p x + q x²)/scale, a section after the other in transposed direct form II,
// two buffers each.
type rational struct {
	scale    float64
	sections []factorize.Section
	buffers  [][2][]float64
}

func newRational(c *factorize.BLT, dim int) *rational {
	sections, scale := c.Sections()
	r := &rational{scale: scale, sections: sections}
	for range sections {
		r.buffers = append(r.buffers, [2][]float64{make([]float64, dim), make([]float64, dim)})
	}
	return r
}

func (r *rational) floats() int { return 2 * len(r.sections) }

func (r *rational) next(dst, z []float64, _ int) {
	scaleTo(dst, 1/r.scale, z)
	for i, s := range r.sections {
		first, second := r.buffers[i][0], r.buffers[i][1]
		for j, u := range dst {
			y := u + first[j]
			first[j] = float64(float64(s.P*y)-float64(s.A*u)) + second[j]
			second[j] = float64(s.B*u) - float64(s.Q*y)
			dst[j] = y
		}
	}
}

// full is any C, by the rows of C⁻¹: it keeps all rows of Z, or makes them again.
type full struct {
	noising    *mat.Dense
	dim, steps int
	rows       [][]float64
	again      func(dst []float64, t int)
	work       []float64
}

func (f *full) floats() int {
	if f.again != nil {
		return 1
	}
	return f.steps
}

func (f *full) next(dst, z []float64, t int) {
	weights := f.noising.RawRowView(t)
	scaleTo(dst, weights[t], z)
	for s := range t {
		if weights[s] == 0 {
			continue
		}
		row := f.work
		if f.again == nil {
			row = f.rows[s]
		} else {
			if row == nil {
				f.work = make([]float64, f.dim)
				row = f.work
			}
			f.again(row, s)
		}
		addScaled(dst, weights[s], row)
	}
	if f.again == nil {
		f.rows = append(f.rows, append([]float64(nil), z...))
	}
}
