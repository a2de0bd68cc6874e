package threat

import (
	"context"
	"encoding/binary"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/internal/lists"
	"mafalda/workload"
)

// Training says what nodes do with their noisy gradients, over which networks.
type Training struct {
	Spec workload.Spec // what nodes do; whose errors count is not looked at: an attacker sees the same
	Seed uint64        // the seed of networks that are drawn, and of steps that are missed
}

// Drawn reports whether what an attacker sees depends on chance: networks that are drawn, or steps that are missed.
// What Account says is then of the networks and absences of the seed. They do not depend on data, so it is a guarantee
// if exactly these are used, even if the attacker knows them; of others it says nothing: Assess reports what holds for all.
func (t Training) Drawn() bool {
	c := t.Spec.Changes
	return c.NodeFailures > 0 || c.LinkFailures > 0 || c.RandomNeighbours > 0 || t.Spec.MissedSteps > 0
}

// Under returns the algorithm with an optimizer and networks of its own. The error is a fault.Argument of Algorithm:
// only nodes that add noise of their own to their gradients, as in DPDSGD, AntiPGD and MFDSGD, are accounted for with
// more than plain gradient descent on a network that stays. What is wrong with the training shows when it is used.
func (a Algorithm) Under(t Training) (Algorithm, error) {
	t.Spec.Kind, t.Spec.Weights = workload.Model, workload.Weights{}
	switch {
	case t.Spec.IsPlain():
		a.training = nil
		return a, nil
	case a.zip || a.shared > 0 || a.rounds > 1 || a.alone != 1:
		return a, fault.New("Algorithm", a.name, "is accounted for without optimizers and networks that change")
	}
	a.training = &t
	return a, nil
}

// WithNetworks returns the algorithm with the networks that take turns on n, if there are some, and others drawn by the seed. It
// fails as Under does, for other networks than an export was trained on (GraphSequence), and for another gossip matrix
// than its own (ErrStrategy).
func (a Algorithm) WithNetworks(n *graph.Network, seed uint64) (Algorithm, error) {
	if err := a.origin.checkGossip(n); err != nil {
		return a, err
	}
	t := a.Training()
	t.Seed = seed
	if n.Sequence != nil {
		on, err := workload.Spec{}.On(n)
		if err != nil {
			return a, err
		}
		switch own := t.Spec.GraphSequence; {
		case own != nil:
			on.GraphSequence, err = own.Attach(on.GraphSequence)
		case a.origin != nil && a.origin.trained:
			err = fault.New("GraphSequence", nil, "the strategy in %s is for a network that stays", a.origin.dir)
		}
		if err != nil {
			return a, err
		}
		t.Spec.GraphSequence = on.GraphSequence
	}
	return a.Under(t)
}

// Training returns the training of the algorithm: Under's, or of the export that it was made of.
func (a Algorithm) Training() Training {
	if a.training == nil {
		return Training{}
	}
	return *a.training
}

// rounds returns how many rounds of gossip there are in a step.
func (t Training) rounds() float64 { return float64(max(1, t.Spec.GossipRounds)) }

// course is a run as everybody knows it, the attacker included: rates, networks, and who misses what. Plain gradient
// descent has the course of the zero Training.
type course struct {
	spec     workload.Spec
	steps    int
	rates    []float64 // η_t
	networks *workload.Networks
	missed   [][]bool // who misses which step; nil if no node does
}

// course returns the course of the scenario. Errors come from workload.Spec's Check and Networks.
func (s Scenario) course() (*course, error) {
	t, steps := s.Algorithm.Training(), s.steps()
	if err := t.Spec.Check(steps); err != nil {
		return nil, err
	}
	networks, err := t.Spec.Networks(s.Gossip, t.Seed)
	if err != nil {
		return nil, err
	}
	c := &course{spec: t.Spec, steps: steps, networks: networks}
	c.spec.GossipRounds = max(c.spec.GossipRounds, s.Algorithm.rounds)
	if c.rates, err = t.Spec.LearningRates.Rates(steps); err != nil {
		return nil, err
	}
	if p := t.Spec.MissedSteps; p > 0 {
		c.missed = drawMissed(steps, s.nodes(), p, t.Seed)
	}
	return c, nil
}

// drawMissed draws who misses which steps.
func drawMissed(steps, nodes int, p float64, seed uint64) [][]bool {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	copy(key[8:], "missed steps")
	rng := rand.New(rand.NewChaCha8(key))
	missed := make([][]bool, steps)
	for t := range missed {
		missed[t] = make([]bool, nodes)
		for v := range nodes {
			missed[t][v] = rng.Float64() < p
		}
	}
	return missed
}

// misses reports whether node v has no gradient in step t, and sends no noise with it.
func (c *course) misses(t, v int) bool { return c.missed != nil && c.missed[t][v] }

// sent returns the step in which node v sends row s of its noise: s unless it misses that, and -1 for never.
func (c *course) sent(s, v int) int {
	for t := s; t < c.steps; t++ {
		if !c.misses(t, v) {
			return t
		}
		if !c.spec.Carry {
			break
		}
	}
	return -1
}

// exchanges returns the networks of the rounds of gossip that follow step t: none between local steps. With gradient
// tracking they open the next step; the last models and trackers are taken to be sent, too, which is the safe reading.
func (c *course) exchanges(t int) []*graph.CSR {
	if (t+1)%max(1, c.spec.LocalSteps) != 0 {
		return nil
	}
	if c.spec.GradientTracking {
		t++
	}
	return lists.Make(max(1, c.spec.GossipRounds), func(round int) *graph.CSR { return c.networks.At(t, round) })
}

// fresh reports whether every message that is sent has noise of its own step, of which no other message before it has
// any: the covariance of what is seen is regular then, and no ranks are to be decided.
func (c *course) fresh() bool {
	if c.spec.GossipRounds > 1 || c.spec.GradientTracking || c.missed != nil {
		return false
	}
	for t, eta := range c.rates {
		if eta == 0 && c.exchanges(t) != nil {
			return false
		}
	}
	return true
}

// walk runs the nodes' recursion with width numbers a node, unless the context ends before: enter returns the gradients of a
// step with their noise, of nodes that hold models (negated), and see sees what is sent in each round of gossip, models and
// then trackers, and the averages of it. The recursion is workload.State, which simulations run, too.
func (c *course) walk(ctx context.Context, width int, enter func(t int, models *mat.Dense) []float64,
	see func(t int, w *graph.CSR, sent, averages *mat.Dense)) error {
	n := c.networks.Nodes()
	state, err := workload.NewState[float64](c.spec, c.steps, n, width, 1)
	if err != nil {
		return err
	}
	for t := range c.steps {
		state.Descend(enter(t, mat.NewDense(n, width, state.Models())), c.networks)
		sent := lists.Map(state.Sent(), func(x []float64) *mat.Dense { return mat.DenseCopyOf(mat.NewDense(n, width, x)) })
		sent[0].Scale(-1, sent[0]) // models go down
		for _, w := range c.exchanges(t) {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			for i, m := range sent {
				sent[i] = mat.NewDense(n, width, nil)
				w.DoNonZero(func(u, v int, weight float64) {
					floats.AddScaled(sent[i].RawRowView(u), weight, m.RawRowView(v))
				})
				see(t, w, m, sent[i])
			}
		}
		state.Gossip(c.networks)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}
