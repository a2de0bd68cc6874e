package threat

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
	"mafalda/internal/lists"
)

// stages makes the stages of a run whose noise has little memory: a round of gossip each, the first of a step together with
// the step itself, and steps without gossip alone. The state is what the nodes of sights keep (layout), number by number;
// of a number that is sent it is the message, of the nodes that are not always seen, and the next round averages.
type stages struct {
	*layout
	*sights
	rounds     []round
	hidden     []int         // places of the nodes that are not seen in every round
	covariance *mat.SymDense // the covariance of the nodes' noise in a step; nil: the unit matrix
	last       map[bool]made // the last stage with gradients, and without
}

// round is a stage of training.
type round struct {
	step    int
	network *graph.CSR // nil: no gossip
	first   bool       // the step's gradients come in
}

// made is a stage, and what it was made of.
type made struct {
	before, now *graph.CSR
	local       [][]float64
	stage       *stage
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

// build returns the system of the view of an attacker who does not see all messages, reduced by what it knows: the
// attackers' gradients and noise, and messages it sees, are no part of the state (the package comment derives it).
func (s Scenario) build() (*system, error) {
	a := s.Algorithm
	if a.zip {
		return buildZip(s.Gossip, s.Attacker, s.steps()), nil
	}
	c, err := s.course()
	if err != nil {
		return nil, err
	}
	all := &stages{layout: c.layout(a.filter), sights: newSights(s.nodes(), s.Attacker), rounds: c.rounds(), last: map[bool]made{}}
	if noise := a.drawn(s.Gossip); len(noise.Pairs) > 0 || a.alone != 1 {
		all.covariance, _ = noise.Unknown(slices.DeleteFunc(lists.UpTo(s.nodes()), func(v int) bool {
			return slices.Contains(all.nodes, v)
		}))
	}
	all.hidden = all.neverSure()
	return &system{steps: c.steps, rounds: len(all.rounds), victims: all.victims, stage: all.stage,
		degenerate: !c.fresh() || a.alone == 0, scaled: a.training != nil || a.levels != nil}, nil
}

// neverSure returns the places of the nodes that are not seen in some round.
func (all *stages) neverSure() []int {
	unseen := make([]bool, len(all.nodes))
	for _, r := range all.rounds {
		seen := all.at(r.network).seen
		for i, v := range all.nodes {
			unseen[i] = unseen[i] || !slices.Contains(seen, v)
		}
	}
	return slices.DeleteFunc(lists.UpTo(len(unseen)), func(i int) bool { return !unseen[i] })
}

// stage returns the stage of a round.
func (all *stages) stage(i int) *stage {
	r := all.rounds[i]
	var before *graph.CSR
	if i > 0 {
		before = all.rounds[i-1].network
	}
	local := all.still()
	if r.first {
		local = all.step(r.step, false)
	}
	last := all.last[r.first]
	if all.course.missed != nil || last.stage == nil || last.before != before || last.now != r.network ||
		!slices.EqualFunc(last.local, local, floats.Equal) {
		last = made{before, r.network, local, all.make(r, before, local)}
		all.last[r.first] = last
	}
	return last.stage
}

// make makes the stage of a round after gossip over a network, local what nodes make of their numbers in it.
func (all *stages) make(r round, before *graph.CSR, local [][]float64) *stage {
	missing := local
	if r.first && all.course.missed != nil {
		missing = all.step(r.step, true)
	}
	each := lists.Map(all.nodes, func(v int) [][]float64 {
		if all.course.misses(r.step, v) {
			return missing
		}
		return local
	})
	sight := all.at(r.network)
	keeps, seen := slices.Repeat([]*mat.Dense{picking(all.nodes, all.nodes)}, all.size), make([]*mat.Dense, all.size)
	for p := range all.sent {
		keeps[p], seen[p] = zeros(len(all.hidden), len(all.nodes)), sight.h
		for row, i := range all.hidden {
			if !slices.Contains(sight.seen, all.nodes[i]) {
				keeps[p].Set(row, i, 1)
			}
		}
	}
	out := &stage{}
	var noise *mat.Dense
	if out.f, out.e, noise = all.sums(each, keeps, before); noise != nil {
		out.q = symmetric(mulT(all.weighed(noise), noise))
	}
	if c, d, n := all.sums(each, seen, before); n != nil {
		out.c, out.d, out.r = c, d, symmetric(mulT(all.weighed(n), n))
		if noise != nil {
			out.x = mulT(all.weighed(noise), n)
		}
	}
	if !r.first {
		out.e, out.d = nil, nil
		return out
	}
	// without the columns of attackers, whose gradients are known
	victims := lists.Map(all.victims, func(v int) int { return slices.Index(all.nodes, v) })
	out.e, out.d = pick(out.e, victims), pick(out.d, victims)
	return out
}

// hiddenNodes returns the nodes that are not seen in every round.
func (all *stages) hiddenNodes() []int {
	return lists.Map(all.hidden, func(i int) int { return all.nodes[i] })
}

// weighed returns noise times its covariance.
func (all *stages) weighed(noise *mat.Dense) *mat.Dense {
	if all.covariance == nil {
		return noise
	}
	return mul(noise, all.covariance)
}

// sums returns weighted sums over the nodes of what each makes of its numbers (local, of layout.step), as rows of the
// state, the gradients and the noise: of number p a row for each row of weights[p], and none for nil. The state is that
// before gossip over a network.
func (all *stages) sums(local [][][]float64, weights []*mat.Dense, before *graph.CSR) (state, gradients, noise *mat.Dense) {
	averages := picking(all.nodes, all.hiddenNodes())
	if before != nil {
		averages = part(before, all.nodes, all.hiddenNodes())
	}
	for q := range all.size + 2 {
		var sums *mat.Dense
		for p, w := range weights {
			if w == nil {
				continue
			}
			rows := mat.DenseCopyOf(w)
			rows.Apply(func(_, j int, weight float64) float64 { return weight * local[j][p][q] }, rows)
			if sums == nil {
				sums = rows
				continue
			}
			above := sums
			sums = new(mat.Dense)
			sums.Stack(above, rows)
		}
		switch {
		case q == all.size:
			gradients = sums
		case q > all.size:
			noise = sums
		case q < all.sent:
			state = joinColumns(state, mulOrNil(sums, averages))
		default:
			state = joinColumns(state, sums)
		}
	}
	return state, gradients, noise
}
