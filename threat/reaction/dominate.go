package reaction

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/fault"
	"mafalda/internal/gemm"
	"mafalda/internal/rounding"
	"mafalda/strategy"
)

// MaxExact is the largest number m·T for which a dense strategy is bounded with the state of all its noise.
const MaxExact = 500

// Stand is a strategy C' with little memory that stands for another one, C: CᵀC ⪯ Factor·C'ᵀC'. Shifts of noise cost at
// most Factor times as much with C as with C', so a squared sensitivity of C' times Factor is one of C.
type Stand struct {
	Strategy strategy.Strategy
	Factor   float64

	spread float64 // Factor times what the pattern costs in local DP, near 1 for a good one
}

// worthwhile is how much better a strategy that changes must be than one that does not, of which one pattern is enough.
const worthwhile = 0.9

// itself reports whether the strategy stands for itself.
func (s Stand) itself() bool { return s.Factor == 1 }

// Strategies returns what may stand for a strategy among m hidden nodes: itself, Factor 1, where the state is small (a
// filter of few numbers, or m·T up to MaxExact); and else a BLT of two buffers, all of whose steps are alike, and, where
// a state of MaxExact numbers has room for it and it is nearer to C, a strategy that changes from step to step. They are
// made to be good for records that take part as in pattern. The error is one of the strategy's own: it has no inverse,
// or nothing was found to stand for it.
func Strategies(c strategy.Strategy, m int, pattern []int) ([]Stand, error) {
	memory := c.NodeCost().Floats
	if m*c.Steps() <= MaxExact || m*(1+memory) <= MaxExact || memory <= 1 {
		return []Stand{{Strategy: c, Factor: 1}}, nil
	}
	var out []Stand
	b := fitted(c, pattern)
	if b == nil {
		return nil, fault.New("Strategy", nil, "has no strategy of little memory that stands for it")
	}
	stand, err := standing(c, b, pattern)
	if err != nil {
		return nil, err
	}
	out = append(out, stand)
	room := MaxExact/m - 1
	if room < 1 {
		return out, nil
	}
	if near := nearest(c, room, pattern); near != nil {
		if stand, err := standing(c, near, pattern); err == nil && stand.spread < worthwhile*out[0].spread {
			out = append(out, stand)
		}
	}
	return out, nil
}

// nearest returns the reduced strategy that stands for C best with a memory of at most room numbers; of several that are
// as good, within some percent, one of little memory.
func nearest(c strategy.Strategy, room int, pattern []int) *reduced {
	most := reduce(c, min(room, c.Steps()))
	if most == nil {
		return nil
	}
	x := gram(whole(c))
	best, spreads := math.Inf(1), make([]float64, most.memory+1)
	for memory := 1; memory <= most.memory; memory++ {
		spreads[memory] = math.Inf(1)
		if cut := most.cut(memory); cut != nil {
			spreads[memory] = dominance(x, cut, start(c.Steps())) * spread(cut, pattern)
		}
		best = math.Min(best, spreads[memory])
	}
	for memory, spread := range spreads {
		if memory > 0 && spread <= 1.02*best {
			return most.cut(memory)
		}
	}
	return nil
}

// standing returns a strategy with its proven factor. The error is Dominate's.
func standing(c, by strategy.Strategy, pattern []int) (Stand, error) {
	factor, err := Dominate(c, by)
	return Stand{by, factor, factor * spread(by, pattern)}, err
}

// Dominate returns a factor γ, proven and near the least one, with CᵀC ⪯ γ·C'ᵀC'. The error is a fault.Argument for
// strategies of different lengths, or if no factor is proven.
func Dominate(c, by strategy.Strategy) (float64, error) {
	n := c.Steps()
	if by.Steps() != n {
		return 0, fault.New("by", nil, "has %d steps, not %d", by.Steps(), n)
	}
	var inverse mat.TriDense
	if err := by.NoisingTo(&inverse); err != nil {
		return 0, err
	}
	full, other := whole(c), whole(by)
	var ratio mat.Dense
	ratio.Mul(full, &inverse)
	var svd mat.SVD
	if !svd.Factorize(&ratio, mat.SVDNone) {
		return 0, fault.New("by", nil, "does not dominate: singular values were not found")
	}
	largest := svd.Values(nil)[0]
	// γC'ᵀC' − CᵀC, less what rounding may have added, must have a Cholesky factor
	left, right := gram(full), gram(other)
	for factor, above := largest*largest, 1e-9; above < 1; above *= 10 {
		gamma := factor * (1 + above)
		a := make([]float64, n*n)
		for i := range a {
			a[i] = gamma*right[i] - left[i]
		}
		for i := range n {
			scale := gamma*right[i*n+i] + left[i*n+i]
			a[i*n+i] -= scale * 4 * proofMargin(n)
		}
		if _, ok := gemm.Potrf(blas64.Symmetric{N: n, Stride: n, Data: a, Uplo: blas.Lower}); ok {
			return gamma, nil
		}
	}
	return 0, fault.New("by", nil, "does not dominate: no factor is proven")
}

// whole returns C as a square.
func whole(c strategy.Strategy) *mat.Dense { return mat.DenseCopyOf(strategy.LowerOf(c)) }

// gram returns CᵀC.
func gram(c *mat.Dense) []float64 {
	n, _ := c.Dims()
	out := make([]float64, n*n)
	gemm.Gemm(blas.Trans, blas.NoTrans, 1, c.RawMatrix(), c.RawMatrix(), 0, general(n, n, out))
	symmetrize(out, n)
	return out
}

// Victims bounds what is learned of several victims of a system: what they share is done once. It is for one goroutine.
type Victims struct {
	system   *System
	reaction Reaction
	stands   []Stand
	systems  []*reactiveSystem // each stand-in's system, nil before it is needed
	local    localDP           // local DP with C
	played   *played           // the nodes with linear answers; nil where nothing is known of them
}

// NewVictims returns it for stand-ins of C, of Strategies, say; a nil C without any is for independent noise. With a nil
// reaction nothing is known of the nodes, and the answer is local DP. The error is a fault.Argument for what is no system or
// no class, a strategy of another length, or rules of the system that have a memory of noise themselves.
//
// Memory is 16·T·m·n bytes and as much again, n the numbers in the state of all nodes.
func NewVictims(s *System, c strategy.Strategy, stands []Stand, reaction Reaction) (*Victims, error) {
	own, err := newReactiveSystem(s, reaction)
	if err != nil {
		return nil, err
	}
	a := &Victims{system: s, reaction: reaction, stands: stands, systems: make([]*reactiveSystem, len(stands)), local: own.local}
	switch {
	case c == nil:
		a.stands, a.systems = []Stand{{Factor: 1}}, []*reactiveSystem{own}
	case c.Steps() != len(s.Steps):
		return nil, fault.New("Strategy", nil, "has %d steps, not %d", c.Steps(), len(s.Steps))
	case a.local.gram != nil:
		return nil, fault.New("Strategy", nil, "is for nodes whose rules have no memory of noise")
	default:
		a.local.gram = strategy.GramOf(c)
	}
	if own.why() == "" {
		a.played, err = playedOn(own.stages, c)
	}
	return a, err
}

// Looks returns how many stand-ins there are, the quickest first.
func (a *Victims) Looks() int { return len(a.stands) }

// Exact reports whether attacks know the noise's state: the strategy stands for itself.
func (a *Victims) Exact() bool { return slices.ContainsFunc(a.stands, Stand.itself) }

// Bound returns the bound of one victim by one stand-in, by its place, without an attack. A bound of at most enough need
// not be the best one, as where only the largest of several victims counts; 0 asks for the best.
func (a *Victims) Bound(ctx context.Context, v Victim, stand int, enough float64) (*Result, error) {
	g, err := a.reactiveSystem(stand)
	if err != nil {
		return nil, err
	}
	by := a.stands[stand]
	if by.itself() {
		return g.bound(ctx, v, enough)
	}
	r, err := g.bound(ctx, v, enough/by.Factor)
	if err != nil {
		return nil, err
	}
	r.SensSquared = rounding.MulUp(r.SensSquared, by.Factor)
	if r.LocalDP = a.local.squared(v); r.SensSquared < r.LocalDP {
		r.Why = ""
		return r, nil
	}
	r.SensSquared, r.Pattern = r.LocalDP, nil
	if r.Why == "" {
		r.Why = "no strategy of little memory that stands for this one says more"
	}
	return r, nil
}

// reactiveSystem returns the system of one stand-in.
func (a *Victims) reactiveSystem(stand int) (*reactiveSystem, error) {
	if a.systems[stand] == nil {
		correlated, err := a.system.Correlated(a.stands[stand].Strategy)
		if err != nil {
			return nil, err
		}
		if a.systems[stand], err = newReactiveSystem(correlated, a.reaction); err != nil {
			return nil, err
		}
	}
	return a.systems[stand], nil
}

// Attack puts to a result of Bound, or of All, what linear answers reach at least.
func (a *Victims) Attack(ctx context.Context, v Victim, r *Result) (err error) {
	if a.played == nil {
		return nil
	}
	if r.WorstAnswer, r.Answers, err = a.played.reach(ctx, v.Node, v.attacked(r), r.SensSquared*(1-found)); err == nil {
		r.believe()
	}
	return err
}
