package workload

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/internal/lists"
)

// Sketch estimates the kernel of a large network from a few random vectors, for gossip matrices W in detailed balance
// with a distribution π. With W = 1πᵀ + R, D = n·diag(π) and the symmetric S = D^½WD^(-½),
//
//	⟨W^p, W^q⟩ = n‖π‖² + c_p + c_q + tr(R_pᵀR_q),   c_q = 1ᵀR_qπ,   R_q = W^q - 1πᵀ.
//
// The first terms are known: n‖π‖² exactly, c_q (0 for symmetric W) by one Lanczos run. The trace is the mean of R_p
// z·R_q z over vectors z of random signs (Hutchinson), and R_q z = D^(-½) S^q y for y = D^½z without its component
// along D^½1. A Lanczos run of m steps from y, S ≈ QTQᵀ, makes that
//
//	R_p z·R_q z = ‖y‖² e₁ᵀ T^p M T^q e₁,   M = QᵀD⁻¹Q   (m×m, the identity for symmetric W).
//
// tr(R_pᵀR_q) is not a function of moments of S unless D = I, which is why M is needed.
//
// What comes from different vectors is kept apart: how much they differ says how far their mean is from the truth
// (Factor). With as many vectors as nodes they are the unit vectors, and the trace is no estimate.
type Sketch struct {
	draws
	spec       Options
	stationary float64 // n‖π‖²
	cross      *run    // run that c_q comes from; nil for symmetric W
	probes     []*run
}

// ErrReversible is returned for gossip matrices that are not in detailed balance with any distribution: directed ones,
// mostly.
var ErrReversible = errors.New("estimates are for gossip matrices in detailed balance only")

// basisFloats is the room for the Lanczos bases of several vectors that are worked on at a time, 1.3 GB.
const basisFloats = 160_000_000

// drawnFloats says how many vectors of random signs are drawn side by side: an estimate is the same as long as it stays.
const drawnFloats = 80_000_000

// NewSketch sketches the row-stochastic w (n×n), in detailed balance with pi (positive, Σ = 1), such as
// graph.Gossip.Stationary returns. It costs probes·m products with w, and m·n numbers of memory for every probe that is
// worked on at a time unless w is symmetric. The errors are the prefix workload, too few probes or steps, lengths
// that do not fit, and the context's.
func NewSketch(ctx context.Context, w *graph.CSR, pi []float64, opts Options) (*Sketch, error) {
	n, cols := w.Dims()
	switch {
	case opts.Spec.Kind == Prefix:
		return nil, fmt.Errorf("the %v workload needs no estimate", opts.Spec.Kind)
	case !opts.Spec.IsStatic():
		return nil, fault.New("Method", "lanczos", "is for networks that do not change")
	case !opts.Curvature.Sketchable(opts.Spec):
		return nil, fault.New("Method", "lanczos",
			"with [Curvature] is for constant rates, gossip in every step, and nodes that miss no steps")
	case n != cols || len(pi) != n || n == 0:
		return nil, fmt.Errorf("a %d×%d gossip matrix with a distribution over %d nodes", n, cols, len(pi))
	case opts.Probes < 2 || opts.LanczosSteps < 2:
		return nil, fmt.Errorf("%d probes and %d Lanczos steps: at least 2 of both are needed", opts.Probes,
			opts.LanczosSteps)
	case opts.Probes < min(LeastProbes, n):
		return nil, fmt.Errorf("%d probes: at least %d are needed to know how far off they are",
			opts.Probes, LeastProbes)
	}
	l := newLanczos(w, pi)
	opts.Probes = min(opts.Probes, n)
	s := &Sketch{draws: draws{n, opts.Probes, opts.Probes == n}, spec: Options{Spec: opts.Spec, Curvature: opts.Curvature}, stationary: l.stationary()}
	total := (opts.Probes + 1) * opts.LanczosSteps
	done := 0
	tick := func(width int) error {
		if done += width; opts.Progress != nil {
			opts.Progress(min(done, total), total)
		}
		return context.Cause(ctx)
	}
	if !l.symmetric {
		start := lists.Map(l.d, func(d float64) float64 { return d * math.Sqrt(d) / float64(n) })
		runs, err := l.runs(start, 1, opts.LanczosSteps,
			lists.Map(l.root, func(r float64) float64 { return 1 / r }), tick)
		if err != nil {
			return nil, err
		}
		s.cross = runs[0]
	}
	vector := n * opts.LanczosSteps
	if l.symmetric {
		vector = 4 * n
	}
	starts := newVectors(l, s.unit, max(1, min(opts.Probes, drawnFloats/vector)), opts.Seed)
	width := sideBySide(opts.Probes, vector)
	width -= width % min(starts.drawn, width) // all of what is drawn together
	for len(s.probes) < opts.Probes {
		count := min(width, opts.Probes-len(s.probes))
		runs, err := l.runs(starts.nextBlock(count), count, opts.LanczosSteps, nil, tick)
		if err != nil {
			return nil, err
		}
		s.probes = append(s.probes, runs...)
	}
	return s, nil
}

// sideBySide returns how many probes are worked on at a time, if each has a basis of that size, in numbers.
func sideBySide(probes, basis int) int { return max(1, min(probes, basisFloats/basis)) }

// SketchFloats returns how many numbers NewSketch keeps at most, about: the bases of the vectors that are worked on at a
// time, some vectors beside them, and what is known of every probe.
func SketchFloats(nodes int, opts Options) float64 {
	n, basis := float64(nodes), float64(nodes*opts.LanczosSteps)
	kept := math.Min(float64(opts.LanczosSteps), n)
	width := float64(sideBySide(opts.Probes, nodes*opts.LanczosSteps))
	return width*(basis+4*n) + 2*n + float64(opts.Probes)*(kept*kept+4*kept+32)
}

// random returns the probes that are random.
func (s *Sketch) random() []*run {
	if s.unit {
		return nil
	}
	return s.probes
}

// Kernel returns the estimate for T = steps, which the spec must have been checked for.
func (s *Sketch) Kernel(steps int) *Kernel { return s.kernel(steps, s.probes) }

// Deviations calls visit with the errors that the estimate of H (T×T) may have: for every probe, unless these are the
// unit vectors, how far H from this probe alone is from the estimate; and last how far H is that few Lanczos steps
// may have made of it (rough). The mean square of the former, divided by probes - 1, is the squared standard error;
// multiply the standard error with Factor. visit owns the matrices.
func (s *Sketch) Deviations(steps int, visit func(e *mat.SymDense, probe bool) error) error {
	h := s.Kernel(steps).Gram()
	for i := range s.random() {
		e := s.kernel(steps, s.probes[i:i+1]).Gram()
		subtract(e, h)
		if err := visit(e, true); err != nil {
			return err
		}
	}
	e := s.rough().Kernel(steps).Gram()
	subtract(e, h)
	return visit(e, false)
}

// subtract subtracts h from e, entry by entry.
func subtract(e, h *mat.SymDense) {
	for i := range e.SymmetricDim() {
		for j := i; j < e.SymmetricDim(); j++ {
			e.SetSym(i, j, e.At(i, j)-h.At(i, j))
		}
	}
}

// kernel returns the mean kernel over probes.
func (s *Sketch) kernel(steps int, probes []*run) *Kernel {
	products, _ := s.spec.products(steps, func(k []float64, l lags) error {
		one := l.stationary()
		cross := make([]float64, l.count)
		if s.cross != nil {
			cross = s.cross.linear(l)
		}
		for p := range one {
			for q := range p + 1 {
				k[p*l.count+q] = s.stationary*one[p]*one[q] + cross[p]*one[q] + one[p]*cross[q]
			}
		}
		for _, r := range probes {
			r.addQuadratic(k, l, 1/float64(len(probes)))
		}
		return nil
	})
	return s.spec.kernel(steps, products)
}
