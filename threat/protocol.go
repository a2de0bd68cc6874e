package threat

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
	"mafalda/secrets"
)

// source is what goes into a protocol run: gradients and noise, as rows of one length. Explicit puts in symbols, an
// audit random numbers. Rows must not be changed.
type source interface {
	width() int
	gradient(t, v int) []float64 // in units of node v's own noise
	own(t, v int) []float64      // unit noise of node v's own, step t
	edge(t, e int) []float64     // unit noise that the ends of edge e share
	message(t, m int) []float64  // unit noise of message m of Zip-DL
}

// protocol runs an algorithm as its nodes do, and notes what an attacker learns.
type protocol struct {
	source    source
	algorithm Algorithm
	attacker  Attacker
	n, steps  int
	noise     *secrets.Noise         // what nodes draw in a step
	messages  [][2]int               // the messages of Zip-DL: sender and recipient
	noising   func(v int) mat.Matrix // C⁻¹ of a node, T×T
	course    *course

	rows    [][]float64
	waiting [][]float64 // every node's row of noise that enters with its next gradient
	stepped func()      // if not nil, is called for every step

	react func(message, model []float64, t, v int) // if not nil, adds to what node v sends how it reacts to its model
}

// protocol returns the run of a scenario, without a source. Errors: ErrAttacker, ErrStrategy.
func (s Scenario) protocol() (*protocol, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	c, err := s.course()
	if err != nil {
		return nil, err
	}
	w, a, steps := s.Gossip, s.Algorithm, s.steps()
	p := &protocol{algorithm: a, attacker: s.Attacker, n: s.nodes(), steps: steps, course: c, noise: a.drawn(w)}
	if a.zip {
		w.DoNonZero(func(i, j int, v float64) {
			if i != j && v != 0 {
				p.messages = append(p.messages, [2]int{j, i})
			}
		})
	}
	each := make([]mat.Matrix, max(1, len(a.dense)))
	for v := range each {
		if each[v], err = noisingOf(a.correlation(v, steps)); err != nil {
			return nil, err
		}
	}
	p.noising = func(v int) mat.Matrix { return each[min(v, len(each)-1)] }
	return p, nil
}

// run runs all steps, unless the context ends before.
func (p *protocol) run(ctx context.Context, s source) error {
	p.source, p.rows, p.waiting = s, nil, make([][]float64, p.n)
	see := p.see
	if p.algorithm.zip {
		see = p.seeZip
	}
	err := p.course.walk(ctx, s.width(), func(t int, models *mat.Dense) []float64 {
		if p.stepped != nil {
			p.stepped()
		}
		var noisy []float64
		for v := range p.n {
			noisy = append(noisy, p.noisyGradient(t, v, models.RawRowView(v))...)
		}
		return noisy
	}, see)
	if err == nil {
		p.knowThemselves()
	}
	return err
}

// noisyGradient returns what node v takes for its gradient in step t, with its reaction to its model: nothing if it misses
// the step.
func (p *protocol) noisyGradient(t, v int, model []float64) []float64 {
	row := make([]float64, p.source.width())
	p.addNoise(row, t, v)
	if p.waiting[v] != nil {
		floats.Add(row, p.waiting[v])
		p.waiting[v] = nil
	}
	if p.course.misses(t, v) {
		if p.course.spec.Carry {
			p.waiting[v] = slices.Clone(row)
		}
		clear(row)
		return row
	}
	floats.AddScaled(row, p.algorithm.part(v), p.source.gradient(t, v))
	if p.react != nil {
		p.react(row, floats.ScaleTo(make([]float64, len(model)), -1, model), t, v)
	}
	return row
}

// knowThemselves notes what the attackers know: of themselves, and where the trust model tells it all noise that nodes share.
func (p *protocol) knowThemselves() {
	if models[p.attacker.Trust].tells {
		for t := range p.steps {
			for e := range p.noise.Pairs {
				p.learn(p.source.edge(t, e))
			}
		}
	}
	for _, a := range p.attacker.insiders() {
		p.knowItself(a)
	}
}

// addNoise adds the noise of node v's message in step t: row t of C⁻¹ times what it draws in every step, its own row and
// one for each pair.
func (p *protocol) addNoise(message []float64, t, v int) {
	noising, own := p.noising(v), p.algorithm.own(v)*p.algorithm.part(v)
	for s := range t + 1 {
		c := noising.At(t, s)
		if c == 0 {
			continue
		}
		if own != 0 {
			floats.AddScaled(message, own*c, p.source.own(s, v))
		}
		for e, pair := range p.noise.Pairs {
			switch v {
			case pair.U:
				floats.AddScaled(message, c*pair.Deviation, p.source.edge(s, e))
			case pair.V:
				floats.AddScaled(message, -c*pair.Deviation, p.source.edge(s, e))
			}
		}
	}
}

// see notes what the attacker learns when messages are averaged over w.
func (p *protocol) see(t int, w *graph.CSR, sent, averages *mat.Dense) {
	if p.attacker.SecureSummation {
		for _, a := range p.attacker.Nodes {
			if p.attacker.ForgetOwnNoise {
				p.learn(sent.RawRowView(a))
			} else {
				p.learn(averages.RawRowView(a))
			}
		}
		return
	}
	for v := range p.n {
		visible := p.attacker.Trust.Public() || slices.Contains(p.attacker.Nodes, v)
		for _, a := range p.attacker.Nodes {
			visible = visible || w.At(a, v) != 0
		}
		if visible {
			p.learn(sent.RawRowView(v))
		}
	}
}

// seeZip is see of Zip-DL, whose single messages have noise, less its mean over a sender's messages: it enters the averages.
func (p *protocol) seeZip(t int, w *graph.CSR, sent, averages *mat.Dense) {
	for i, m := range p.messages {
		noise, from, to := slices.Clone(p.source.message(t, i)), m[0], m[1]
		var siblings []int
		for j, other := range p.messages {
			if other[0] == from {
				siblings = append(siblings, j)
			}
		}
		for _, j := range siblings {
			floats.AddScaled(noise, -1/float64(len(siblings)), p.source.message(t, j))
		}
		if p.waiting[to] == nil {
			p.waiting[to] = make([]float64, len(noise))
		}
		floats.AddScaled(p.waiting[to], w.At(to, from), noise)
		if !p.attacker.SecureSummation && (p.attacker.Trust.Public() || slices.Contains(p.attacker.Nodes, to)) {
			floats.Add(noise, sent.RawRowView(from))
			p.learn(noise)
		}
	}
	if p.attacker.SecureSummation {
		for _, a := range p.attacker.Nodes {
			sum := averages.RawRowView(a)
			if p.waiting[a] != nil {
				floats.Add(sum, p.waiting[a])
			}
			p.learn(sum)
		}
	}
}

// knowItself notes an attacker's own gradients and noise.
func (p *protocol) knowItself(a int) {
	for t := range p.steps {
		p.learn(p.source.gradient(t, a))
		if p.algorithm.zip {
			for m, ends := range p.messages {
				if ends[0] == a {
					p.learn(p.source.message(t, m))
				}
			}
			continue
		}
		if p.attacker.ForgetOwnNoise && p.algorithm.space == nil {
			continue
		}
		if !p.attacker.ForgetOwnNoise { // what it shares is known in any case
			p.learn(p.source.own(t, a))
		}
		for e, pair := range p.noise.Pairs {
			if pair.U == a || pair.V == a {
				p.learn(p.source.edge(t, e))
			}
		}
	}
}

// learn notes a row.
func (p *protocol) learn(row []float64) { p.rows = append(p.rows, slices.Clone(row)) }
