package workload

import (
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
	"mafalda/internal/parallel"
)

// Float is what a State computes with.
type Float interface{ float32 | float64 }

// State is what the nodes hold between two steps of training: the recursion of Spec itself, run by simulations and by
// Gram matrices alike. A matrix of n×d has the d numbers of a node side by side.
type State[F Float] struct {
	spec        Spec
	nodes, size int
	rates, keep []float64
	rate        float64
	step        int

	models, other   []F // n×d; other is room for averages
	momentum        []F // nil without
	tracker, before []F // y and g_(t-1); nil without

	stop <-chan struct{} // nil: never
}

// StopAt makes s leave out all rounds of gossip after done is closed: what is in it then is of no use.
func (s *State[F]) StopAt(done <-chan struct{}) { s.stop = done }

func (s *State[F]) hasStopped() bool {
	select {
	case <-s.stop:
		return true
	default:
		return false
	}
}

// NewState returns the state before the first of T = steps steps, of n = nodes models of d = size numbers, all 0, at a
// base learning rate, which multiplies rates and decay. It fails as Spec.Check does at that rate.
func NewState[F Float](s Spec, steps, nodes, size int, rate float64) (*State[F], error) {
	if err := s.At(rate).Check(steps); err != nil {
		return nil, err
	}
	return newState[F](s, s.rates(steps), nodes, size, rate), nil
}

func newState[F Float](s Spec, rates []float64, nodes, size int, rate float64) *State[F] {
	n := nodes * size
	st := &State[F]{spec: s, nodes: nodes, size: size, rates: rates, rate: rate, models: make([]F, n), other: make([]F, n)}
	st.keep = s.At(rate).keeps(rates)
	if s.Momentum > 0 {
		st.momentum = make([]F, n)
	}
	if s.GradientTracking {
		st.tracker, st.before = make([]F, n), make([]F, n)
	}
	return st
}

// Lone returns the state of one node that hears no other, before a step with the learning rate eta. What it does to
// vectors of d = size numbers is what the optimizer makes of a memory and a gradient: on coefficients, in symbols.
func (o Optimizer) Lone(eta float64, size int) *State[float64] {
	return newState[float64](Spec{Optimizer: o}, []float64{eta}, 1, size, 1)
}

// Memory returns all that nodes hold from step to step (n×d each), as Models returns the models, which are the first.
// What is sent comes before the rest.
func (s *State[F]) Memory() [][]F {
	return slices.DeleteFunc([][]F{s.models, s.tracker, s.momentum, s.before}, func(x []F) bool { return x == nil })
}

// Sent returns the part of Memory that nodes gossip: the models and, with gradient tracking, the trackers y.
func (s *State[F]) Sent() [][]F {
	if s.tracker == nil {
		return s.Memory()[:1]
	}
	return s.Memory()[:2]
}

// Models returns the models (n×d), to be read and, before the first step, written, until the next call of a method.
func (s *State[F]) Models() []F { return s.models }

// Model returns node u's model.
func (s *State[F]) Model(u int) []F { return s.models[u*s.size : (u+1)*s.size] }

// Descend moves the models along the gradients of the step with their noise (n×d). From then until Gossip, Models returns the
// messages: the models as they are sent. With gradient tracking, Descend begins with gossip, unless networks is nil. It panics
// if there are not n·d numbers, or after the last step.
func (s *State[F]) Descend(gradients []F, networks *Networks) {
	if len(gradients) != len(s.models) || s.step == len(s.rates) {
		panic(mat.ErrShape)
	}
	direction := gradients
	if s.tracker != nil {
		s.track(gradients, networks)
		direction = s.tracker
	}
	s.rows(func(from, to int) { s.update(direction[from:to], from, to) })
}

// update moves numbers of the models along a direction.
func (s *State[F]) update(u []F, from, to int) {
	eta, beta, model := s.rate*s.rates[s.step], s.spec.Momentum, s.models[from:to]
	scale(s.keep[s.step], model)
	if s.momentum != nil {
		m := s.momentum[from:to]
		scale(beta, m)
		axpy(1, u, m)
		if !s.spec.Nesterov {
			u = m
		} else {
			axpy(-eta*beta, m, model)
		}
	}
	axpy(-eta, u, model)
}

// track is gossip of models and trackers, and the change of the gradient.
func (s *State[F]) track(gradients []F, networks *Networks) {
	s.exchange(networks, &s.models, &s.tracker)
	s.rows(func(from, to int) {
		axpy(1, gradients[from:to], s.tracker[from:to])
		axpy(-1, s.before[from:to], s.tracker[from:to])
		copy(s.before[from:to], gradients[from:to])
	})
}

// Gossip ends the step: Models returns the models. Without a network, for the Prefix kind, networks may be nil.
func (s *State[F]) Gossip(networks *Networks) {
	if s.tracker == nil && s.spec.gossips(s.step) {
		s.exchange(networks, &s.models)
	}
	s.step++
}

// exchange averages what is sent, in every round of the step.
func (s *State[F]) exchange(networks *Networks, sent ...*[]F) {
	for round := 0; networks != nil && round < s.spec.gossipRounds() && !s.hasStopped(); round++ {
		for _, x := range sent {
			*x = s.average(networks.At(s.step, round), *x)
		}
	}
}

// Step is Descend and Gossip; visit sees the models or, of the Message kind, the messages.
func (s *State[F]) Step(gradients []F, networks *Networks, visit func(models []F)) {
	s.Descend(gradients, networks)
	if s.spec.Kind == Message {
		visit(s.models)
	}
	s.Gossip(networks)
	if s.spec.Kind != Message {
		visit(s.models)
	}
}

// average returns w·x, in the place of other, which becomes x.
func (s *State[F]) average(w *graph.CSR, x []F) []F {
	y := s.other
	s.forEachNode(func(u int) {
		row := y[u*s.size : (u+1)*s.size]
		clear(row)
		w.DoRowNonZero(u, func(_, v int, weight float64) { axpy(weight, x[v*s.size:(v+1)*s.size], row) })
	})
	s.other = x
	return y
}

// rows calls f for the numbers of every node.
func (s *State[F]) rows(f func(from, to int)) {
	s.forEachNode(func(u int) { f(u*s.size, (u+1)*s.size) })
}

// forEachNode calls f for every node, on several goroutines where there is enough to do.
func (s *State[F]) forEachNode(f func(u int)) {
	if len(s.models) >= parallel.Part {
		parallel.For(s.nodes, f)
		return
	}
	for u := range s.nodes {
		f(u)
	}
}

// axpy adds a·x to y.
func axpy[F Float](a float64, x, y []F) {
	if len(x) == 1 { // of a series
		y[0] += F(a) * x[0]
		return
	}
	switch x := any(x).(type) {
	case []float32:
		y := any(y).([]float32)
		blas32.Axpy(float32(a), blas32.Vector{N: len(x), Inc: 1, Data: x}, blas32.Vector{N: len(y), Inc: 1, Data: y})
	case []float64:
		y := any(y).([]float64)
		blas64.Axpy(a, blas64.Vector{N: len(x), Inc: 1, Data: x}, blas64.Vector{N: len(y), Inc: 1, Data: y})
	}
}

// scale multiplies x by a.
func scale[F Float](a float64, x []F) {
	if a == 1 {
		return
	}
	for i := range x {
		x[i] *= F(a)
	}
}
