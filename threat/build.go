package threat

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
	"mafalda/internal/lists"
	"mafalda/secrets"
	"mafalda/strategy"
	"mafalda/threat/reaction"
)

// build returns the system of an attacker's view, reduced by what it knows: the attackers' gradients and noise, and
// messages it sees, are no part of the state (docs/threat-models.md derives it).
func (s Scenario) build() (*system, error) {
	a, steps := s.Algorithm, s.steps()
	if steps < 1 {
		return nil, fmt.Errorf("an attacker's view of %d steps", steps)
	}
	if a.training != nil && !s.Attacker.Trust.Public() {
		return s.buildTrained()
	}
	if a.zip {
		return buildZip(s.Gossip, s.Attacker, steps), nil
	}
	p := s.pieces()
	p.covariance = a.covariance(s.Gossip, p.nodes)
	sys := &system{steps: steps, rounds: steps * a.rounds, victims: p.victims, degenerate: a.rounds > 1 || a.alone == 0,
		scaled: a.levels != nil}
	if a.filter != nil {
		sys.stage = func(i int) *stage { return p.stage(a.filter, i) }
		return sys, nil
	}
	first, later := p.stage(nil, 0), p.silent()
	sys.stage = func(i int) *stage {
		if i%a.rounds == 0 {
			return first
		}
		return later
	}
	return sys, nil
}

// pieces say how messages of the nodes that the attacker does not know completely come about and are seen:
//
//	m = J x + g + noise,     y = H m,     x' = G m.
type pieces struct {
	nodes      []int         // whose messages m are
	victims    []int         // nodes without the attackers
	j          *mat.Dense    // nodes×state, nil without a state
	h          *mat.Dense    // seen×nodes, nil if nothing is seen
	g          *mat.Dense    // state×nodes
	covariance *mat.SymDense // of the noise in m, nodes×nodes
}

// pieces returns the pieces of the attacker's view, without the covariance.
func (s Scenario) pieces() *pieces {
	if s.Attacker.SecureSummation {
		return summedView(s.Gossip, s.Attacker)
	}
	return plainView(s.Gossip, s.Attacker)
}

// plainView is the view of single messages: state is the last message of unseen nodes.
func plainView(w *graph.CSR, a Attacker) *pieces {
	seen, unseen := a.view(w)
	nodes := slices.Concat(seen, unseen)
	return &pieces{nodes: nodes, victims: nodes, h: picking(seen, nodes), g: picking(unseen, nodes),
		j: part(w, nodes, unseen)}
}

// summedView is the view under secure summation: state is the average that a node starts a step from. If the attackers
// forget their own noise they are nodes as the others, but for their gradients, and see the averages in their own
// messages.
func summedView(w *graph.CSR, a Attacker) *pieces {
	n, _ := w.Dims()
	all := newSights(n, a)
	view := all.at(w)
	return &pieces{nodes: all.nodes, victims: all.victims, h: view.h, g: view.after, j: picking(all.nodes, all.nodes)}
}

// independentRows returns an orthonormal basis of the rows of a, nil if there is none: the attacker learns the same
// from it.
func independentRows(a *mat.Dense) *mat.Dense {
	if a == nil {
		return nil
	}
	rows, cols := a.Dims()
	var basis [][]float64
	for i := range rows {
		v := slices.Clone(a.RawRowView(i))
		before := floats.Norm(v, 2)
		for range 2 { // twice is enough
			for _, u := range basis {
				floats.AddScaled(v, -floats.Dot(u, v), u)
			}
		}
		if after := floats.Norm(v, 2); after > 1e-13*before {
			floats.Scale(1/after, v)
			basis = append(basis, v)
		}
	}
	if basis == nil {
		return nil
	}
	return mat.NewDense(len(basis), cols, slices.Concat(basis...))
}

// covariance returns the covariance of one step's fresh noise in the messages of the nodes. Of the noise that
// neighbours share, what is on an edge to another node is known to the attacker.
func (a Algorithm) covariance(w *graph.CSR, nodes []int) *mat.SymDense {
	if len(nodes) == 0 {
		return nil
	}
	at := lists.Places(nodes)
	s := mat.NewSymDense(len(nodes), nil)
	for i := range nodes {
		s.SetSym(i, i, a.alone*a.alone)
	}
	for _, p := range a.pairs(w) {
		i, known := at[p.U]
		j, both := at[p.V]
		if !known || !both {
			continue
		}
		variance := p.Deviation * p.Deviation
		s.SetSym(i, i, s.At(i, i)+variance)
		s.SetSym(j, j, s.At(j, j)+variance)
		s.SetSym(i, j, s.At(i, j)-variance)
	}
	return s
}

// pairs returns the nodes that share noise, and how much: those of an export's space, or all neighbours.
func (a Algorithm) pairs(w *graph.CSR) (pairs []secrets.Shared) {
	if a.space != nil {
		return a.space.noise.Pairs
	}
	w.DoNonZero(func(i, j int, v float64) {
		if a.shared > 0 && v != 0 && (i < j || i > j && w.At(j, i) == 0) {
			pairs = append(pairs, secrets.Shared{Pair: secrets.Pair{U: min(i, j), V: max(i, j)}, Deviation: a.shared})
		}
	})
	return pairs
}

// stage is the round of a step in which gradients come in.
func (p *pieces) stage(f strategy.Filter, t int) *stage {
	made, kept := []float64{1}, [][]float64(nil) // fresh noise, and what is kept for it
	if f != nil {
		made, kept = reaction.FilterStep(f, t)
	}
	memory := len(kept)
	delta := made[memory]
	n := len(p.nodes)
	states := 0
	if p.g != nil {
		states, _ = p.g.Dims()
	}
	all := states + n*memory
	// m = from·(x, p) + g + δ·z, and (x', p') = into·m-part + memory
	from, into := zeros(n, all), zeros(all, n)
	next, noise := zeros(all, all), zeros(all, n) // noise of (x', p'), as a combination of z
	for i := range n {
		for s := range states {
			from.Set(i, s, p.j.At(i, s))
			into.Set(s, i, p.g.At(s, i))
			noise.Set(s, i, delta*p.g.At(s, i))
		}
		for k := range memory {
			from.Set(i, states+i*memory+k, made[k])
			noise.Set(states+i*memory+k, i, kept[k][memory])
			for l := range memory {
				next.Set(states+i*memory+k, states+i*memory+l, kept[k][l])
			}
		}
	}
	out := &stage{}
	gradients := picking(p.nodes, p.victims) // the victims' gradients in the nodes' messages
	if all > 0 {
		next.Add(next, mul(into, from))
		out.f, out.e = next, mul(into, gradients)
		out.q = symmetric(mul(mul(noise, p.covariance), noise.T()))
	}
	if p.h == nil {
		return out
	}
	seen := mat.DenseCopyOf(p.h)
	seen.Scale(delta, seen)
	out.d = mul(p.h, gradients)
	out.r = symmetric(mul(mul(seen, p.covariance), seen.T()))
	if all > 0 {
		out.c = mul(p.h, from)
		out.x = mul(mul(noise, p.covariance), seen.T())
	}
	return out
}

// silent is a round in which messages are averaged once more, without gradient and noise.
func (p *pieces) silent() *stage {
	s := p.stage(nil, 0)
	s.e, s.d = nil, nil
	for _, m := range []*mat.SymDense{s.q, s.r} {
		if m != nil {
			m.Zero()
		}
	}
	if s.x != nil {
		s.x.Zero()
	}
	return s
}

// picking returns the matrix with a 1 where a row and a column are of the same number, nil if it is empty.
func picking(rows, columns []int) *mat.Dense {
	m, at := zeros(len(rows), len(columns)), lists.Places(columns)
	for i, v := range rows {
		if j, there := at[v]; there {
			m.Set(i, j, 1)
		}
	}
	return m
}

// part returns the rows and columns of w, nil if there are none.
func part(w *graph.CSR, rows, cols []int) *mat.Dense {
	m := zeros(len(rows), len(cols))
	if m == nil {
		return nil
	}
	at := lists.Places(cols)
	for i, u := range rows {
		w.DoRowNonZero(u, func(_, v int, x float64) {
			if j, ok := at[v]; ok {
				m.Set(i, j, x)
			}
		})
	}
	return m
}

// zeros returns an r×c matrix, nil if it is empty.
func zeros(r, c int) *mat.Dense {
	if r == 0 || c == 0 {
		return nil
	}
	return mat.NewDense(r, c, nil)
}
