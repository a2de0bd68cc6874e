package benchmarks

import (
	"cmp"
	"context"
	"errors"
	"math"
	"time"

	"mafalda/factorize"
	"mafalda/factorize/baselines"
	"mafalda/graph"
	"mafalda/participation"
	"mafalda/plan"
)

// workloadCase is a line of the table on a network.
type workloadCase struct {
	Workload
	network *graph.Network
	schema  participation.Cyclic
}

// workloadMeasurer has the cases by the texts of their cells.
type workloadMeasurer map[string]workloadCase

// errNoCell is about a cell of another study.
var errNoCell = errors.New("it is no cell of these cases")

// plainGap is the certified gap of the optimum for plain training.
const plainGap = 1e-8

// Measure returns the row of a cell of the cases: what plan.Solve says. It fails as that does, or when ctx ends.
func (m workloadMeasurer) Measure(ctx context.Context, cell Cell) (Row, error) {
	c, ok := m[cell.text()]
	if !ok {
		return Row{}, errNoCell
	}
	started, o := time.Now(), plan.Options{}
	if c.Spec.IsPlain() {
		o.Tolerance = math.Max(plainGap, factorize.MinGap(c.schema.Steps()))
	}
	s, err := plan.Solve(ctx, plan.Problem{Network: c.network, Workload: c.Spec, Schema: c.schema}, o)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return Row{}, err
	}
	loss := s.Quality.Loss
	excess := func(of float64) float64 { return (of - loss) / loss }
	r := Row{Graph: cell.Graph, SHA256: cell.SHA256, Nodes: c.network.Graph.Nodes(), K: cell.K, B: cell.B,
		Workload: c.Name, Spec: &c.Spec, Loss: loss, LowerBound: s.LowerBound,
		WorkloadRow: &WorkloadRow{Gap: s.Gap, PlainLoss: cmp.Or(s.PlainLoss, loss)}}
	r.PlainExcess = excess(r.PlainLoss)
	for _, b := range s.Baselines {
		if b.Name == baselines.DMF {
			r.CentralizedLoss, r.CentralizedExcess = b.Loss, excess(b.Loss)
		}
	}
	r.Seconds = time.Since(started).Seconds()
	return r, nil
}
