package workload

import (
	"math"
	"math/rand/v2"
	"runtime"

	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
	"mafalda/internal/dense"
	"mafalda/internal/lists"
	"mafalda/internal/parallel"
)

// lanczos runs Lanczos' method on S = D^½WD^(-½), without the known eigenvector D^½1, which is taken out of every
// vector.
type lanczos struct {
	w         *graph.CSR
	nodes     int
	d, root   []float64 // n·π, and its square root
	symmetric bool      // π is uniform
}

// uniformity is how much π may differ from uniform for W to count as symmetric.
const uniformity = 1e-13

func newLanczos(w *graph.CSR, pi []float64) *lanczos {
	l := &lanczos{w: w, nodes: len(pi), d: make([]float64, len(pi)), root: make([]float64, len(pi)), symmetric: true}
	for i, p := range pi {
		l.d[i] = float64(len(pi)) * p
		if math.Abs(l.d[i]-1) > uniformity {
			l.symmetric = false
		}
	}
	for i, d := range l.d {
		if l.symmetric {
			l.d[i], d = 1, 1
		}
		l.root[i] = math.Sqrt(d)
	}
	return l
}

// stationary returns n‖π‖².
func (l *lanczos) stationary() float64 {
	return parallel.Sum(l.nodes, func(from, to int) (sum float64) {
		for _, d := range l.d[from:to] {
			sum += d * d
		}
		return sum
	}) / float64(l.nodes)
}

// signs returns D^½z for vectors z of random signs, side by side.
func (l *lanczos) signs(r *rand.Rand, width int) []float64 {
	y := make([]float64, l.nodes*width)
	var bits uint64
	for i := range y {
		if i%64 == 0 {
			bits = r.Uint64()
		}
		y[i] = l.root[i/width]
		if bits&1 == 0 {
			y[i] = -y[i]
		}
		bits >>= 1
	}
	return y
}

// runs makes m Lanczos steps, or as many as there are dimensions, from width starting vectors, which it overwrites. Of the
// basis Q a run keeps Qᵀleft, or without left QᵀD⁻¹Q.
func (l *lanczos) runs(start []float64, width, m int, left []float64, tick func(width int) error) ([]*run, error) {
	s := l.begin(start, width, left != nil)
	var basis [][]float64
	for step := range min(m, max(l.nodes-1, 1)) {
		if left == nil && !l.symmetric {
			basis = append(basis, s.x)
			s.keep = true
		}
		if left != nil {
			for c, v := range l.dotsWith(left, s.x, width) {
				s.runs[c].left = append(s.runs[c].left, v)
			}
		}
		s.step(step)
		if err := tick(width); err != nil {
			return nil, err
		}
	}
	if basis != nil {
		for c, metric := range l.metrics(basis, width) {
			s.runs[c].metric = metric
		}
		if len(basis)*len(start) > basisFloats/4 {
			basis = nil
			runtime.GC() // what follows takes the room of the basis, not more
		}
	}
	return s.runs, nil
}

// recurrence is where runs side by side are: the last vectors of their bases, and the ones before.
type recurrence struct {
	*lanczos
	width                    int
	before, x, next, scratch []float64
	keep                     bool   // vectors are not overwritten once they are in a basis
	alive                    []bool // the others have seen all dimensions that their start has
	runs                     []*run
}

// begin makes unit vectors of the starting ones, and takes note of their norms: squared, for quadratic forms.
func (l *lanczos) begin(start []float64, width int, linear bool) *recurrence {
	s := &recurrence{lanczos: l, width: width, x: start, alive: make([]bool, width), runs: make([]*run, width)}
	l.deflate(s.x, width)
	norms := l.dots(s.x, s.x, width)
	for c := range s.runs {
		s.runs[c] = &run{scale: norms[c]}
		if linear {
			s.runs[c].scale = math.Sqrt(norms[c])
		}
		norms[c] = math.Sqrt(norms[c])
		s.alive[c] = norms[c]*norms[c] > 1e-28*float64(l.nodes)
	}
	s.before, s.next = make([]float64, len(start)), make([]float64, len(start))
	s.scratch = make([]float64, len(start))
	l.divide(s.x, norms, s.alive, width)
	return s
}

// step adds a vector to every basis: β next = S·x - α x - β_before before.
func (s *recurrence) step(step int) {
	width, next, x, before := s.width, s.next, s.x, s.before
	s.apply(next, x, s.scratch, width)
	s.deflate(next, width)
	alpha := s.dots(next, x, width)
	last := make([]float64, width)
	for c, r := range s.runs {
		if !s.alive[c] {
			alpha[c] = 0
		}
		r.alpha = append(r.alpha, alpha[c])
		if step > 0 {
			last[c] = r.beta[step-1]
		}
	}
	s.rows(next, width, func(i int, row []float64) {
		x, b := x[i*width:][:width], before[i*width:][:width]
		for c := range row {
			row[c] -= alpha[c]*x[c] + last[c]*b[c]
		}
	})
	s.deflate(next, width)
	beta := s.dots(next, next, width)
	for c, r := range s.runs {
		beta[c] = math.Sqrt(beta[c])
		if beta[c] < 1e-13 { // all dimensions that the start has
			s.alive[c], beta[c] = false, 0
		}
		r.beta = append(r.beta, beta[c])
	}
	s.divide(next, beta, s.alive, width)
	if s.before, s.x, s.next = x, next, before; s.keep {
		s.next = make([]float64, len(next))
	}
}

// apply writes S·x to dst.
func (l *lanczos) apply(dst, x, scratch []float64, width int) {
	if l.symmetric {
		l.w.MulMatTo(dst, x, width)
		return
	}
	l.rows(x, width, func(i int, row []float64) {
		for c, v := range row {
			scratch[i*width+c] = v / l.root[i]
		}
	})
	l.w.MulMatTo(dst, scratch, width)
	l.rows(dst, width, func(i int, row []float64) {
		for c := range row {
			row[c] *= l.root[i]
		}
	})
}

// deflate takes the component along D^½1 out of every vector.
func (l *lanczos) deflate(x []float64, width int) {
	along := l.dotsWith(l.root, x, width)
	for c := range along {
		along[c] /= float64(l.nodes)
	}
	l.rows(x, width, func(i int, row []float64) {
		for c := range row {
			row[c] -= along[c] * l.root[i]
		}
	})
}

// rows calls f for the numbers of every node, on all processors.
func (l *lanczos) rows(x []float64, width int, f func(i int, row []float64)) {
	parallel.Chunks(l.nodes, func(_, from, to int) {
		for i := from; i < to; i++ {
			f(i, x[i*width:][:width])
		}
	})
}

// dots returns the inner products of vectors with vectors, column by column.
func (l *lanczos) dots(x, y []float64, width int) []float64 {
	return l.columns(width, func(sums []float64, from, to int) {
		for i := from; i < to; i++ {
			a, b := x[i*width:][:width], y[i*width:][:width]
			for c := range sums {
				sums[c] += a[c] * b[c]
			}
		}
	})
}

// dotsWith returns the inner products of one vector with many.
func (l *lanczos) dotsWith(v, x []float64, width int) []float64 {
	return l.columns(width, func(sums []float64, from, to int) {
		for i, v := range v[from:to] {
			row := x[(from+i)*width:][:width]
			for c := range sums {
				sums[c] += v * row[c]
			}
		}
	})
}

// columns adds up, column by column and in the order of the nodes, what add adds to sums for ranges of nodes.
func (l *lanczos) columns(width int, add func(sums []float64, from, to int)) []float64 {
	parts := make([]float64, (l.nodes+parallel.Part-1)/parallel.Part*width)
	parallel.Chunks(l.nodes, func(chunk, from, to int) { add(parts[chunk*width:][:width:width], from, to) })
	sums := make([]float64, width)
	for i, v := range parts {
		sums[i%width] += v
	}
	return sums
}

// divide divides every living vector by its norm, and clears the others.
func (l *lanczos) divide(x, norms []float64, alive []bool, width int) {
	l.rows(x, width, func(_ int, row []float64) {
		for c := range row {
			if alive[c] {
				row[c] /= norms[c]
			} else {
				row[c] = 0
			}
		}
	})
}

// metrics returns QᵀD⁻¹Q of every column.
func (l *lanczos) metrics(basis [][]float64, width int) []*mat.SymDense {
	m := len(basis)
	sums := lists.Make(width, func(int) *mat.SymDense { return mat.NewSymDense(m, nil) })
	const rows = 1 << 10 // of all vectors fit into a cache
	chunks := (l.nodes + rows - 1) / rows
	parts := make([][]*mat.SymDense, 0, 64)
	for from := 0; from < chunks; from += cap(parts) {
		parts = parts[:min(cap(parts), chunks-from)]
		parallel.For(len(parts), func(p int) {
			first := (from + p) * rows
			count := min(rows, l.nodes-first)
			block := mat.NewDense(m, count, nil) // columns of D^(-½)Q, as rows
			parts[p] = make([]*mat.SymDense, width)
			for c := range width {
				for j, q := range basis {
					row := block.RawRowView(j)
					q := q[first*width:]
					for i, root := range l.root[first:][:count] {
						row[i] = q[i*width+c] / root
					}
				}
				parts[p][c] = mat.NewSymDense(m, nil)
				dense.SymOuterK(parts[p][c], 1, block)
			}
		})
		for _, part := range parts {
			for c, sum := range sums {
				sum.AddSym(sum, part[c])
			}
		}
	}
	return sums
}
