package benchmarks

import (
	"context"
	"errors"
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

// workloadCase is a line of the table on a network.
type workloadCase struct {
	Workload
	network *graph.Network
	schema  participation.Cyclic
}

// workloadMeasurer measures cells, and keeps the strategies that they share: of plain training, for every network and
// schema, and the centralized ones, for every optimizer and schema. It is for one goroutine.
type workloadMeasurer struct {
	cases       map[string]workloadCase // by the texts of their cells
	plain       map[string]strategy.Strategy
	centralized map[string]strategy.Strategy
}

func newWorkloadMeasurer() *workloadMeasurer {
	return &workloadMeasurer{map[string]workloadCase{}, map[string]strategy.Strategy{}, map[string]strategy.Strategy{}}
}

// errNoCell is about a cell of another study.
var errNoCell = errors.New("it is no cell of these cases")

// plainGap is the certified gap of the optimum for plain training: its loss elsewhere is known to about its root.
const plainGap = 1e-8

// Measure returns the row of a cell of the cases. It fails if a Gram matrix or a search fails, or when ctx ends.
func (m *workloadMeasurer) Measure(ctx context.Context, cell Cell) (Row, error) {
	c, ok := m.cases[cell.text()]
	if !ok {
		return Row{}, errNoCell
	}
	started := time.Now()
	o, best, err := optimumFor(ctx, c.network, c.Spec, c.schema)
	if err != nil {
		return Row{}, err
	}
	r := Row{Graph: cell.Graph, SHA256: cell.SHA256, Nodes: c.network.Graph.Nodes(), K: cell.K, B: cell.B,
		Workload: c.Name, Spec: &c.Spec, Loss: best.Loss, LowerBound: best.LowerBound,
		WorkloadRow: &WorkloadRow{Gap: rounding.DivUp(best.Loss-best.LowerBound, best.LowerBound)}}
	if c.Spec.IsPlain() {
		m.plain[keyOf(cell.Digest, c)] = best.Strategy
	}
	plain, err := cached(m.plain, keyOf(cell.Digest, c), func() (strategy.Strategy, error) {
		_, best, err := optimumFor(ctx, c.network, c.Spec.Plain(), c.schema)
		if err != nil {
			return nil, err
		}
		return best.Strategy, nil
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
func cached[K comparable, V any](all map[K]V, key K, make func() (V, error)) (V, error) {
	if v, known := all[key]; known {
		return v, nil
	}
	v, err := make()
	if err == nil {
		all[key] = v
	}
	return v, err
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
