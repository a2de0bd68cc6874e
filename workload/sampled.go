package workload

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
	"mafalda/internal/dense"
	"mafalda/internal/gemm"
	"mafalda/internal/lists"
	"mafalda/internal/parallel"
)

// Estimate is what is known of a Gram matrix from random vectors, which Sketch and Sampled are: their mean, how far
// every one is from it, and how many standard errors of the mean the truth is away at most (Factor), with which
// probability (Confidence).
type Estimate interface {
	Nodes() int
	Probes() int
	Kernel(steps int) *Kernel
	Deviations(steps int, visit func(e *mat.SymDense, probe bool) error) error
	Factor() float64
	Confidence() float64
}

var (
	_ Estimate = (*Sketch)(nil)
	_ Estimate = (*Sampled)(nil)
)

// Sampled estimates the Gram matrix of a network that changes where there is no exact one (Spec.Exact): for every probe
// the networks are drawn, and the recursion is run (State) on impulses of noise z_i for all nodes i at once, of random
// signs z. What shows has the squares of H in expectation, and a positive semidefinite H of its own.
//
// What all nodes have in common is taken out of the models, P = I - 11ᵀ/n, and its squares, (1/n) |Φᵀ1|² for Φ = W_t …
// W_s, are added as they are: they are most of the error of random signs, as the mean of the models does not die down.
// That takes all matrices of a run at once, and is left out where they have no room or gradients are tracked.
type Sampled struct {
	draws
	steps   int
	absence Absence
	mean    *mat.SymDense
	probes  []*mat.SymDense
}

// NewSampled makes the estimate for T = steps over the row-stochastic w (n×n), of any changing network, of any number
// of nodes. A probe takes O(nT) memory, and O(T² nnz + n T³/3) time. It fails as Spec.Check and Spec.Networks do, for
// too few probes, and when the context ends.
func NewSampled(ctx context.Context, w *graph.CSR, steps int, opts Options) (*Sampled, error) {
	s := opts.Spec
	if err := s.Check(steps); err != nil {
		return nil, err
	}
	if opts.Probes < LeastProbes || s.Kind == Prefix {
		return nil, fmt.Errorf("%d probes of a %v workload: at least %d, of a network, are needed to know how far off "+
			"they are", opts.Probes, s.Kind, LeastProbes)
	}
	out := &Sampled{draws: draws{count: opts.Probes}, steps: steps, absence: s.Absence, mean: mat.NewSymDense(steps, nil)}
	if err := opts.Curvature.Check(s, w, steps); err != nil {
		return nil, err
	}
	p := &probing{Spec: s, steps: steps, curvature: Curvature{{0, 1}}}
	if opts.Curvature != nil { // absences are drawn, too
		p.curvature, p.reacts, out.absence = opts.Curvature, true, Absence{}
	}
	p.weights, _ = s.Weights.Vector(steps)
	for i := range opts.Probes {
		r := source(opts.Seed, i, -1)
		networks, err := s.Networks(w, r.Uint64())
		if err != nil {
			return nil, err
		}
		out.nodes = networks.Nodes()
		z := lists.Make(out.nodes, func(int) float64 { return float64(2*r.IntN(2) - 1) })
		p.apart = p.separates(networks)
		h := mat.NewSymDense(steps, nil)
		missed := p.absences(r, out.nodes)
		for _, d := range p.curvature {
			part := mat.NewSymDense(steps, nil)
			err := p.respond(ctx, part, networks, z, missed, d.X, func(t int) {
				if opts.Progress != nil {
					opts.Progress(i*steps+t, opts.Probes*steps)
				}
			})
			if err != nil {
				return nil, fmt.Errorf("estimate of a Gram matrix: %w", err)
			}
			floats.AddScaled(h.RawSymmetric().Data, d.Weight, part.RawSymmetric().Data)
		}
		out.probes = append(out.probes, h)
		floats.AddScaled(out.mean.RawSymmetric().Data, 1/float64(opts.Probes), h.RawSymmetric().Data)
	}
	return out, nil
}

// Kernel returns the estimate. It panics if steps is not the number given to NewSampled.
func (s *Sampled) Kernel(steps int) *Kernel {
	if steps != s.steps {
		panic(mat.ErrShape)
	}
	return &Kernel{steps: steps, absence: s.absence, sum: s.mean}
}

// Deviations calls visit with the difference between H from each probe alone and the estimate. The mean square of these
// differences, divided by probes - 1, is the squared standard error. visit owns the matrices.
func (s *Sampled) Deviations(steps int, visit func(e *mat.SymDense, probe bool) error) error {
	h := s.Kernel(steps).Gram()
	for _, one := range s.probes {
		e := (&Kernel{steps: steps, absence: s.absence, sum: one}).Gram()
		subtract(e, h)
		if err := visit(e, true); err != nil {
			return err
		}
	}
	return nil
}

// cachedEntries is the room for all matrices of a run: 512 MB.
const cachedEntries = 1 << 25

// probing runs the recursion on impulses of noise.
type probing struct {
	Spec
	steps     int
	curvature Curvature
	reacts    bool // gradients react to errors
	apart     bool // what all nodes have in common is taken out of the models, and added as it is
	weights   []float64
	metric    *mat.Dense    // of the models of all nodes; nil: the identity
	common    *mat.SymDense // Gram matrix of all runs, where networks are not drawn and gradients do not react
}

// absences draws which steps every node misses (a row each), where gradients react; nil otherwise.
func (p *probing) absences(r *rand.Rand, nodes int) [][]bool {
	if !p.reacts || p.MissedSteps == 0 {
		return nil
	}
	return lists.Make(nodes, func(int) []bool {
		return lists.Make(p.steps, func(int) bool { return r.Float64() < p.MissedSteps })
	})
}

// impulse writes the gradients of step t: the rows of noise that a node sends, and its feedback.
func (p *probing) impulse(impulses, models, z []float64, missed [][]bool, t int, x float64) {
	for i, v := range z {
		own := impulses[i*p.steps : (i+1)*p.steps]
		clear(own)
		if missed != nil && missed[i][t] {
			continue
		}
		floats.AddScaled(own[:t], x, models[i*p.steps:i*p.steps+t])
		own[t] = v
		for s := t - 1; p.Carry && missed != nil && s >= 0 && missed[i][s]; s-- {
			own[s] += v
		}
	}
}

// separates reports whether what all nodes have in common is simple to add, and has room.
func (p *probing) separates(networks *Networks) bool {
	return !p.GradientTracking && (!p.reacts || Options{Spec: p.Spec}.shrinks()) &&
		networks.At(0, 0).NNZ()*p.steps*p.gossipRounds() <= cachedEntries
}

// respond adds to h the H of one vector and one run under feedback x.
func (p *probing) respond(ctx context.Context, h *mat.SymDense, networks *Networks, z []float64, missed [][]bool, x float64,
	tick func(t int)) error {
	n := len(z)
	if p.apart && p.random() {
		rounds, drawn := p.gossipRounds(), networks
		all := make([]*graph.CSR, p.steps*rounds) // drawn once
		parallel.For(len(all), func(i int) { all[i] = drawn.At(i/rounds, i%rounds) })
		networks = &Networks{n, func(t, round int) *graph.CSR { return all[t*rounds+round] }}
	}
	state, err := NewState[float64](p.Spec, p.steps, n, p.steps, 1)
	if err != nil {
		return err
	}
	impulses := make([]float64, n*p.steps)
	for t := range p.steps {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		p.impulse(impulses, state.Models(), z, missed, t, x)
		state.Step(impulses, networks, func(models []float64) { p.add(h, models, t) })
		tick(t + 1)
	}
	if p.apart {
		if p.common == nil || p.random() || p.reacts {
			p.common = p.commonGram(networks, x)
		}
		h.AddSym(h, p.common)
	}
	return nil
}

// add adds the squares of what the impulses up to step t have made of the models: in the metric, or apart from what
// these have in common.
func (p *probing) add(h *mat.SymDense, models []float64, t int) {
	n := len(models) / p.steps
	if p.apart {
		mean := make([]float64, t+1)
		for i := range n {
			floats.AddScaled(mean, 1/float64(n), models[i*p.steps:i*p.steps+t+1])
		}
		for i := range n {
			floats.Sub(models[i*p.steps:i*p.steps+t+1], mean) // W keeps it 0 in all that follows
		}
	}
	x := blas64.General{Rows: n, Cols: t + 1, Stride: p.steps, Data: models}
	if p.metric != nil {
		var y mat.Dense
		dense.Mul(&y, p.metric, mat.NewDense(n, p.steps, models).Slice(0, n, 0, t+1))
		x = y.RawMatrix()
	}
	addSquares(h, p.weights[t], x)
}

// addSquares adds weight·XᵀX for an X of n×(t+1) to the first rows and columns of h.
func addSquares(h *mat.SymDense, weight float64, x blas64.General) {
	if weight != 0 {
		gemm.Syrk(blas.Trans, weight, x, 1, h.SliceSym(0, x.Cols).(*mat.SymDense).RawSymmetric())
	}
}

// commonGram returns (1/n) Σ_t weights[t] |Φ(t,s)ᵀ1|², before the filter of the optimizer and with it: of every step back
// to the first.
func (p *probing) commonGram(networks *Networks, x float64) *mat.SymDense {
	const atOnce = 4
	n := networks.Nodes()
	keep := p.keepsAt(p.rates(p.steps), x)
	h := mat.NewSymDense(p.steps, nil)
	blocks := make([]blas64.General, atOnce)
	for from := 0; from < p.steps; from += atOnce {
		parallel.For(min(atOnce, p.steps-from), func(i int) { blocks[i] = p.descent(networks, from+i, keep) })
		for i := range min(atOnce, p.steps-from) {
			addSquares(h, p.weights[from+i]/float64(n), blocks[i])
		}
	}
	p.filter(p.steps).congruence(h)
	return h
}

// descent returns P_t/P_s·Φ(t,s)ᵀ1 for s = 0 … t (n×(t+1)).
func (p *probing) descent(networks *Networks, t int, keep []float64) blas64.General {
	n := networks.Nodes()
	out := blas64.General{Rows: n, Cols: t + 1, Stride: t + 1, Data: make([]float64, n*(t+1))}
	y, room := slices.Repeat([]float64{1}, n), make([]float64, n)
	for s := t; s >= 0; s-- {
		if s < t {
			floats.Scale(keep[s+1], y)
		}
		if p.gossips(s) && (s < t || p.Kind != Message) {
			for round := p.gossipRounds() - 1; round >= 0; round-- {
				networks.At(s, round).MulVecTo(room, true, y)
				y, room = room, y
			}
		}
		for i, v := range y {
			out.Data[i*(t+1)+s] = v
		}
	}
	return out
}
