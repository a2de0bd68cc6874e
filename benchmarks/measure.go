package benchmarks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/mat"

	"mafalda/accounting"
	"mafalda/factorize"
	"mafalda/factorize/bands"
	"mafalda/factorize/baselines"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/strategy"
	"mafalda/workload"
)

// Cell says which row of a table is meant: on which network, who takes part when, and which strategy for plain training,
// or which workload, with all that it depends on.
type Cell struct {
	Graph    string         `json:"graph"`
	SHA256   string         `json:"graph_sha256,omitempty"`
	Digest   string         `json:"network,omitempty"`
	K        int            `json:"k"`
	B        int            `json:"b"`
	Strategy string         `json:"strategy,omitempty"`
	Workload string         `json:"workload,omitempty"`
	Spec     *workload.Spec `json:"workload_spec,omitempty"`
}

// What returns the strategy or the workload of the cell.
func (c Cell) What() string { return c.Strategy + c.Workload }

// text returns all that is in the cell.
func (c Cell) text() string {
	return fmt.Sprintf("%q %s %s %d %d %q %q %v", c.Graph, c.SHA256, c.Digest, c.K, c.B, c.Strategy, c.Workload, c.Spec)
}

// optimum returns the cell of the optimum that a strategy is compared with.
func (c Cell) optimum() Cell {
	c.Strategy = Dense
	return c
}

// row returns what a row says of its cell.
func (c Cell) row() Row {
	return Row{Graph: c.Graph, SHA256: c.SHA256, K: c.K, B: c.B, Strategy: c.Strategy, Workload: c.Workload, Spec: c.Spec}
}

// Seconds is about how long the cell takes on one processor, without what the graph asks for, within a factor of ten.
func (c Cell) Seconds() float64 { return 5e-8 * math.Pow(float64(c.K*c.B), 3) }

// errNoCell is about a cell of another study.
var errNoCell = errors.New("it is no cell of these cases")

// Do measures a cell. It fails for a cell of other cases, if the strategy or a Gram matrix cannot be made, or when ctx
// ends.
func (s *Study) Do(ctx context.Context, c Cell) (r Row, err error) {
	p, ok := s.problems[c.text()]
	switch {
	case !ok:
		err = errNoCell
	case s.Workloads:
		r, err = compareWorkload(ctx, c, p)
	default:
		r, err = s.compareStrategy(ctx, c, p)
	}
	if err != nil {
		err = fmt.Errorf("%s, k = %d, b = %d: %s: %w", c.Graph, c.K, c.B, c.What(), err)
	}
	return r, err
}

// shared is what the rows of strategies on one network under one schema have in common.
type shared struct {
	problem plan.Problem
	gram    *mat.SymDense
	bands   *bands.Table
}

// compareStrategy measures a strategy beside the optimum. It keeps the optima of all networks and schemas, and what else
// rows share of the last one, so that cells are best measured network by network.
func (s *Study) compareStrategy(ctx context.Context, c Cell, p plan.Problem) (Row, error) {
	optimum := c.optimum()
	if s.at == nil || s.last != optimum {
		h, err := p.GramMatrix(ctx)
		if err != nil {
			return Row{}, err
		}
		s.last, s.at = optimum, &shared{p, h, bands.NewTable(factorize.Mean(h), p.Schema, bands.Options{Gap: sampledBestGap, Noise: s.noise})}
	}
	dense, known := s.dense[optimum]
	if !known {
		var err error
		if dense, err = s.make(ctx, optimum, Row{Ratio: 1}, maker{class: factorize.Dense{}}); err != nil {
			return Row{}, err
		}
		s.dense[optimum] = dense
	}
	switch c.Strategy {
	case Dense:
		return dense, nil
	case SampledBest:
		return s.makeSampled(ctx, c, dense, s.at.bands.Descend)
	case SampledDPDSGD:
		return s.makeSampled(ctx, c, dense, func(ctx context.Context, epsilon, delta float64) (bands.Cost, error) {
			return s.at.bands.At(ctx, 1, epsilon, delta)
		})
	}
	for _, k := range makers(p.Schema) {
		if k.name == c.Strategy {
			return s.make(ctx, c, dense, k)
		}
	}
	return Row{}, fmt.Errorf("unknown strategy %q", c.Strategy)
}

// make makes a strategy for batches in turn, and measures it beside the optimum, unless it is that.
func (s *Study) make(ctx context.Context, c Cell, dense Row, k maker) (Row, error) {
	started := time.Now()
	made, bound, err := k.make(ctx, s.at.gram, s.at.problem.Schema)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return Row{}, err
	}
	took := time.Since(started)
	q, err := factorize.Evaluate(made, factorize.Mean(s.at.gram), s.at.problem.Schema)
	if err != nil {
		return Row{}, err
	}
	r := c.row()
	r.SensSquared, r.SensKind, r.Loss, r.Seconds = q.Sensitivity.Squared, q.Sensitivity.Kind(), q.Loss, took.Seconds()
	r.MemoryFloats = made.NodeCost().Floats
	r.Ratio, r.LowerBound = r.Loss/cmp.Or(dense.Loss, r.Loss), cmp.Or(dense.LowerBound, bound)
	for _, epsilon := range s.levels.Epsilons {
		e, err := s.errorInTurn(r.Loss, epsilon)
		if err != nil {
			return r, err
		}
		r.AtPrivacy = append(r.AtPrivacy, plan.AtPrivacy{Epsilon: epsilon, Delta: s.levels.Delta, Error: e, Ratio: r.Ratio})
	}
	return r, nil
}

// makeSampled makes the row of strategies for batches that are drawn in secret, beside the optimum.
func (s *Study) makeSampled(ctx context.Context, c Cell, dense Row,
	of func(ctx context.Context, epsilon, delta float64) (bands.Cost, error)) (Row, error) {
	started, r := time.Now(), c.row()
	for _, epsilon := range s.levels.Epsilons {
		cost, err := of(ctx, epsilon, s.levels.Delta)
		if err != nil {
			return Row{}, err
		}
		optimum, err := s.errorInTurn(dense.Loss, epsilon)
		if err != nil {
			return Row{}, err
		}
		r.AtPrivacy = append(r.AtPrivacy, plan.SecretCost(cost, epsilon, s.levels.Delta, optimum))
		r.MemoryFloats = max(r.MemoryFloats, cost.Bandwidth-1)
	}
	r.Seconds = time.Since(started).Seconds()
	return r, nil
}

// errorInTurn returns the squared error of a strategy of this loss with the noise for ε, in units of the clip, where batches
// are visited in turn: loss/μ², the noise rounded up. It fails as accounting.Calibrate does.
func (s *Study) errorInTurn(loss, epsilon float64) (float64, error) {
	p, err := accounting.Calibrate(accounting.Target{Epsilon: epsilon, Delta: s.levels.Delta}, 1, 1, accounting.ZeroOut)
	return p.NoiseStd * p.NoiseStd * loss, err
}

// maker is a row's strategy for a schema: the best of a class, a strategy that is made, or the baseline of this name.
type maker struct {
	name  string
	class factorize.Class                   // class whose best strategy is taken; nil: none
	made  func() (strategy.Strategy, error) // makes the strategy; nil: the class does, or name says it
}

// make returns the strategy for a Gram matrix under the schema, with what is known to be below all losses.
func (k maker) make(ctx context.Context, h *mat.SymDense, s participation.Schema) (c strategy.Strategy, bound float64, err error) {
	switch {
	case k.class != nil:
		r, err := k.class.Optimize(ctx, factorize.Mean(h), s, factorize.Options{})
		if err != nil {
			return nil, 0, err
		}
		return r.Strategy, r.LowerBound, nil
	case k.made != nil:
		c, err = k.made()
		return c, 0, err
	}
	c, err = baselines.NewFor(ctx, k.name, workload.Spec{}, s)
	return c, 0, err
}

// plainGap is the certified gap of the optimum for plain training.
const plainGap = 1e-8

// compareWorkload returns the row of a workload: what plan.Solve says. It fails as that does, or when ctx ends.
func compareWorkload(ctx context.Context, c Cell, p plan.Problem) (Row, error) {
	started, o := time.Now(), plan.Options{}
	if p.Workload.IsPlain() {
		o.Tolerance = math.Max(plainGap, factorize.MinGap(p.Schema.Steps()))
	}
	s, err := plan.Solve(ctx, p, o)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return Row{}, err
	}
	r, loss := c.row(), s.Quality.Loss
	excess := func(of float64) float64 { return (of - loss) / loss }
	r.Nodes, r.Loss, r.LowerBound = p.Network.Graph.Nodes(), loss, s.LowerBound
	r.Gap, r.PlainLoss = s.Gap, cmp.Or(s.PlainLoss, loss)
	r.PlainExcess = excess(r.PlainLoss)
	for _, b := range s.Baselines {
		if b.Name == baselines.DMF {
			r.CentralizedLoss, r.CentralizedExcess = b.Loss, excess(b.Loss)
		}
	}
	r.Seconds = time.Since(started).Seconds()
	return r, nil
}
