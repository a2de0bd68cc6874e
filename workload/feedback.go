package workload

import (
	"context"
	"fmt"
	"math"
	"math/cmplx"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/internal/lists"
)

// rule is the recursion of a spec under feedback x, without weights and absences.
type rule struct {
	spec Spec
	x    float64
}

// begin returns the state before the first step.
func (r rule) begin(steps, nodes, size int) *State[float64] {
	s, err := NewState[float64](r.spec, steps, nodes, size, 1)
	if err != nil {
		panic(err) // specs are checked before they get here
	}
	return s
}

// step makes a step with these impulses, which become gradients, and calls visit with what the workload is of.
func (r rule) step(s *State[float64], impulses []float64, networks *Networks, visit func(models []float64)) {
	floats.AddScaled(impulses, r.x, s.Models())
	s.Step(impulses, networks, visit)
}

// rowsTo writes the responses to an impulse x of the first step, for a recursion that stays (Spec.IsTimeInvariant).
func (r rule) rowsTo(row func(tau int) []float64, count int, x []float64, w *graph.CSR) {
	s := r.begin(count, len(x), 1)
	impulses := slices.Clone(x)
	for tau := range count {
		r.step(s, impulses, constantNetwork(w), func(models []float64) { floats.ScaleTo(row(tau), -1, models) })
		clear(impulses)
	}
}

// adjointTo writes Σ_τ R_τᵀ row(τ) to dst, for the responses R_τ of rowsTo, which are polynomials of w: back is wᵀ. The
// response to row(τ), count - 1 - τ steps after the first, is there in the last step.
func (r rule) adjointTo(dst []float64, row func(tau int) []float64, count int, back *graph.CSR) {
	s := r.begin(count, len(dst), 1)
	for tau := count - 1; tau >= 0; tau-- {
		r.step(s, slices.Clone(row(tau)), constantNetwork(back), func(models []float64) { floats.ScaleTo(dst, -1, models) })
	}
}

// constantNetwork returns networks that are w in every round.
func constantNetwork(w *graph.CSR) *Networks {
	n, _ := w.Dims()
	return &Networks{n, func(int, int) *graph.CSR { return w }}
}

// basis is a set of vectors whose responses have the inner products of all unit vectors together.
type basis struct {
	w      *graph.CSR
	starts mat.Matrix // a vector a row; nil: the unit vectors
	root   *mat.Dense // root R of the metric: products of Rx are counted; nil for the identity
}

// count returns the number of vectors.
func (b basis) count() int {
	if b.starts == nil {
		n, _ := b.w.Dims()
		return n
	}
	count, _ := b.starts.Dims()
	return count
}

// start returns vector i.
func (b basis) start(i int) []float64 {
	n, _ := b.w.Dims()
	x := make([]float64, n)
	if b.starts == nil {
		x[i] = 1
		return x
	}
	return mat.Row(x, i, b.starts)
}

// newBasis returns the eigenvectors of w where it is symmetric or in detailed balance, and has few enough nodes, and
// otherwise the unit vectors.
func newBasis(w *graph.CSR) (basis, error) {
	pi, _ := graph.DetailedBalance(w)
	m, err := spectralModes(w, pi)
	if err != nil || m == nil {
		return basis{w: w}, err
	}
	n, _ := w.Dims()
	b := basis{w: diagonal(m.theta), starts: mat.NewDense(1, n, slices.Repeat([]float64{1}, n))}
	if m.metric != nil {
		b.root, err = rootOf(m.metric)
	}
	return b, err
}

// diagonal returns the diagonal matrix of these numbers.
func diagonal(values []float64) *graph.CSR {
	n := len(values)
	at := lists.Make(n+1, func(i int) int { return i })
	return graph.NewCSR(n, n, at, at[:n], values)
}

// rootOf returns R with RᵀR = m, for a positive semidefinite m.
func rootOf(m *mat.Dense) (*mat.Dense, error) {
	values, vectors, err := eigen(m)
	if err != nil {
		return nil, err
	}
	var root mat.Dense
	root.Apply(func(i, j int, _ float64) float64 {
		return math.Sqrt(math.Max(values[i], 0)) * vectors.At(j, i)
	}, m)
	return &root, nil
}

// runs returns the Gram matrix by the recursion itself, on impulses along every vector of a basis, for a network that stays.
func (o Options) runs(ctx context.Context, b basis, steps int) (*mat.SymDense, error) {
	weights, err := o.Weights.Vector(steps)
	if err != nil {
		return nil, err
	}
	h := mat.NewSymDense(steps, nil)
	total := b.count() * len(o.Curvature)
	for i := range total {
		d := o.Curvature[i/b.count()]
		p := &probing{Spec: o.Spec, steps: steps, metric: b.root,
			weights: floats.ScaleTo(make([]float64, steps), d.Weight, weights)}
		if err := p.respond(ctx, h, constantNetwork(b.w), b.start(i%b.count()), nil, d.X, func(int) {}); err != nil {
			return nil, fmt.Errorf("Gram matrix after %d of %d runs: %w", i, total, err)
		}
		if o.Progress != nil {
			o.Progress(i+1, total)
		}
	}
	return h, nil
}

// kernelOver returns the kernel of the responses to the vectors of a basis, for a network that stays.
func (o Options) kernelOver(ctx context.Context, b basis, steps int) (*Kernel, error) {
	if o.feedsBack() && !o.evenly() {
		sum, err := o.runs(ctx, b, steps)
		return &Kernel{steps: steps, sum: sum}, err
	}
	done, count := 0, b.count()
	total := count * len(o.strands(steps))
	products, err := o.products(steps, func(k []float64, l lags) error {
		err := newPanel(b, l, count).addAll(ctx, k, count, func(to int) {
			if o.Progress != nil {
				o.Progress(done+to, total)
			}
		})
		done += count
		return err
	})
	if err != nil {
		return nil, err
	}
	return o.kernel(steps, products), nil
}

// checkStability rejects recursions whose errors grow.
func (c Curvature) checkStability(s Spec, w *graph.CSR, steps int) error {
	var gossip []complex128
	for _, d := range c {
		if d.X < negligible {
			continue
		}
		if gossip == nil {
			gossip = s.gossipEigenvalues(w)
		}
		for _, v := range gossip {
			if s.IsTimeInvariant() && s.MissedSteps == 0 {
				if radius := (rule{s, d.X}).spectralRadius(v); !(radius < 1) {
					return fault.New("Curvature", d.X, "makes errors grow for ever: the recursion with the eigenvalue %.4g of the "+
						"gossip matrix has an eigenvalue of modulus %.4g; take a smaller rate", v, radius)
				}
				continue
			}
			growth := (rule{s, d.X}).largest(real(v), steps) / (rule{s, 0}).largest(real(v), steps)
			if !(growth < mostGrowth) {
				return fault.New("Curvature", d.X, "makes errors grow to %.3g times what they are without feedback (at most %d): "+
					"take smaller rates", growth, mostGrowth)
			}
		}
	}
	return nil
}

// negligible is a second derivative, times the rate, that rounding hides from eigenvalues: 1 − x is nearly 1. So little
// feedback makes no errors grow.
const negligible = 0x1p-40

// mostGrowth bounds how many times as large as without feedback errors may become where the recursion changes.
const mostGrowth = 10

// spectralNodes bounds the networks whose eigenvalues are all looked at for stability.
const spectralNodes = 512

// gossipEigenvalues returns the eigenvalues of w, or the ends of an interval that has all of them if they are real: 2·the
// least self-weight - 1 (Gershgorin), and 1. Without more than its model at a node, 1 decides.
func (s Spec) gossipEigenvalues(w *graph.CSR) []complex128 {
	if s.Kind == Prefix || w == nil || s.updatesByGradient() {
		return []complex128{1}
	}
	n, _ := w.Dims()
	var eigen mat.Eigen
	if n <= spectralNodes && s.IsStatic() && eigen.Factorize(w.ToDense(), mat.EigenNone) {
		return eigen.Values(nil)
	}
	least := 1.0
	for i := range n {
		least = math.Min(least, w.At(i, i))
	}
	return []complex128{1, complex(2*least-1, 0)}
}

// spectralRadius returns the largest modulus of the eigenvalues of a step over a network with the eigenvalue v, among
// what noise reaches: of the projection on a Krylov space of the state after an impulse (Arnoldi). Two nodes that rotate
// stand for a complex number.
func (r rule) spectralRadius(v complex128) float64 {
	r.spec.Weights, r.spec.Absence = Weights{}, Absence{}
	w := graph.NewCSRFromDense(mat.NewDense(2, 2, []float64{real(v), -imag(v), imag(v), real(v)}))
	advance := func(kept, impulses []float64) []float64 {
		s := r.begin(1, 2, 1)
		for _, part := range s.Memory() {
			kept = kept[copy(part, kept):]
		}
		r.step(s, impulses, constantNetwork(w), func([]float64) {})
		return slices.Concat(s.Memory()...)
	}
	x := advance(make([]float64, 2*len(r.spec.Lone(1, 0).Memory())), []float64{1, 0})
	floats.Scale(1/floats.Norm(x, 2), x)
	basis, h := [][]float64{x}, mat.NewDense(len(x), len(x), nil)
	for j := 0; j < len(basis); j++ {
		next := advance(basis[j], make([]float64, 2))
		size := floats.Norm(next, 2)
		for range 2 {
			for i, q := range basis {
				dot := floats.Dot(q, next)
				h.Set(i, j, h.At(i, j)+dot)
				floats.AddScaled(next, -dot, q)
			}
		}
		if rest := floats.Norm(next, 2); rest > 1e-10*size && len(basis) < len(x) {
			h.Set(j+1, j, rest)
			floats.Scale(1/rest, next)
			basis = append(basis, next)
		}
	}
	var eigen mat.Eigen
	if !eigen.Factorize(h.Slice(0, len(basis), 0, len(basis)), mat.EigenNone) {
		return math.Inf(1)
	}
	var radius float64
	for _, e := range eigen.Values(nil) {
		radius = math.Max(radius, cmplx.Abs(e))
	}
	return radius
}

// largest returns the largest response to an impulse of any of T = steps steps, over a network with the eigenvalue v.
func (r rule) largest(v float64, steps int) float64 {
	r.spec.Changes, r.spec.Absence = Changes{}, Absence{}
	s := r.begin(steps, 1, steps)
	networks := constantNetwork(diagonal([]float64{v}))
	var most float64
	for t := range steps {
		impulses := make([]float64, steps)
		impulses[t] = 1
		r.step(s, impulses, networks, func(models []float64) {
			most = math.Max(most, floats.Norm(models[:t+1], math.Inf(1)))
		})
	}
	return most
}
