package benchmarks

import (
	"context"
	"fmt"
	"math"
	"time"

	"mafalda/factorize"
	"mafalda/factorize/baselines"
	"mafalda/graph"
	"mafalda/internal/rounding"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/workload"
)

// WorkloadCell says which row of the table of workloads is meant, with all that it depends on.
type WorkloadCell struct {
	Graph    string        `json:"graph"`
	SHA256   string        `json:"graph_sha256,omitempty"`
	Digest   string        `json:"network"`
	K        int           `json:"k"`
	B        int           `json:"b"`
	Workload string        `json:"workload"`
	Spec     workload.Spec `json:"workload_spec"`
}

// Seconds is about how long the cell takes on one processor, as of Cell.Seconds.
func (c WorkloadCell) Seconds() float64 { return searchSeconds(c.K * c.B) }

// WorkloadRow is what strategies cost under one workload on one network: losses, sens(C)²·tr(C⁻ᵀHC⁻¹), which are
// squared errors at equal privacy.
type WorkloadRow struct {
	Graph    string        `json:"graph"`
	Nodes    int           `json:"nodes"`
	K        int           `json:"k"`
	B        int           `json:"b"`
	Workload string        `json:"workload"`
	Spec     workload.Spec `json:"workload_spec"`

	Loss       float64 `json:"loss"`        // of the dense optimum for this workload on this network
	LowerBound float64 `json:"lower_bound"` // of the loss of any strategy
	Gap        float64 `json:"gap"`         // between them, relative, rounded up

	// Of the dense optimum for the plain workload on this network, and of that for this optimizer without a network
	// (D-MF): losses, and how far they are above Loss, relative. Below 0 by no more than the gap. There is no
	// centralized one where noise of some steps costs nothing without a network: no strategy attains that optimum. It
	// is 0 then.
	PlainLoss         float64 `json:"plain_strategy_loss"`
	PlainExcess       float64 `json:"plain_strategy_excess"`
	CentralizedLoss   float64 `json:"centralized_loss,omitempty"`
	CentralizedExcess float64 `json:"centralized_excess,omitempty"`

	Seconds float64 `json:"seconds"`
	SHA256  string  `json:"graph_sha256,omitempty"`
}

// workloadCase is a line of the table on a network.
type workloadCase struct {
	Workload
	network *graph.Network
	schema  participation.Cyclic
}

// workloadMeasurer measures cells, and keeps the strategies that they share: of plain training, for every network and
// schema, and the centralized ones, for every optimizer and schema. It is for one goroutine.
type workloadMeasurer struct {
	plain       map[string]strategy.Strategy
	centralized map[string]strategy.Strategy
}

func newWorkloadMeasurer() *workloadMeasurer {
	return &workloadMeasurer{map[string]strategy.Strategy{}, map[string]strategy.Strategy{}}
}

// plainGap is the certified gap of the optimum for plain training: its loss elsewhere is known to about its root.
const plainGap = 1e-8

// measure returns the row of a case. It fails if a Gram matrix or a search fails, or when ctx ends.
func (m *workloadMeasurer) measure(ctx context.Context, cell WorkloadCell, c workloadCase) (WorkloadRow, error) {
	started := time.Now()
	o, best, err := optimumFor(ctx, c.network, c.Spec, c.schema)
	if err != nil {
		return WorkloadRow{}, err
	}
	r := WorkloadRow{Graph: cell.Graph, SHA256: cell.SHA256, Nodes: c.network.Graph.Nodes(), K: cell.K, B: cell.B,
		Workload: c.Name, Spec: c.Spec, Loss: best.Loss, LowerBound: best.LowerBound,
		Gap: rounding.DivUp(best.Loss-best.LowerBound, best.LowerBound)}
	if c.Spec.IsPlain() {
		m.plain[keyOf(cell.Digest, c)] = best.Strategy
	}
	plain, err := cached(m.plain, keyOf(cell.Digest, c), func() (strategy.Strategy, error) {
		return strategyFor(ctx, c.network, c.Spec.Plain(), c.schema)
	})
	if err != nil {
		return r, fmt.Errorf("the strategy of plain training: %w", err)
	}
	if r.PlainLoss, r.PlainExcess, err = excessLoss(best, plain, o, c.schema); err != nil {
		return r, err
	}
	if !c.Spec.HasFreeNoise(c.schema.Steps()) {
		centralized, err := cached(m.centralized, keyOf(c.Spec.Centralized().String(), c), func() (strategy.Strategy, error) {
			return baselines.NewFor(ctx, baselines.DMF, c.Spec, c.schema)
		})
		if err != nil {
			return r, fmt.Errorf("the centralized strategy: %w", err)
		}
		if r.CentralizedLoss, r.CentralizedExcess, err = excessLoss(best, centralized, o, c.schema); err != nil {
			return r, err
		}
	}
	r.Seconds = time.Since(started).Seconds()
	return r, ctx.Err()
}

// keyOf returns what strategies for the case are kept by, besides what they know.
func keyOf(known string, c workloadCase) string {
	return fmt.Sprint(known, " ", c.schema.Participations(), " ", c.schema.Separation())
}

// cached returns what is kept by a key, and makes it if there is nothing.
func cached(all map[string]strategy.Strategy, key string, make func() (strategy.Strategy, error)) (strategy.Strategy,
	error) {
	if s := all[key]; s != nil {
		return s, nil
	}
	s, err := make()
	if err == nil {
		all[key] = s
	}
	return s, err
}

// strategyFor returns the certified optimum for a workload.
func strategyFor(ctx context.Context, n *graph.Network, s workload.Spec, schema participation.Cyclic) (
	strategy.Strategy, error) {
	_, best, err := optimumFor(ctx, n, s, schema)
	if err != nil {
		return nil, err
	}
	return best.Strategy, nil
}

// optimumFor returns the objective of a workload on a network, and its certified optimum. A search that its context
// ended is context.Canceled.
func optimumFor(ctx context.Context, n *graph.Network, s workload.Spec, schema participation.Cyclic) (
	factorize.Objective, *factorize.Result, error) {
	steps := schema.Steps()
	h, err := workload.Gram(ctx, n.Gossip.Matrix(), steps, workload.Options{Spec: s})
	if err != nil {
		return factorize.Objective{}, nil, err
	}
	o := factorize.Mean(h)
	best, err := factorize.Dense{}.Optimize(ctx, o, schema, factorize.Options{Gap: gapFor(s, steps)})
	_, err = completeSearch(best, err)
	return o, best, err
}

// gapFor returns the gap that the optimum for a workload is searched with.
func gapFor(s workload.Spec, steps int) float64 {
	switch {
	case s.IsPlain():
		return math.Max(plainGap, factorize.MinGap(steps))
	case s.HasFreeNoise(steps):
		return factorize.LastStep.DefaultGap() // the last digits take long where noise costs nothing
	}
	return factorize.MeanError.DefaultGap()
}

// excessLoss returns the loss of c, and how far it is above the optimum's, relative.
func excessLoss(best *factorize.Result, c strategy.Strategy, o factorize.Objective, schema participation.Cyclic) (loss,
	excess float64, err error) {
	q, err := factorize.Evaluate(c, o, schema)
	return q.Loss, (q.Loss - best.Loss) / best.Loss, err
}
