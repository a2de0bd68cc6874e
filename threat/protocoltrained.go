package threat

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/workload"
)

// runTrained is run with a Training: the recursion is workload.State, which simulations run, too.
func (p *protocol) runTrained(ctx context.Context) error {
	width := p.source.width()
	state, err := workload.NewState[float64](p.course.spec, p.steps, p.n, width, 1)
	if err != nil {
		return err
	}
	waiting := make([][]float64, p.n) // rows of noise that were not sent
	for t := range p.steps {
		noisy := make([]float64, 0, p.n*width)
		for v := range p.n {
			if err := ctx.Err(); err != nil {
				return context.Cause(ctx)
			}
			noisy = append(noisy, p.noisyGradient(t, v, waiting)...)
		}
		state.Descend(noisy, p.course.networks)
		messages := []*mat.Dense{mat.DenseCopyOf(mat.NewDense(p.n, width, state.Models()))}
		if y := state.Trackers(); y != nil {
			messages = append(messages, mat.DenseCopyOf(mat.NewDense(p.n, width, y)))
		}
		for _, network := range p.course.exchanges(t) {
			if err := ctx.Err(); err != nil {
				return context.Cause(ctx)
			}
			w := network.ToDense()
			for i, m := range messages {
				next := mul(w, m)
				p.see(w, m, next, t)
				messages[i] = next
			}
		}
		state.Gossip(p.course.networks)
		p.ended()
	}
	p.knowThemselves()
	return nil
}

// noisyGradient returns what node v takes for its gradient in step t: nothing if it misses the step.
func (p *protocol) noisyGradient(t, v int, waiting [][]float64) []float64 {
	row := make([]float64, p.source.width())
	p.addNoise(row, t, v)
	if waiting[v] != nil {
		floats.Add(row, waiting[v])
		waiting[v] = nil
	}
	if p.course.misses(t, v) {
		if p.course.spec.Carry {
			waiting[v] = slices.Clone(row)
		}
		clear(row)
		return row
	}
	floats.AddScaled(row, p.algorithm.part(v), p.source.gradient(t, v))
	return row
}
