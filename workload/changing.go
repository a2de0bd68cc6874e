package workload

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
	"mafalda/internal/lists"
	"mafalda/internal/parallel"
	"mafalda/workload/randomgossip"
)

// MaxChangingNodes bounds exact Gram matrices of networks that change, which take several matrices of n×n: 134 MB each.
const MaxChangingNodes = 4096

// ErrNotExact is returned for networks that change whose Gram matrix has no exact form, or takes too much memory: then
// NewSampled gives an estimate.
var ErrNotExact = errors.New("no exact Gram matrix")

// Exact returns nil if NewKernel has the Gram matrix of the spec over w (n×n) in exact form: if the network stays, if
// it is a sequence, if either nodes or links fail and the gossip is uniform (randomgossip.ErrUneven), or if neighbours
// are random; up to MaxChangingNodes nodes, but for the last. Otherwise the error wraps ErrNotExact.
func (s Spec) Exact(w *graph.CSR) error {
	if s.IsStatic() || s.Kind == Prefix {
		return nil
	}
	if err := checkSquare(w); err != nil {
		return err
	}
	_, err := s.newAlgebra(w)
	return err
}

// changing is a network that changes or is drawn, independently from step to step. With R_T = 0, W_l all rounds of
// gossip of step l, f the factors of decay and w the weights of the steps, models have
//
//	R_l = E[W_lᵀ (w_l I + f_(l+1)² R_(l+1)) W_l],      messages R_l = w_l I + f_(l+1)² E[W_lᵀ R_(l+1) W_l],
//	G[l,l'] = P_l'/P_l · tr(E[W_l]ᵀ … E[W_(l'-1)]ᵀ R_l'),   l ≤ l',
//
// the expected ⟨·,·⟩ of what models are moved by in steps l and l', summed over the steps from l' on. With gradient
// tracking, R is a quadratic form of models and trackers: three matrices (forms). What enters is then the change of the
// gradient, (-η_l I, I), so that H = (I-S)ᵀG(I-S), S the shift by a step; with momentum that is refused, as N does not
// commute with W_t.
type changing struct {
	Spec
	steps       int
	nodes       int
	of          algebra
	rates, keep []float64
	weights     []float64
	lapses      *lapses // nodes that miss steps under feedback; nil: none
}

// algebra computes with n×n matrices, of size numbers each.
type algebra interface {
	size() int
	diagonal(x []float64) []float64         // of X by nodes; one number where they are alike
	addDiagonal(x, d []float64)             // x + diag(d); one number stands for all nodes
	pull(t int, x []float64) []float64      // E[WᵀXW], W a round of gossip of step t
	meanBack(t int, x []float64) []float64  // E[W]ᵀX
	transpose(x []float64)                  // Xᵀ
	descend(y [][]float64, path []crossing) // see crossing; y is overwritten

	// descendWith is descend with a few columns (n×width, from column from on) alone, of which y keeps all; it calls
	// visit with their diagonal entries in every step, of all y.
	descendWith(y [][]float64, from, width int, path []crossing, visit func(l int, diagonals [][]float64))
}

// crossing carries matrices from step t back to step t-1: y ← E[W_t]ᵀy, once per gossip round; then, if there are two
// matrices, y₁ ← y₁ - rate·y₀; then y₀ ← keep·y₀. The caller reads the traces.
type crossing struct {
	t, rounds  int
	rate, keep float64
	traces     []float64 // traces of all y, added
}

func newChanging(s Spec, w *graph.CSR, steps int) (*changing, error) {
	of, err := s.newAlgebra(w)
	if err != nil {
		return nil, err
	}
	c := &changing{Spec: s, steps: steps, of: of, rates: s.rates(steps)}
	c.nodes, _ = w.Dims()
	c.keep = s.keeps(c.rates)
	c.weights, err = s.Weights.Vector(steps)
	return c, err
}

// changings are changing networks whose Gram matrices add up.
type changings []*changing

// changingNetwork returns a network that changes for every direction of the curvature. Its error wraps ErrNotExact where there
// is no exact form: with feedback if a node has more than its model.
func (o Options) changingNetwork(w *graph.CSR, steps int) (changings, error) {
	if err := o.Curvature.Exact(o.Spec, w); err != nil {
		return nil, err
	}
	c, err := newChanging(o.Spec, w, steps)
	if err != nil || o.Curvature == nil {
		return changings{c}, err
	}
	return lists.Map(o.Curvature, func(d Direction) *changing {
		one := *c
		one.keep = o.keepsAt(c.rates, d.X*(1-o.MissedSteps))
		if o.MissedSteps > 0 {
			one.lapses = &lapses{d.X, make([][]float64, steps)}
		}
		one.weights = floats.ScaleTo(make([]float64, steps), d.Weight, c.weights)
		return &one
	}), nil
}

// gram returns the sum of the Gram matrices before the filter.
func (c changings) gram(ctx context.Context, progress func(done, total int)) (*mat.SymDense, error) {
	sum, err := c[0].gram(ctx, progress)
	for _, one := range c[1:] {
		var h *mat.SymDense
		if err == nil {
			if h, err = one.gram(ctx, progress); err == nil {
				sum.AddSym(sum, h)
			}
		}
	}
	return sum, err
}

// kernel returns the kernel whose Gram matrix is g.
func (c *changing) kernel(g *mat.SymDense) *Kernel {
	if c.lapses != nil {
		return KernelOf(g)
	}
	return &Kernel{steps: c.steps, filter: c.filter(c.steps), absence: c.Absence, sum: g}
}

// newAlgebra returns the algebra in which the recursion represents the network's matrices.
func (s Spec) newAlgebra(w *graph.CSR) (algebra, error) {
	n, _ := w.Dims()
	if err := s.Changes.checkNodes(n); err != nil {
		return nil, err
	}
	if s.RandomNeighbours > 0 {
		return pairs{randomgossip.NewNeighbours(n, s.RandomNeighbours)}, nil
	}
	if n > MaxChangingNodes {
		return nil, fmt.Errorf("networks of %d nodes that change: %w above %d", n, ErrNotExact, MaxChangingNodes)
	}
	bases := []*graph.CSR{w}
	if s.GraphSequence != nil {
		bases = s.GraphSequence.matrices
	}
	laws := make([]*randomgossip.Law, len(bases))
	for i, base := range bases {
		var err error
		switch {
		case s.NodeFailures > 0 && s.LinkFailures > 0:
			return nil, fmt.Errorf("nodes and links that fail: %w of both together", ErrNotExact)
		case s.NodeFailures > 0:
			laws[i], err = randomgossip.Nodes(base, s.NodeFailures)
		case s.LinkFailures > 0:
			laws[i], err = randomgossip.Links(base, s.LinkFailures)
		default:
			laws[i] = randomgossip.Fixed(base)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNotExact, err)
		}
	}
	return newSquares(n, laws), nil
}

// rounds returns how many rounds of gossip follow step t.
func (c *changing) roundsAfter(t int) int {
	if !c.gossips(t) {
		return 0
	}
	return c.gossipRounds()
}

// gram returns G, or with gradient tracking (I-S)ᵀG(I-S), S the shift by a step: gradients enter as they change.
func (c *changing) gram(ctx context.Context, progress func(done, total int)) (*mat.SymDense, error) {
	if sq, ok := c.of.(*squares); ok && !c.GradientTracking {
		if p := c.newPeriodic(sq); p.products() < c.steps*c.steps/2 {
			return p.gram(ctx, progress)
		}
	}
	return c.sumFromEveryStep(ctx, progress)
}

// sumFromEveryStep goes down from every step.
func (c *changing) sumFromEveryStep(ctx context.Context, progress func(done, total int)) (*mat.SymDense, error) {
	h := mat.NewSymDense(c.steps, nil)
	next := c.backward()
	pool := parallel.NewPool(ctx)
	done := 0
	for later := c.steps - 1; later >= 0; later-- {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		y := next(later)
		err := pool.Do(func() error { // what stands for R_later is overwritten
			path := c.path(later)
			c.of.descend(y, path)
			for l, p := range path {
				h.SetSym(l, later, c.entry(l, func(k int) float64 { return p.traces[k] }))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if done += later + 1; progress != nil {
			progress(done, c.steps*(c.steps+1)/2)
		}
	}
	if err := pool.Wait(); err != nil {
		return nil, err
	}
	c.settle(h, c.total)
	return h, nil
}

// settle makes the Gram matrix, before the filter, of what the way down has said; own is see send.
func (c *changing) settle(h *mat.SymDense, own func(v []float64) float64) {
	if c.GradientTracking {
		differenceGram(h)
	}
	if c.lapses != nil {
		c.send(h, own)
	}
}

// factor returns what models are multiplied by in step l on the way down from a later step.
func (c *changing) factor(l, later int) float64 {
	if c.lapses != nil && l == later {
		return 1 // S_l has it
	}
	return c.keep[l]
}

// path is the way down from R_later.
func (c *changing) path(later int) []crossing {
	path := make([]crossing, later+1)
	path[later] = crossing{keep: 1} // R_later itself
	for l := range later {
		path[l] = crossing{t: l, rounds: c.roundsAfter(l), keep: c.factor(l+1, later)}
		if c.GradientTracking {
			path[l] = crossing{t: l + 1, rounds: c.gossipRounds(), keep: c.keep[l+1], rate: c.rates[l+1]}
		}
	}
	for l := range path {
		path[l].traces = make([]float64, 2)
	}
	return path
}

// entry returns G[l, later] or what a node has of it, by the numbers of the matrices.
func (c *changing) entry(l int, of func(k int) float64) float64 {
	if c.GradientTracking {
		return of(1) - c.rates[l]*of(0)
	}
	return of(0)
}

// backward returns what computes the R_l, for l = T-1, T-2, …
func (c *changing) backward() func(l int) [][]float64 {
	if c.GradientTracking {
		size := c.of.size()
		return (&forms{c, make([]float64, size), make([]float64, size), make([]float64, size)}).stepBack
	}
	if c.lapses != nil {
		return (&lapsing{form: *c.newForm()}).stepBack
	}
	return c.newForm().stepBack
}
