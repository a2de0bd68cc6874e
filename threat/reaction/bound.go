package reaction

import (
	"context"
	"math"
	"slices"

	"mafalda/internal/fault"
	"mafalda/participation"
)

// Victim is whose record is protected, and in which steps it may take part.
type Victim struct {
	Node   int // the node, by its place in W and H
	Schema participation.Schema
}

// How long is looked for a good bound.
const (
	rounds   = 3  // of multipliers made from a worst run, each of which costs a pass backward and a pass forward
	descents = 60 // passes backward that the multipliers are improved with in the end
)

// Result says how much an attacker can learn of a victim, as squared sensitivities: the view is μ-GDP with μ² =
// SensSquared over the variance of the noise.
type Result struct {
	// SensSquared holds for every training of the class. It is LocalDP where the class says no more, or where rounding
	// leaves a doubt: Why says so.
	SensSquared float64

	// LocalDP holds for every training: what all messages together say of the record.
	LocalDP float64

	// WorstAnswer is what some linear answers of the class let the attacker learn, or nearly as much: no true bound of the
	// class is below it.
	WorstAnswer float64

	// Answers are these linear answers: in step t node v moves from x to Answers[t][v]·x.
	Answers [][]float64

	// Pattern is the participation of SensSquared; nil where patterns were not looked at one by one.
	Pattern []int

	// Why says why SensSquared is LocalDP, empty if it is not, or if local DP is as good.
	Why string
}

// reactiveSystem is a system whose nodes answer as a reaction says. Its victims share the linear pass, and what multipliers of the
// last one had on top.
type reactiveSystem struct {
	*stages // stages of the reaction; nil without one
	system  *System
	local   localDP
	first   *trace // nil before it is needed, or if numbers are too large
	passed  bool   // first has been made
	extra   float64
}

// newReactiveSystem returns an error for what is no system or no class.
func newReactiveSystem(s *System, reaction Reaction) (*reactiveSystem, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	g := &reactiveSystem{system: s, local: localOf(s), extra: usual}
	if reaction == nil {
		return g, nil
	}
	var err error
	g.stages, err = stagesOf(s, reaction)
	return g, err
}

// why says why nothing but local DP is proven; empty if more may be.
func (g *reactiveSystem) why() string {
	switch {
	case g.stages == nil:
		return "nothing is known of how gradients react"
	case g.unclear:
		return "the rank of what is seen cannot be told in floating point"
	}
	return ""
}

// memory reports whether nodes keep more than a model.
func (g *reactiveSystem) memory() bool { return g.system.rule(0).size() > 1 }

// bound returns how much an attacker learns of a victim. A bound of at most enough need not be the best one.
func (g *reactiveSystem) bound(ctx context.Context, v Victim, enough float64) (*Result, error) {
	if v.Node < 0 || v.Node >= g.system.Nodes {
		return nil, fault.New("Victim", v.Node, "is not one of %d hidden nodes", g.system.Nodes)
	}
	if v.Schema == nil || v.Schema.Steps() != len(g.system.Steps) {
		return nil, fault.New("Schema", nil, "is not for %d steps", len(g.system.Steps))
	}
	out := &Result{LocalDP: g.local.squared(v), Why: g.why()}
	if out.SensSquared = out.LocalDP; out.Why != "" {
		return out, nil
	}
	if err := g.pass(ctx); err != nil {
		return nil, err
	}
	if g.first == nil {
		out.Why = "numbers are too large for a float64"
		return out, nil
	}
	b := &bounder{g, v.Node, enough}
	value, pattern, why, err := b.worst(ctx, v)
	if err != nil {
		return nil, err
	}
	if value < out.SensSquared {
		out.SensSquared, out.Pattern = value, pattern
	} else {
		out.Why, out.Pattern = why, pattern
	}
	return out, nil
}

// pass makes the linear pass, once.
func (g *reactiveSystem) pass(ctx context.Context) (err error) {
	if !g.passed {
		g.first, err = g.linearly(ctx)
		g.passed = err == nil
	}
	return err
}

// attacked returns the pattern of a victim to attack: the one that the bound is for, if it is for one.
func (v Victim) attacked(r *Result) []int {
	if r.Pattern != nil {
		return r.Pattern
	}
	return Leading(v.Schema)
}

// believe keeps a bound unless an attack reaches more: rounding lets neither say the last digits.
func (r *Result) believe() {
	if r.WorstAnswer > r.SensSquared*(1+1e-9) {
		r.SensSquared, r.Why = r.LocalDP, "an attack reaches more than rounding lets the bound say"
	}
	r.WorstAnswer = math.Min(r.WorstAnswer, r.SensSquared)
}

// raise returns a squared sensitivity raised by more than all rounding that led to it, and +Inf for what rounding has
// made negative.
func raise(squared float64) float64 {
	if !(squared >= 0) {
		return math.Inf(1)
	}
	s := math.Sqrt(squared)*(1+5.1e-8) + 1e-12
	return s * s
}

// bounder bounds what is learned of one victim.
type bounder struct {
	*reactiveSystem
	node   int
	enough float64 // a squared sensitivity below which the bound need not be the best one; 0 asks for the best
}

// trace is a backward pass: what is needed to go forward.
type trace struct {
	from   int         // first step
	back   []*feedback // each step's feedback; Q is gone
	pull   [][]float64 // injectᵀQ, m×n, of each step
	single [][]float64 // what one participation of each node costs in each step: Q of its record's input
	prices []price     // each step's price; P is gone
	bound  float64     // upper bound of what all steps of a pattern cost
}

// pricing returns what a difference before step t costs, if Q is what it costs after nodes have answered; or why it cannot
// be given.
type pricing func(t int, q []float64) (cost price, why string)

// backward is the recursion of the theorem, from the last step to the step from: a trace, whose matrices are kept for going
// forward or not; or nil, and why nothing is proven.
func (all *stages) backward(ctx context.Context, from int, how precision, keep bool, before pricing) (tr *trace, why string,
	err error) {
	steps := len(all.gates)
	tr = &trace{from: from, back: make([]*feedback, steps), pull: make([][]float64, steps), single: make([][]float64, steps),
		prices: make([]price, steps)}
	var p []float64
	for t := steps - 1; t >= from; t-- {
		if err := context.Cause(ctx); err != nil {
			return nil, "", err
		}
		f := look(all.gates[t], all.m, p, how)
		if f == nil || !tr.record(t, f, all.answers[t], all.n) {
			return nil, "numbers are too large for a float64", nil
		}
		release(p)
		if t > from {
			if tr.prices[t], why = before(t, f.q); why != "" {
				return nil, why, nil
			}
			p, tr.prices[t].p = tr.prices[t].p, nil
			tr.bound += tr.prices[t].alpha
		}
		release(f.q)
		f.q = nil
		if !keep {
			tr.releaseStep(t)
		}
	}
	if how == proven {
		all.shift(tr)
	}
	return tr, "", nil
}

// linearly goes backward with the linear answers nearest to none. It returns nil without an error if numbers are too large.
func (all *stages) linearly(ctx context.Context) (*trace, error) {
	tr, _, err := all.backward(ctx, 0, rough, true, func(t int, q []float64) (price, string) {
		return price{p: follow(all.linear[t], q)}, ""
	})
	return tr, err
}

// release gives the matrices of a trace back. No trace has none.
func (tr *trace) release() {
	if tr == nil {
		return
	}
	for t := range tr.back {
		tr.releaseStep(t)
	}
}

// releaseStep gives the matrices of a step back.
func (tr *trace) releaseStep(t int) {
	if f := tr.back[t]; f != nil {
		release(f.f, tr.pull[t], tr.prices[t].factor.Data)
		tr.back[t] = nil
	}
}

// shift lowers the cost of each single participation to the cost of the same one in an earlier step, if all steps are
// alike.
func (all *stages) shift(tr *trace) {
	if !all.constant() {
		return
	}
	for t := tr.from + 1; t < len(tr.single); t++ {
		for v := range tr.single[t] {
			tr.single[t][v] = math.Min(tr.single[t][v], tr.single[t-1][v])
		}
	}
}

// record keeps what a step has found. It returns false for numbers that are not finite.
func (tr *trace) record(t int, f *feedback, a *answer, n int) bool {
	pull := a.inject.transposeTimes(f.q, n)
	tr.back[t], tr.pull[t] = f, pull
	tr.single[t] = make([]float64, len(a.kappa))
	for v := range tr.single[t] {
		tr.single[t][v] = a.diagonal(pull[v*n:(v+1)*n], v)
		if !finite(tr.single[t][v]) {
			return false
		}
	}
	return true
}

// prove goes backward for a pattern, with multipliers as chosen: a trace with the bound, Q[u,u] in the pattern's first step
// and the later α; nil, and why, if nothing is proven.
func (b *bounder) prove(ctx context.Context, pattern []int, choose chooser) (tr *trace, why string, err error) {
	tr, why, err = b.backward(ctx, pattern[0], proven, true, func(t int, q []float64) (price, string) {
		victim := -1
		if slices.Contains(pattern, t) {
			victim = b.node
		}
		return b.oppose(t, q, victim, choose)
	})
	if tr != nil {
		tr.bound += tr.single[tr.from][b.node]
	}
	return tr, why, err
}

// powerSteps is how many times the worst answer of a step is improved.
const powerSteps = 8

// policy says how nodes answer in step t to a difference χ before it: it returns σ, with the record's input where it takes
// part.
type policy func(tr *trace, t int, a *answer, chi []float64, part bool) []float64

// forward runs the difference of two runs, of width columns, from the victim's input in the pattern's first step on, with
// the feedback of a trace: χ of each step.
func (b *bounder) forward(tr *trace, answers []*answer, pattern []int, width int, how policy) [][]float64 {
	run := make([][]float64, len(b.gates))
	first := make([]float64, b.m*width)
	first[b.node*width] = 1
	var chi []float64
	for t := pattern[0]; t < len(b.gates); t++ {
		run[t] = chi
		var sigma []float64
		if chi == nil {
			sigma = answers[t].inject.times(first, width)
		} else {
			sigma = how(tr, t, answers[t], chi, slices.Contains(pattern, t))
		}
		if t+1 < len(b.gates) {
			chi = tr.back[t].next(sigma, width)
		}
	}
	return run
}

// centred is the policy of the centre of the class.
func (b *bounder) centred(tr *trace, t int, a *answer, chi []float64, part bool) []float64 {
	sigma := a.move.times(chi, 1)
	if part {
		sign := math.Copysign(1, dot(tr.pull[t][b.node*b.n:(b.node+1)*b.n], sigma))
		add(sigma, 1, a.inject.times(scaled(unitVector(b.m, b.node), sign), 1))
	}
	return sigma
}

// steep is the policy of an answer of the class that costs much, found by power steps: the end of every node's answer, and
// of the record's input where it takes part.
func (b *bounder) steep(tr *trace, t int, a *answer, chi []float64, part bool) []float64 {
	centre := a.move.times(chi, 1)
	sigma := centre
	for range powerSteps {
		delta := make([]float64, b.m)
		for v := range b.m {
			if a.kappa[v] == 0 && !(part && v == b.node) {
				continue
			}
			g := dot(tr.pull[t][v*b.n:(v+1)*b.n], sigma)
			switch {
			case g > 0:
				delta[v] = a.kappa[v] * math.Abs(chi[v])
			case g < 0:
				delta[v] = -a.kappa[v] * math.Abs(chi[v])
			default: // nothing says which way, as for ρ = 0 at first
				delta[v] = a.kappa[v] * chi[v]
			}
			if part && v == b.node {
				delta[v] += math.Copysign(1, g)
			}
		}
		sigma = a.inject.times(delta, 1)
		add(sigma, 1, centre)
	}
	return sigma
}

func unitVector(m, v int) []float64 {
	e := make([]float64, m)
	e[v] = 1
	return e
}

func scaled(x []float64, by float64) []float64 {
	for i := range x {
		x[i] *= by
	}
	return x
}

// lesser returns the lesser of two tables of bounds, either of which may lack rows.
func lesser(a, b [][]float64) [][]float64 {
	if a == nil {
		return b
	}
	for t, row := range b {
		if a[t] == nil {
			a[t] = row
			continue
		}
		for v := range row {
			a[t][v] = math.Min(a[t][v], row[v])
		}
	}
	return a
}
