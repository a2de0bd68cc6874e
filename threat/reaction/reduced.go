package reaction

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
	"mafalda/strategy"
)

// reduced is a strategy like another one with a small memory: C'u is z with
//
//	z_t = read_t·x_t + through_t·u_t,     x_{t+1} = keep_t·x_t + enter_t·u_t.
//
// It has all else of the strategy whose C' that is.
type reduced struct {
	strategy.Strategy
	memory  int
	keep    [][]float64 // memory×memory
	enter   [][]float64 // memory
	read    [][]float64 // memory
	through []float64   // positive
}

// wider is by how many directions more than it keeps the search for a reduced strategy looks.
const wider = 4

// reduce returns C with a memory of at most memory numbers, by balanced truncation: what past inputs, white
// noise z, do to later outputs of C is cut to its largest singular values, step by step. It is one of many that are like
// C; how well it stands for C is for Dominate to say. It returns nil for a C without an
// inverse, or where numbers are too large.
func reduce(c strategy.Strategy, memory int) *reduced {
	var inverse mat.TriDense
	if c.NoisingTo(&inverse) != nil {
		return nil
	}
	var (
		steps  = c.Steps()
		full   = whole(c)
		back   = mat.DenseCopyOf(&inverse)
		out    = &reduced{memory: memory, through: make([]float64, steps)}
		past   = mat.NewDense(steps, steps, nil) // rows from t on: C[t:,:t]·C⁻¹[:t,:t]
		left   *mat.Dense                        // directions of later outputs found for the last step
		states = make([]state, steps)
	)
	for t := 1; t < steps; t++ {
		for s := t; s < steps; s++ { // of inputs before step t; step t−1 is new
			add(past.RawRowView(s)[:t], full.At(s, t-1), back.RawRowView(t - 1)[:t])
		}
		ahead := past.Slice(t, steps, 0, t).(*mat.Dense)
		states[t], left = balance(ahead, full.Slice(t, steps, 0, t), back.Slice(0, t, 0, t), full, left, t, memory)
	}
	for t := range steps {
		keep, enter, read := make([]float64, memory*memory), make([]float64, memory), make([]float64, memory)
		now := states[t]
		if now.count > 0 {
			row := mat.NewVecDense(t, full.RawRowView(t)[:t])
			mat.NewVecDense(now.count, read[:now.count]).MulVec(now.right.T(), row)
		}
		if t+1 < steps && states[t+1].count > 0 {
			next := states[t+1]
			copy(enter, mat.Col(nil, t, next.left))
			if now.count > 0 {
				var product mat.Dense
				product.Mul(next.left.Slice(0, next.count, 0, t), now.right)
				for i := range next.count {
					copy(keep[i*memory:], product.RawRowView(i))
				}
			}
		}
		out.keep, out.enter, out.read = append(out.keep, keep), append(out.enter, enter), append(out.read, read)
		out.through[t] = full.At(t, t)
	}
	return out.formed()
}

// state says what a reduced strategy keeps before a step: left·(inputs before it), of which inputs right·state do the
// same.
type state struct {
	count       int
	left, right *mat.Dense // count×t, t×count
}

// balance returns the state before step t, and directions to begin with in the next step.
func balance(ahead *mat.Dense, outputs, white mat.Matrix, full, before *mat.Dense, t, memory int) (state, *mat.Dense) {
	rows, _ := ahead.Dims()
	var start [][]float64 // directions of what is ahead: the last step's, and what its input does
	start = append(start, mat.Col(nil, t-1, full)[t:])
	if before != nil {
		_, cols := before.Dims()
		for j := range cols {
			start = append(start, mat.Col(nil, j, before)[1:])
		}
	}
	directions := orthonormal(start, rows)
	for range 2 {
		var to, from mat.Dense
		to.Mul(ahead.T(), directions)
		from.Mul(ahead, &to)
		_, cols := from.Dims()
		start = start[:0]
		for j := range cols {
			start = append(start, mat.Col(nil, j, &from))
		}
		directions = orthonormal(start, rows)
	}
	var small, square mat.Dense // small: directionsᵀ·ahead, few rows
	small.Mul(directions.T(), ahead)
	square.Mul(&small, small.T())
	count, _ := square.Dims()
	var eigen mat.EigenSym
	mean := dense.NewSym(count, func(i, j int) float64 { return (square.At(j, i) + square.At(i, j)) / 2 })
	if !eigen.Factorize(mean, true) {
		return state{}, nil
	}
	var vectors, found mat.Dense
	eigen.VectorsTo(&vectors)
	values := eigen.Values(nil) // increasing
	found.Mul(directions, &vectors)
	kept := min(count, memory)
	for kept > 0 && !(values[count-kept] > 1e-14*values[count-1]) {
		kept--
	}
	if kept == 0 {
		return state{}, nil
	}
	// with ahead ≈ U S Vᵀ: left = S^(−1/2) Uᵀ·outputs, right = white·V S^(−1/2), V = aheadᵀ U/S
	scaledU := mat.NewDense(rows, kept, nil)
	for j := range kept {
		column := mat.Col(nil, count-1-j, &found)
		scaledU.SetCol(j, scaled(column, math.Pow(values[count-1-j], -0.25)))
	}
	var left, v, right mat.Dense
	left.Mul(scaledU.T(), outputs)
	v.Mul(ahead.T(), scaledU)
	for j := range kept {
		v.SetCol(j, scaled(mat.Col(nil, j, &v), math.Pow(values[count-1-j], -0.5)))
	}
	right.Mul(white, &v)
	wide := min(count, memory+wider)
	return state{kept, &left, &right}, mat.DenseCopyOf(found.Slice(0, rows, count-wide, count))
}

// orthonormal returns a basis of what columns span, by Gram and Schmidt, twice.
func orthonormal(columns [][]float64, rows int) *mat.Dense {
	var basis [][]float64
	for _, x := range columns {
		before := norm(x)
		for range 2 {
			for _, b := range basis {
				add(x, -dot(b, x), b)
			}
		}
		if length := norm(x); length > 1e-13*before && len(basis) < rows {
			basis = append(basis, scaled(x, 1/length))
		}
	}
	out := mat.NewDense(rows, max(1, len(basis)), nil)
	for j, b := range basis {
		out.SetCol(j, b)
	}
	return out
}

// cut returns the strategy with a smaller memory, the states that matter most; nil where numbers are too large.
func (r *reduced) cut(memory int) *reduced {
	out := &reduced{memory: memory, through: r.through}
	for t := range r.through {
		keep := make([]float64, 0, memory*memory)
		for i := range memory {
			keep = append(keep, r.keep[t][i*r.memory:][:memory]...)
		}
		out.keep = append(out.keep, keep)
		out.enter, out.read = append(out.enter, r.enter[t][:memory]), append(out.read, r.read[t][:memory])
	}
	return out.formed()
}

// formed returns r with the strategy C' as its filter inverts it; nil where numbers are too large.
func (r *reduced) formed() *reduced {
	steps := len(r.through)
	noising, unit := mat.NewDense(steps, steps, nil), make([]float64, steps)
	kept, filter := make([][]float64, r.memory), reducedFilter{r}
	for t := range steps {
		unit[t] = 1
		filter.StepTo(noising.RawRowView(t), unit, kept, t)
		unit[t] = 0
	}
	var c mat.TriDense
	inverse, err := strategy.NewDense(noising)
	if err == nil {
		err = inverse.NoisingTo(&c)
	}
	if err == nil {
		r.Strategy, err = strategy.NewDense(&c)
	}
	if err != nil {
		return nil
	}
	return r
}

// NodeCost returns the memory.
func (r *reduced) NodeCost() strategy.NodeCost {
	return strategy.NodeCost{Floats: r.memory, Flops: (r.memory + 2) * (r.memory + 1)}
}

// Filter makes u of z.
func (r *reduced) Filter() (strategy.Filter, error) { return reducedFilter{r}, nil }

type reducedFilter struct{ *reduced }

func (f reducedFilter) Memory() int { return f.memory }

func (f reducedFilter) StepTo(dst, z []float64, kept [][]float64, t int) {
	copy(dst, z)
	for i, v := range f.read[t] {
		if kept[i] != nil {
			add(dst, -v, kept[i])
		}
	}
	scaled(dst, 1/f.through[t])
	next := make([][]float64, f.memory)
	for i := range next {
		next[i] = make([]float64, len(z))
		add(next[i], f.enter[t][i], dst)
		for j := range next {
			if kept[j] != nil {
				add(next[i], f.keep[t][i*f.memory+j], kept[j])
			}
		}
	}
	copy(kept, next)
}
