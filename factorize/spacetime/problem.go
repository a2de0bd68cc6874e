package spacetime

import (
	"cmp"
	"context"

	"gonum.org/v1/gonum/mat"

	"mafalda/factorize"
	"mafalda/internal/dense"
	"mafalda/internal/fault"
	"mafalda/optim"
	"mafalda/participation"
	"mafalda/secrets"
	"mafalda/strategy"
)

// Workload is all that this package sees of a network: a squared error that is linear in the covariance M over the n
// nodes and in Y = (CᵀC)⁻¹ over the T steps, error(M, Y) = ⟨TimeGram(M), Y⟩ = ⟨SpaceGram(Y), M⟩. workload.SpaceTime is
// one.
type Workload interface {
	Nodes() int
	Steps() int
	TimeGram(ctx context.Context, m *mat.SymDense) (*mat.SymDense, error)  // H(M), T×T
	SpaceGram(ctx context.Context, y *mat.SymDense) (*mat.SymDense, error) // K(Y), n×n
	VectorGram(ctx context.Context, b []float64) (*mat.SymDense, error)    // H(bbᵀ)
}

// Problem is what Optimize solves.
type Problem struct {
	Workload Workload
	Schema   participation.Schema
	Class    factorize.Class // class of strategies; it must support MeanError under the schema
	Setting
}

func (p Problem) check() error {
	if err := p.Setting.check(); err != nil {
		return err
	}
	switch {
	case p.Workload == nil:
		return fault.New("Workload", nil, "no workload")
	case p.Schema == nil || p.Schema.Steps() != p.Workload.Steps():
		return fault.New("Schema", nil, "is not one of the workload's %d steps", p.Workload.Steps())
	case p.Class == nil:
		return fault.New("Class", nil, "no class of strategies")
	case p.Secrets.Nodes() != p.Workload.Nodes():
		return fault.New("Secrets", nil, "of %d nodes for a workload of %d", p.Secrets.Nodes(), p.Workload.Nodes())
	}
	return factorize.Supports(p.Class, factorize.MeanError, p.Schema)
}

// Options tunes Optimize. The zero value asks for the defaults named here.
type Options struct {
	Gap      float64 // certified gap of the space half at which rounds end; 0 means 1e-4
	TimeGap  float64 // gap of the time half; 0 means the default of the class
	Rounds   int     `in:"[0,)"` // 0 means 20
	State    *State  // state to go on from; nil: the beginning
	Progress func(Iteration)
}

const (
	defaultStationary = 1e-4
	defaultRounds     = 20
)

func (o Options) withDefaults() (Options, error) {
	o.Gap, o.Rounds = cmp.Or(o.Gap, defaultStationary), cmp.Or(o.Rounds, defaultRounds)
	if !(o.Gap >= 10*MinGap) {
		return o, fault.New("Gap", o.Gap, "rounding allows no less than %v", 10*MinGap)
	}
	return o, fault.Ranges(o)
}

// State is where an alternation is: plain data, for a checkpoint of the same problem with the same options.
type State struct {
	Round int       // number of the round under way, from 1
	Space Point     // point of its space half
	X     []float64 // CᵀC of its strategy, T×T row by row
}

// Iteration is what Progress sees: a step of either half.
type Iteration struct {
	Round               int    // number of the round, from 1; 0: the strategy for noise that is not shared
	Space               bool   // the half: noise over nodes, or else over time
	factorize.Iteration        // iteration of this half in this round
	State               *State // what Options.State takes; nil in round 0; read only
}

// Result is a pair of a strategy and of noise over the nodes.
type Result struct {
	Noise *secrets.Noise
	Worst secrets.Worst // attacker who learns most, with Value ≤ 1

	Time       *factorize.Result // the strategy, for H(M): its bound and gap belong to the time half
	Loss       float64           // Time.Loss: with sens ≤ 1 and max [M_A⁻¹]_vv ≤ 1
	SpaceBound float64           // no noise has a smaller loss with this strategy, with variances up to LargestPair
	SpaceGap   float64           // (Loss - SpaceBound)/SpaceBound

	LDP    *factorize.Result // the same class without secrets: M = Alone()
	Rounds []Round
	Status optim.Status // Converged if SpaceGap is at most the one asked for and the time half of a certified class converged
}

// Round is what a round came to.
type Round struct {
	Loss       float64 // loss after the round
	SpaceSteps int
	TimeSteps  int
}

// timeStrategy returns the best strategy for noise of covariance m.
func (p Problem) timeStrategy(ctx context.Context, m *mat.SymDense, o factorize.Options) (*factorize.Result, error) {
	h, err := p.Workload.TimeGram(ctx, m)
	if err != nil {
		return nil, err
	}
	return p.Class.Optimize(ctx, factorize.Mean(h), p.Schema, o)
}

// spaceGram returns K for noise of a strategy.
func (p Problem) spaceGram(ctx context.Context, c strategy.Strategy) (*mat.SymDense, error) {
	var noising mat.TriDense
	if err := c.NoisingTo(&noising); err != nil {
		return nil, err
	}
	y := mat.NewSymDense(c.Steps(), nil)
	dense.SymOuterK(y, 1, dense.Full(&noising))
	return p.Workload.SpaceGram(ctx, y)
}

// Alone returns the covariance Ω of noise that nodes do not share: what every node needs by itself, 1 where all have one
// privacy level.
func (s Setting) Alone() *mat.SymDense {
	m := mat.NewSymDense(s.Attackers.Nodes(), nil)
	for i := range s.Attackers.Nodes() {
		m.SetSym(i, i, s.Attackers.Weight(i))
	}
	return m
}
