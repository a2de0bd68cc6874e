package canaries

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/graph"
	"mafalda/internal/lists"
	"mafalda/workload"
)

// view returns what an attacker received, less what it knows: its own messages and what they became. With r_t the
// difference between the messages of the other nodes and what they would be without the others' gradients and noise,
//
//	r_t = W' r_(t-1) - η_t D⁻¹ u_t,   u_t = g_t + ν C⁻¹Z_t + β u_(t-1),   r_(-1) = 0
//
// W' the gossip matrix without the attacker, D the sizes that sums are divided by. The attacker sees rows of r_t, one
// for each node that it hears. As in an account, hidden nodes are taken to give gradients that do not depend on
// models.
func view(ctx context.Context, e *export.Export, r *Run, victim string) (*observed, error) {
	var spec workload.Spec
	if given := e.Manifest.WorkloadSpec; given != nil {
		spec = *given
		spec.Weights, spec.LearningRates, spec.Momentum = workload.Weights{}, workload.Schedule{}, 0 // a run says them
	}
	matrices, err := e.Gossip()
	switch {
	case err != nil:
		return nil, err
	case e.Manifest.Space != nil:
		return nil, unfit("the nodes share noise: views of single attackers are audited where every node has its own")
	case !spec.IsPlain():
		return nil, unfit("views of attackers are audited of SGD, with momentum or without, on a network that stays, " +
			"with one round of gossip after every step")
	case len(matrices) != 1:
		return nil, unfit("the export has no gossip matrix: what reaches an attacker is not known")
	}
	labels, err := e.NodeLabels()
	if err != nil {
		return nil, err
	}
	nodes, attacker, at := len(labels), slices.Index(labels, r.Node), slices.Index(labels, victim)
	if attacker < 0 || at < 0 {
		return nil, unfit("the run is of node %q and the coins of node %q, and the export has not both", r.Node, victim)
	}
	var seen []int
	w := mat.NewDense(nodes, nodes, nil)
	matrices[0].DoNonZero(func(i, j int, v float64) {
		w.Set(i, j, v)
		if i == attacker && j != attacker {
			seen = append(seen, j)
		}
	})
	heard := lists.Map(seen, func(v int) string { return labels[v] })
	switch {
	case !slices.Equal(heard, r.Seen):
		return nil, unfit("node %q hears %q, and the run has messages of %q", r.Node, heard, r.Seen)
	case r.Steps*len(seen) > maxRows:
		return nil, unfit("%d messages: views of up to %d are audited", r.Steps*len(seen), maxRows)
	}
	for i, l := range labels {
		if i != attacker && !(r.Sizes[l] > 0) {
			return nil, unfit("the run does not say what node %q divides its sums by", l)
		}
	}
	rows := r.Steps * len(seen)
	covariance := mat.NewSymDense(rows, nil)
	var moved *mat.Dense
	for v := range nodes {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if v == attacker {
			continue
		}
		response := r.response(matrices[0], attacker, seen, v, r.Sizes[labels[v]])
		inverse, deviation, err := noiseOf(e, labels[v])
		if err != nil {
			return nil, err
		}
		var own mat.SymDense // noise of the node, in what is seen
		own.SymOuterK(deviation*deviation, multiply(response, inverse))
		covariance.AddSym(covariance, &own)
		if v == at {
			moved = response
		}
	}
	whitening, err := inverseRoot(covariance)
	if err != nil {
		return nil, err
	}
	return &observed{
		rows: rows, whitening: whitening, layers: r.Layers, dim: r.Dim,
		design: func(row []float64, taken []int) {
			for _, t := range taken {
				for i := range row {
					row[i] += moved.At(i, t)
				}
			}
		},
		read: func(dst []float32, from, width int) error { return r.received(dst, w, attacker, seen, from, width) },
	}, nil
}

// response returns how the messages of seen nodes, step by step, move with the sums of node v in each step, beside what
// the attacker passes on.
func (r *Run) response(w *graph.CSR, attacker int, seen []int, v int, size float64) *mat.Dense {
	nodes, _ := w.Dims()
	m := mat.NewDense(r.Steps*len(seen), r.Steps, nil)
	for s := range r.Steps {
		now, next, momentum := make([]float64, nodes), make([]float64, nodes), 1.0
		for t := s; t < r.Steps; t++ {
			w.MulVecTo(next, false, now)
			next[attacker] = 0
			next[v] -= r.Rates[t] * momentum / size
			now, next, momentum = next, now, momentum*r.Momentum
			for i, u := range seen {
				m.Set(t*len(seen)+i, s, now[u])
			}
		}
	}
	return m
}

// received writes columns from … of r_t to dst: a row for every step and seen node.
func (r *Run) received(dst []float32, w *mat.Dense, attacker int, seen []int, from, width int) error {
	nodes, _ := w.Dims()
	known, next := mat.NewDense(nodes, width, nil), mat.NewDense(nodes, width, nil)
	row := make([]float32, width)
	read := func(number int) error {
		if err := r.read(row, number, from); err != nil {
			return err
		}
		return r.finite(row, number, from)
	}
	if err := read(0); err != nil {
		return err
	}
	for i := range nodes {
		for j, v := range row {
			known.Set(i, j, float64(v))
		}
	}
	for t := range r.Steps { // known are models now, and messages without the others' gradients
		first := 1 + t*(1+len(seen))
		if err := read(first); err != nil {
			return err
		}
		for j, v := range row {
			known.Set(attacker, j, float64(v))
		}
		for i, u := range seen {
			if err := read(first + 1 + i); err != nil {
				return err
			}
			for j, v := range row {
				dst[(t*len(seen)+i)*width+j] = float32(float64(v) - known.At(u, j))
			}
		}
		next.Mul(w, known)
		known, next = next, known
	}
	return nil
}
