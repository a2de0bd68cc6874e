package benchmarks

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/mat"

	"mafalda/accounting"
	"mafalda/factorize"
	"mafalda/factorize/bands"
	"mafalda/factorize/baselines"
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

// Seconds is about how long the cell takes on one processor, without what the graph asks for, within a factor of ten.
func (c Cell) Seconds() float64 { return 5e-8 * math.Pow(float64(c.K*c.B), 3) }

// searchBytes is about how much memory it takes: 60 matrices of T×T.
func searchBytes(steps int) float64 { return 60 * 8 * float64(steps) * float64(steps) }

// Memory is about how many bytes measuring the cells takes.
func (s *Study) Memory() float64 {
	most := 0.0
	for _, c := range s.cells {
		most = max(most, searchBytes(c.K*c.B))
	}
	return most
}

// Cells returns the cells of cases, in the order of the table.
func Cells(cases []Case) []Cell {
	var cells []Cell
	for _, c := range cases {
		for _, name := range Strategies() {
			cells = append(cells, c.cell(name))
		}
	}
	return cells
}

func (c Case) cell(strategy string) Cell {
	return Cell{Graph: c.Graph, SHA256: c.SHA256, Digest: c.Digest, K: c.Schema.Participations(), B: c.Schema.Separation(),
		Strategy: strategy}
}

// A Measurer measures one cell after the other, and keeps what cells share: the optimum of every case, D-MF and noise
// multipliers of every schema, and the Gram matrix and the bands of one case, so that cells are best measured case by
// case.
type Measurer struct {
	levels plan.Privacies
	cases  map[Cell]Case // cases by their dense cells
	dense  map[Cell]Row
	dmf    map[string]strategy.Strategy // D-MF strategies by schema: they know nothing of the network
	noise  bands.Noise

	at    Cell // the dense cell of the case whose Gram matrix is kept
	gram  *mat.SymDense
	bands *bands.Table
}

// NewMeasurer returns one for the cells of cases, at levels of privacy that have been checked.
func NewMeasurer(cases []Case, levels plan.Privacies) *Measurer {
	m := &Measurer{levels: levels, cases: map[Cell]Case{}, dense: map[Cell]Row{},
		dmf: map[string]strategy.Strategy{}, noise: bands.Noise{}}
	for _, c := range cases {
		m.cases[c.cell(Dense)] = c
	}
	return m
}

// Know tells of a row that was measured earlier: the dense ones are what others are compared with.
func (m *Measurer) Know(c Cell, r Row) {
	if c.Strategy == Dense {
		m.dense[c] = r
	}
}

// Measure makes the strategy of a cell and evaluates it. The cell must be one of the cases'. The errors are those
// of making the strategy, and of ctx.
func (m *Measurer) Measure(ctx context.Context, cell Cell) (Row, error) {
	optimum := cell
	optimum.Strategy = Dense
	c, ok := m.cases[optimum]
	if !ok {
		return Row{}, errNoCell
	}
	if m.at != optimum || m.gram == nil {
		h, err := c.Gram(ctx)
		if err != nil {
			return Row{}, err
		}
		table := bands.NewTable(factorize.Mean(h), c.Schema, bands.Options{Gap: sampledBestGap, Noise: m.noise})
		m.at, m.gram, m.bands = optimum, h, table
	}
	dense, err := recall(m.dense, optimum, func() (Row, error) { return m.optimum(ctx, c) })
	if err != nil {
		return Row{}, err
	}
	switch strategy := cell.Strategy; strategy {
	case Dense:
		return dense, nil
	case SampledBest:
		return m.completeSampled(ctx, c.row(strategy), dense, m.bands.Descend)
	case SampledDPDSGD:
		return m.completeSampled(ctx, c.row(strategy), dense,
			func(ctx context.Context, epsilon, delta float64) (bands.Cost, error) {
				return m.bands.At(ctx, 1, epsilon, delta)
			})
	}
	for _, k := range makers(c.Schema) {
		if k.name == cell.Strategy {
			return m.compare(ctx, c, k, dense)
		}
	}
	return Row{}, fmt.Errorf("unknown strategy %q", cell.Strategy)
}

// row returns what a row says of the case.
func (c Case) row(strategy string) Row {
	return Row{Graph: c.Graph, SHA256: c.SHA256, K: c.Schema.Participations(), B: c.Schema.Separation(),
		Strategy: strategy, StrategyRow: new(StrategyRow)}
}

// optimum measures the certified optimum.
func (m *Measurer) optimum(ctx context.Context, c Case) (Row, error) {
	started := time.Now()
	best, err := factorize.Dense{}.Optimize(ctx, factorize.Mean(m.gram), c.Schema, factorize.Options{})
	if _, err = completeSearch(best, err); err != nil {
		return Row{}, err
	}
	r := c.row(Dense)
	r.measure(best.Strategy, best.Quality, time.Since(started))
	r.Ratio, r.LowerBound = 1, best.LowerBound
	return m.completeCyclic(r)
}

// compare measures a strategy beside the optimum.
func (m *Measurer) compare(ctx context.Context, c Case, k maker, dense Row) (Row, error) {
	started := time.Now()
	made := m.dmf
	if k.name != baselines.DMF {
		made = map[string]strategy.Strategy{} // it knows the network
	}
	s, err := recall(made, c.Schema.String(), func() (strategy.Strategy, error) {
		s, err := k.make(ctx, m.gram, c.Schema)
		return s, cmp.Or(err, ctx.Err())
	})
	if err != nil {
		return Row{}, err
	}
	took := time.Since(started)
	q, err := factorize.Evaluate(s, factorize.Mean(m.gram), c.Schema)
	if err != nil {
		return Row{}, err
	}
	r := c.row(k.name)
	r.measure(s, q, took)
	r.Ratio, r.LowerBound = r.Loss/dense.Loss, dense.LowerBound
	return m.completeCyclic(r)
}

// completeSampled completes the row of strategies for batches that are drawn in secret, beside the optimum.
func (m *Measurer) completeSampled(ctx context.Context, r, dense Row,
	of func(ctx context.Context, epsilon, delta float64) (bands.Cost, error)) (Row, error) {
	started := time.Now()
	for _, epsilon := range m.levels.Epsilons {
		cost, err := of(ctx, epsilon, m.levels.Delta)
		if err != nil {
			return Row{}, err
		}
		optimum, err := m.errorInTurn(dense.Loss, epsilon)
		if err != nil {
			return Row{}, err
		}
		r.AtPrivacy = append(r.AtPrivacy, plan.SecretCost(cost, epsilon, m.levels.Delta, optimum))
		r.MemoryFloats = max(r.MemoryFloats, cost.Bandwidth-1)
	}
	r.Seconds = time.Since(started).Seconds()
	return r, nil
}

// errorInTurn returns the squared error of a strategy of this loss with the noise for ε, in units of the clip, where batches
// are visited in turn: loss/μ², the noise rounded up. It fails as accounting.Calibrate does.
func (m *Measurer) errorInTurn(loss, epsilon float64) (float64, error) {
	p, err := accounting.Calibrate(accounting.Target{Epsilon: epsilon, Delta: m.levels.Delta}, 1, 1, accounting.ZeroOut)
	return p.NoiseStd * p.NoiseStd * loss, err
}

// completeCyclic completes a row for batches in turn, whose ratio to the optimum is the same at every level.
func (m *Measurer) completeCyclic(r Row) (Row, error) {
	for _, epsilon := range m.levels.Epsilons {
		e, err := m.errorInTurn(r.Loss, epsilon)
		if err != nil {
			return r, err
		}
		r.AtPrivacy = append(r.AtPrivacy, plan.AtPrivacy{Epsilon: epsilon, Delta: m.levels.Delta, Error: e, Ratio: r.Ratio})
	}
	return r, nil
}

// recall returns what is kept by a key, and makes it if there is nothing.
func recall[K comparable, V any](all map[K]V, key K, make func() (V, error)) (V, error) {
	if v, known := all[key]; known {
		return v, nil
	}
	v, err := make()
	if err == nil {
		all[key] = v
	}
	return v, err
}
