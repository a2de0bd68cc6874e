package threat

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
	"mafalda/internal/lists"
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
	made := map[bool][][]float64{} // by whether a node misses the step
	local := lists.Map(nodes, func(v int) [][]float64 {
		misses := r.first && tr.course.misses(r.step, v)
		if made[misses] == nil && r.first {
			made[misses] = tr.step(r.step, misses)
		} else if made[misses] == nil {
			made[misses] = tr.still()
		}
		return made[misses]
	})
	var view sight
	if r.network != nil {
		view = tr.sights.at(r.network)
	}
	identity := picking(nodes, nodes)
	averages, seen := slices.Repeat([]*mat.Dense{identity}, tr.size), make([]*mat.Dense, tr.size)
	for _, p := range tr.gossiped() {
		seen[p] = view.h
		if view.after != nil {
			averages[p] = view.after
		}
	}
	out := &stage{}
	var noise, seenNoise *mat.Dense
	out.f, out.e, noise = tr.sums(local, averages)
	out.q = mat.NewSymDense(n*tr.size, nil)
	if r.first {
		out.q = symmetric(mulT(noise, noise))
	}
	if view.h != nil {
		out.c, out.d, seenNoise = tr.sums(local, seen)
		out.r, out.x = symmetric(mulT(seenNoise, seenNoise)), mulT(noise, seenNoise)
	}
	if !r.first {
		out.e, out.d = nil, nil
		return out
	}
	// without the columns of attackers, whose gradients are known
	victims := lists.Map(tr.sights.victims, func(v int) int { return slices.Index(nodes, v) })
	out.e, out.d = pick(out.e, victims), pick(out.d, victims)
	return out
}

// sums returns weighted sums over the nodes of what each makes of its numbers (local, of layout.step), as rows of the state,
// the gradients and the noise: of number p a row for each row of weights[p], and none for nil.
func (tr *trained) sums(local [][][]float64, weights []*mat.Dense) (state, gradients, noise *mat.Dense) {
	n, total := len(local), 0
	for _, w := range weights {
		if w != nil {
			total += w.RawMatrix().Rows
		}
	}
	state, gradients, noise = mat.NewDense(total, n*tr.size, nil), mat.NewDense(total, n, nil), mat.NewDense(total, n, nil)
	row := 0
	for p, w := range weights {
		for i := 0; w != nil && i < w.RawMatrix().Rows; i++ {
			for j, weight := range w.RawRowView(i) {
				if weight == 0 {
					continue
				}
				from := local[j][p]
				for q, x := range from[:tr.size] {
					if x != 0 {
						state.Set(row, q*n+j, weight*x)
					}
				}
				gradients.Set(row, j, weight*from[tr.size])
				noise.Set(row, j, weight*from[tr.size+1])
			}
			row++
		}
	}
	return state, gradients, noise
}
