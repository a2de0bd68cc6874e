package factorize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/dense"
	"mafalda/internal/fault"
	"mafalda/internal/lists"
	"mafalda/internal/rounding"
	"mafalda/optim"
	"mafalda/participation"
	"mafalda/strategy"
)

// Nodes is a network whose nodes may run strategies of their own.
type Nodes struct {
	Grams  []*mat.SymDense   // H_i of every node, T×T (workload.NodeGrams)
	Shared strategy.Strategy // the best for all together, which the search starts from
	Groups int               // number of strategies that the nodes share; 0 means one for each node
	Parts  Parts             // computer of the strategies of single groups; nil: they are computed here, several at a time
}

// Split is a network whose nodes do not all run the same strategy. Every one has sens² ≤ 1, so what a node reveals of
// its own data (local DP) is the same as with a shared one.
type Split struct {
	Strategies []strategy.Strategy
	Of         []int     // node i runs Strategies[Of[i]]
	Losses     []float64 // tr(C⁻ᵀ H_i C⁻¹) of each node with its strategy
	Quality              // Loss and SquaredError are the sums over the nodes; Sensitivity is the largest

	LowerBound float64 // no choice of a strategy for each node has a smaller loss
	Gap        float64 // (Loss - LowerBound)/LowerBound
	GroupBound float64 // no choice of a strategy for each of these groups of nodes has a smaller loss
	Rounds     int     // rounds of assigning nodes to groups
	Iterations int     // iterations of all strategies of the last round
	Status     optim.Status
}

// Optimize returns dense strategies for single nodes, or for groups of nodes. Nodes with equal H_i, up to 1e-12, share
// a strategy. Groups are found by assigning every node to the strategy that serves it best and optimizing again, until
// nothing moves any more; that is a local optimum, but LowerBound is one for every assignment. A node whose H_i is not
// positive definite (no node listens to it) keeps the shared strategy.
//
// Every strategy is searched to the gap in opts, for its nodes; Options.Start and Options.LowerBound are not for
// several strategies. The schema's patterns must be a partition of the steps: else the error is ErrUnsupported. When
// ctx ends first, the best split so far is returned with Status optim.Interrupted. Strategies are optimized in parallel,
// each with some 35 matrices of T×T. Where Parts leaves some of them to others, the result is nil.
func (n Nodes) Optimize(ctx context.Context, schema participation.Schema, opts Options) (*Split, error) {
	if err := errors.Join(n.check(schema), fault.Ranges(opts)); err != nil {
		return nil, err
	}
	s := &splitter{Nodes: n, schema: schema, opts: opts, rounds: rounds{progress: opts.Progress}, here: n.Parts == nil}
	if s.here {
		s.Parts = computeParts
	}
	s.opts.Gap = cmp.Or(s.opts.Gap, MeanError.DefaultGap())
	if n.Groups > 0 {
		return s.splitGroups(ctx)
	}
	groups := equalGrams(n.Grams)
	parts, err := s.solve(ctx, groups, nil, s.opts.Gap)
	if err != nil || parts == nil {
		return nil, err
	}
	return s.split(ctx, parts, 1, func(i int, p *part) float64 {
		return p.LowerBound / float64(len(p.members)) * (1 - 2*equalWithin)
	})
}

// check refuses schemas without a method, and nodes that do not fit together.
func (n Nodes) check(schema participation.Schema) error {
	if !participation.IsPartition(schema) {
		return fmt.Errorf("strategies for single nodes: %w under %s participation, whose patterns overlap",
			ErrUnsupported, schema.Name())
	}
	if n.Groups < 0 || n.Groups > len(n.Grams) {
		return fault.New("Groups", n.Groups, "must be from 1 to %d, the number of nodes, or 0", len(n.Grams))
	}
	if n.Shared == nil || n.Shared.Steps() != schema.Steps() {
		return fault.New("Shared", nil, "a strategy of %d steps", schema.Steps())
	}
	for i, h := range n.Grams {
		if h.SymmetricDim() != n.Shared.Steps() {
			return fault.New(fmt.Sprintf("Grams[%d]", i), nil, "a matrix of %d steps for a schema of %d",
				h.SymmetricDim(), schema.Steps())
		}
	}
	return nil
}

type splitter struct {
	Nodes
	schema participation.Schema
	opts   Options
	rounds rounds
	here   bool // all parts are computed by this process, whose Progress sees them
}

// part is a group of nodes with its strategy.
type part struct {
	*Result // the shared strategy, and no bound, where that was kept
	members []int
	losses  []float64 // losses of the members
	inverse []float64 // C⁻¹C⁻ᵀ, T×T, if nodes may still move
}

const equalWithin = 1e-12

// equalGrams returns the classes of nodes whose Gram matrices are equal up to equalWithin, relative to the largest
// entry.
func equalGrams(grams []*mat.SymDense) [][]int {
	var classes [][]int
	for i, h := range grams {
		at := slices.IndexFunc(classes, func(class []int) bool { return equalGram(grams[class[0]], h) })
		if at < 0 {
			classes = append(classes, nil)
			at = len(classes) - 1
		}
		classes[at] = append(classes[at], i)
	}
	return classes
}

func equalGram(g, h *mat.SymDense) bool {
	n := g.SymmetricDim()
	allowed := equalWithin * math.Max(g.At(0, 0), h.At(0, 0)) // H[0,0] is the largest entry of an H
	for s := range n {
		for t := s; t < n; t++ {
			if math.Abs(g.At(s, t)-h.At(s, t)) > allowed {
				return false
			}
		}
	}
	return true
}

// start returns what the search for a group starts from.
func (s *splitter) start(from []*part, group int) strategy.Strategy {
	if from == nil {
		return s.Shared
	}
	return from[group].Strategy
}

// search returns the best strategy for a group; nil where it keeps the shared one.
func (s *splitter) search(ctx context.Context, members []int, start strategy.Strategy, gap float64) (*Result, error) {
	if ctx.Err() != nil {
		return nil, nil
	}
	r, err := optimizeMasked(ctx, s.sum(members), denseMask(s.schema),
		Options{Gap: gap, MaxIterations: s.opts.MaxIterations, Start: strategy.GramOf(start)})
	switch {
	case errors.Is(err, ErrGram):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("strategy of node %d: %w", members[0], err)
	}
	return r, nil
}

// measure returns the part of a group with what was found for it.
func (s *splitter) measure(members []int, r *Result) (*part, error) {
	p := &part{Result: r, members: members}
	inverse, err := inverseGram(r.Strategy)
	if err != nil {
		return nil, err
	}
	p.losses = lists.Map(members, func(i int) float64 { return inner(s.Grams[i], inverse) })
	if s.Groups > 0 {
		p.inverse = inverse
	}
	return p, nil
}

// sum returns the Gram matrix of a group.
func (s *splitter) sum(members []int) *mat.SymDense {
	if len(members) == 1 {
		return s.Grams[members[0]]
	}
	sum := mat.NewSymDense(s.Shared.Steps(), nil)
	for _, i := range members {
		sum.AddSym(sum, s.Grams[i])
	}
	return sum
}

// inverseGram returns C⁻¹C⁻ᵀ, row by row.
func inverseGram(c strategy.Strategy) ([]float64, error) {
	_, y, err := inverses(c)
	return y, err
}

// inverses returns C⁻¹, and C⁻¹C⁻ᵀ row by row.
func inverses(c strategy.Strategy) (noising *mat.Dense, gram []float64, err error) {
	var lower mat.TriDense
	if err := c.NoisingTo(&lower); err != nil {
		return nil, nil, fmt.Errorf("inverting a strategy: %w", err)
	}
	noising = dense.Full(&lower)
	z, n := noising.RawMatrix().Data, c.Steps()
	gram = make([]float64, n*n)
	dense.MulSymTo(gram, z, z, n)
	return noising, gram, nil
}

// inner returns ⟨h, y⟩ for a symmetric y.
func inner(h *mat.SymDense, y []float64) float64 {
	raw := h.RawSymmetric()
	var diagonal, off float64
	for s := range raw.N {
		row, at := raw.Data[s*raw.Stride:], y[s*raw.N:]
		diagonal += row[s] * at[s]
		off += floats.Dot(row[s+1:raw.N], at[s+1:raw.N])
	}
	return diagonal + 2*off
}

// split measures the parts, and proves the bound of all nodes from a bound for each.
func (s *splitter) split(
	ctx context.Context, parts []*part, rounds int, nodeBound func(i int, p *part) float64,
) (*Split, error) {
	n := len(s.Grams)
	r := &Split{Of: make([]int, n), Losses: make([]float64, n), Rounds: rounds, Status: optim.Converged}
	for g, p := range parts {
		sens, err := strategy.Sensitivity(p.Strategy, s.schema)
		if err != nil {
			return nil, err
		}
		if g == 0 || sens.Squared > r.Sensitivity.Squared {
			r.Sensitivity = sens
		}
		r.Strategies = append(r.Strategies, p.Strategy)
		for at, i := range p.members {
			r.Of[i], r.Losses[i] = g, p.losses[at]
		}
		r.GroupBound += p.LowerBound
		r.Iterations += p.Iterations
		if p.Status != optim.Converged {
			r.Status = p.Status
		}
	}
	var bound rounding.Sum
	for _, p := range parts {
		for _, i := range p.members {
			bound.Add(nodeBound(i, p))
		}
	}
	r.LowerBound = bound.Down()
	r.GroupBound = math.Max(r.GroupBound, r.LowerBound)
	r.SquaredError = floats.Sum(r.Losses)
	r.Loss = r.Sensitivity.Squared * r.SquaredError
	r.Gap = GapOf(r.Loss, r.LowerBound)
	if s.Groups == 0 {
		r.mergeEqual()
	}
	if ctx.Err() != nil {
		r.Status = optim.Interrupted
	}
	return r, nil
}

// mergeEqual keeps one of strategies that are equal, as all are for T = 1 however different the nodes' H_i.
func (r *Split) mergeEqual() {
	var distinct []strategy.Strategy
	var matrices []*mat.TriDense
	to := make([]int, len(r.Strategies))
	for g, c := range r.Strategies {
		lower := &mat.TriDense{}
		c.StrategyTo(lower)
		to[g] = slices.IndexFunc(matrices, func(m *mat.TriDense) bool { return mat.Equal(m, lower) })
		if to[g] < 0 {
			to[g] = len(distinct)
			distinct, matrices = append(distinct, c), append(matrices, lower)
		}
	}
	r.Strategies = distinct
	for i, g := range r.Of {
		r.Of[i] = to[g]
	}
}
