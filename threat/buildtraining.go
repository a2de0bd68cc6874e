package threat

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
)

// trained makes the stages of training: a round of gossip each, the first of a step together with the step itself, and
// steps without gossip alone. The state is what layout keeps, for all nodes of sights: (number, node).
type trained struct {
	*layout
	sights *sights
	rounds []round
}

// round is a stage of training.
type round struct {
	step    int
	network *graph.CSR // nil: no gossip
	first   bool       // with the gradients of the step
}

// rounds returns the rounds of the whole run, in order.
func (c *course) rounds() []round {
	var all []round
	for t := range c.steps {
		first := round{step: t, first: true}
		exchanges := c.exchanges(t)
		if exchanges == nil {
			all = append(all, first)
		}
		for i, w := range exchanges {
			all = append(all, round{t, w, i == 0})
		}
	}
	return all
}

// buildTrained is build for algorithms with a Training, under PNDP.
func (s Scenario) buildTrained() (*system, error) {
	c, err := s.course()
	if err != nil {
		return nil, err
	}
	tr := &trained{c.layout(s.Algorithm.filter), newSights(s.nodes(), s.Attacker), c.rounds()}
	return &system{steps: c.steps, rounds: len(tr.rounds), victims: tr.sights.victims, stage: tr.stage,
		degenerate: !c.fresh(), scaled: true}, nil
}

// stage returns the stage of a round.
func (tr *trained) stage(i int) *stage {
	r, nodes := tr.rounds[i], tr.sights.nodes
	n := len(nodes)
	local := make([][][]float64, n)
	var present, missing [][]float64
	for j, v := range nodes {
		which := &present
		if r.first && tr.course.misses(r.step, v) {
			which = &missing
		}
		if *which == nil {
			*which = tr.still()
			if r.first {
				*which = tr.step(r.step, which == &missing)
			}
		}
		local[j] = *which
	}
	var view sight
	if r.network != nil {
		view = tr.sights.at(r.network)
	}
	b := bank{layout: tr.layout, local: local, n: n}
	out := &stage{}
	var noise, seenNoise *mat.Dense
	out.f, out.e, noise = b.move(view.after)
	out.q = mat.NewSymDense(n*tr.size, nil)
	if r.first {
		out.q = symmetric(mulT(noise, noise))
	}
	if view.h != nil {
		out.c, out.d, seenNoise = b.see(view.h)
		out.r, out.x = symmetric(mulT(seenNoise, seenNoise)), mulT(noise, seenNoise)
	}
	if !r.first {
		out.e, out.d = nil, nil
		return out
	}
	out.e = tr.ofVictims(out.e)
	if out.d != nil {
		out.d = tr.ofVictims(out.d)
	}
	return out
}

// ofVictims leaves out the columns of attackers, whose gradients are known.
func (tr *trained) ofVictims(m *mat.Dense) *mat.Dense {
	nodes, victims := tr.sights.nodes, tr.sights.victims
	if len(nodes) == len(victims) {
		return m
	}
	rows, _ := m.Dims()
	out := zeros(rows, len(victims))
	for j, v := range victims {
		out.SetCol(j, mat.Col(nil, slices.Index(nodes, v), m))
	}
	return out
}

// bank is all nodes with what each makes of its numbers.
type bank struct {
	*layout
	local [][][]float64 // of every node: see layout.step
	n     int
}

// move returns the state's next value, as rows of the state, the gradients and the noise, after a round of gossip with
// these averages; nil: without one.
func (b *bank) move(after *mat.Dense) (state, gradients, noise *mat.Dense) {
	size := b.n * b.size
	state, gradients, noise = mat.NewDense(size, size, nil), mat.NewDense(size, b.n, nil), mat.NewDense(size, b.n, nil)
	gossiped := b.gossiped()
	for p := range b.size {
		for i := range b.n {
			row := p*b.n + i
			if after == nil || !slices.Contains(gossiped, p) {
				b.add(state, gradients, noise, entry{row, p, i, 1})
				continue
			}
			for j, weight := range after.RawRowView(i) {
				b.add(state, gradients, noise, entry{row, p, j, weight})
			}
		}
	}
	return state, gradients, noise
}

// see is move for what is seen.
func (b *bank) see(h *mat.Dense) (state, gradients, noise *mat.Dense) {
	seen, _ := h.Dims()
	gossiped := b.gossiped()
	size := seen * len(gossiped)
	state, gradients, noise = mat.NewDense(size, b.n*b.size, nil), mat.NewDense(size, b.n, nil), mat.NewDense(size, b.n, nil)
	for k, p := range gossiped {
		for i := range seen {
			for j, weight := range h.RawRowView(i) {
				b.add(state, gradients, noise, entry{k*seen + i, p, j, weight})
			}
		}
	}
	return state, gradients, noise
}

// entry is the place of number p of node j in a row.
type entry struct {
	row, p, j int
	weight    float64
}

func (b *bank) add(state, gradients, noise *mat.Dense, e entry) {
	if e.weight == 0 {
		return
	}
	from := b.local[e.j][e.p]
	for q := range b.size {
		if from[q] != 0 {
			state.Set(e.row, q*b.n+e.j, e.weight*from[q])
		}
	}
	gradients.Set(e.row, e.j, e.weight*from[b.size])
	noise.Set(e.row, e.j, e.weight*from[b.size+1])
}
