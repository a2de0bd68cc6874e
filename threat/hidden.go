package threat

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/graph"
	"mafalda/internal/dense"
	"mafalda/internal/lists"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/threat/reaction"
)

// hidden is what is proven of the nodes that an attacker under PNDP does not see through: the system of package reaction,
// whose noise a strategy correlates, and local DP of each node.
type hidden struct {
	scenario Scenario
	system   *reaction.System
	nodes    []int             // the system's nodes, by their place in it
	strategy strategy.Strategy // nil: independent noise
	why      string            // why only local DP is proven: there is no system then
	local    []float64         // squared sensitivity of local DP, of every node of the network
	always   []float64         // the same whatever networks and absences are drawn; local if none are
}

// hidden returns it for an attacker under PNDP, with local DP of the algorithm.
func (s Scenario) hidden(ctx context.Context, local float64) (*hidden, error) {
	s = s.inOwnUnits()
	h := &hidden{scenario: s, why: s.Algorithm.unbounded()}
	h.local = make([]float64, s.nodes())
	for v, hops := range s.hops() {
		if hops >= 0 {
			h.local[v] = local
		}
	}
	for _, v := range s.Attacker.insiders() {
		h.local[v] = math.Inf(1)
	}
	h.always = h.local
	if h.why != "" || len(s.Attacker.Nodes) == s.nodes() {
		return h, nil
	}
	if s.Algorithm.filter != nil || s.Algorithm.dense != nil {
		h.strategy = s.Algorithm.correlation(0, s.steps())
	}
	if err := h.look(); err != nil || h.why != "" {
		return h, err
	}
	return h, h.localize(ctx)
}

// unbounded says why package reaction says nothing of the algorithm; empty if it may.
func (a Algorithm) unbounded() string {
	t := a.Training().Spec
	switch {
	case a.zip:
		return "messages that each have noise of their own are not covered (Zip-DL)"
	case a.SharesNoise():
		return "noise that nodes share is not covered"
	case len(a.dense) > 1:
		return "nodes with strategies of their own are not covered"
	case t.GradientTracking:
		return "gradient tracking is not covered"
	case t.MissedSteps > 0:
		return "steps that nodes miss are not covered"
	}
	return ""
}

// look makes the system: of each step the networks of its rounds of gossip, and what nodes do before.
func (h *hidden) look() error {
	s := h.scenario
	c, err := s.course()
	if err != nil {
		return err
	}
	plan := c.layout(nil)
	matrices, rules := map[string]reaction.Step{}, map[float64]reaction.Rule{}
	h.system = &reaction.System{Steps: make([]reaction.Step, s.steps())}
	seen := map[*graph.CSR]int{}
	for t := range h.system.Steps {
		exchanges := c.exchanges(t)
		key := ""
		for _, w := range exchanges {
			if _, there := seen[w]; !there {
				seen[w] = len(seen)
			}
			key += fmt.Sprint(seen[w], " ")
		}
		step, known := matrices[key]
		if !known {
			if step, h.nodes, err = reaction.Look(s.nodes(), exchanges, s.Attacker.Nodes, s.Attacker.SecureSummation); err != nil {
				return err
			}
			matrices[key] = step
		}
		if s.Algorithm.training != nil {
			if c.rates[t] == 0 {
				h.why, h.system = "steps with a learning rate of 0 are not covered", nil
				return nil
			}
			rate := c.rates[t]
			if rules[rate] == nil {
				rules[rate] = plan.step(t, false)
			}
			step.Rule = rules[rate]
		}
		h.system.Steps[t] = step
	}
	h.system.Nodes = len(h.nodes)
	return nil
}

// localize lowers local DP of nodes by what never reaches an attacker: the noise of the last steps, as many as a
// message takes, and of independent noise the part that W and what is seen forget: [G⁺G]_uu is left, G = [W_U; H].
// Whatever is drawn, these are only the steps after which no possible network takes a message there in time.
func (h *hidden) localize(ctx context.Context) error {
	schema := h.scenario.Schema
	if h.scenario.Algorithm.Training().Drawn() {
		h.always = slices.Clone(h.local)
		arriving, err := h.scenario.arriving()
		if err != nil {
			return err
		}
		err = h.limit(h.always, func(i int) []byte {
			marks := make([]byte, schema.Steps())
			copy(marks, bytes.Repeat([]byte{1}, arriving[h.nodes[i]]))
			return marks
		})
		if err != nil {
			return err
		}
	}
	if h.strategy == nil {
		b, err := reaction.All(ctx, h.system, schema, nil)
		if err != nil {
			return err
		}
		for i, v := range h.nodes {
			h.local[v] = math.Min(h.local[v], b.LocalDP[i])
		}
		return nil
	}
	reach := h.system.Reach()
	return h.limit(h.local, func(i int) []byte {
		return lists.Map(reach, func(share []float64) byte { return byte(share[i]) })
	})
}

// limit lowers local DP of the nodes of the system to that of the steps that are marked for them.
func (h *hidden) limit(local []float64, marked func(i int) []byte) (err error) {
	var gram mat.Symmetric = mat.NewDiagDense(h.scenario.steps(), slices.Repeat([]float64{1}, h.scenario.steps()))
	if h.strategy != nil {
		if gram, err = h.scenario.Algorithm.LocalMatrix(h.nodes[0], h.scenario.steps()); err != nil {
			return err
		}
	}
	known := map[string]float64{}
	for i, v := range h.nodes {
		key := marked(i)
		if _, there := known[string(key)]; !there {
			known[string(key)] = markedSensitivity(gram, key, h.scenario.Schema)
		}
		local[v] = math.Min(local[v], known[string(key)])
	}
	return nil
}

// markedSensitivity returns the squared sensitivity of gradients of the steps that are marked alone.
func markedSensitivity(gram mat.Symmetric, marked []byte, schema participation.Schema) float64 {
	if !slices.Contains(marked, 0) {
		return math.Inf(1) // of all: what the caller has
	}
	sens, err := schema.Sensitivity(dense.NewSym(schema.Steps(), func(s, t int) float64 {
		if marked[s] == 0 || marked[t] == 0 {
			return 0
		}
		return math.Abs(gram.At(s, t)) * (1 + 1e-12)
	}))
	if err != nil {
		return math.Inf(1)
	}
	return sens.Squared
}

// all returns what is proven of all nodes at once, of every node of the network, for the reaction: never above local DP,
// which why explains where it is no less for any node.
func (h *hidden) all(ctx context.Context, r Reaction) (squared []float64, why string, err error) {
	squared = slices.Clone(h.local)
	switch {
	case !r.classed():
		return squared, "", nil
	case h.system == nil:
		return squared, h.why, nil
	}
	answers, err := r.answers(h.system)
	if err != nil {
		return nil, "", err
	}
	stands := []reaction.Stand{{Factor: 1}}
	if h.strategy != nil {
		if stands, err = h.stands(); err != nil {
			return nil, "", err
		}
		stands = stands[:1] // the one whose steps are all alike
	}
	for _, stand := range stands {
		system := h.system
		if stand.Strategy != nil {
			if system, err = system.Correlated(stand.Strategy); err != nil {
				return nil, "", err
			}
		}
		b, err := reaction.All(ctx, system, h.scenario.Schema, answers)
		if err != nil {
			return nil, "", err
		}
		why = b.Why
		for i, v := range h.nodes {
			squared[v] = math.Min(squared[v], b.SensSquared[i]*stand.Factor*(1+1e-15))
		}
	}
	return squared, why, nil
}

// stands returns what may stand for the strategy, the quickest first: nothing for independent noise.
func (h *hidden) stands() ([]reaction.Stand, error) {
	if h.strategy == nil {
		return nil, nil
	}
	find := func() ([]reaction.Stand, error) {
		return reaction.Strategies(h.strategy, len(h.nodes), reaction.Leading(h.scenario.Schema))
	}
	if of := h.scenario.Algorithm.origin; of != nil {
		return of.stands.get(len(h.nodes), h.scenario.Schema, find)
	}
	return find()
}

// victims bounds what is learned of single nodes of a network, one after the other.
type victims struct {
	*hidden
	*reaction.Victims
}

// victims returns it for nodes that answer like this. There must be a system.
func (h *hidden) victims(answers reaction.Reaction) (victims, error) {
	stands, err := h.stands()
	if err != nil {
		return victims{}, err
	}
	all, err := reaction.NewVictims(h.system, h.strategy, stands, answers)
	return victims{h, all}, err
}

// victim returns a node of the network as a victim of the system.
func (v victims) victim(node int) reaction.Victim {
	return reaction.Victim{Node: slices.Index(v.nodes, node), Schema: v.scenario.Schema}
}

// best returns the least bound of all looks at a node of the network.
func (v victims) best(ctx context.Context, node int) (best *reaction.Result, err error) {
	for look := range v.Looks() {
		r, err := v.Bound(ctx, v.victim(node), look, 0)
		if err != nil {
			return nil, err
		}
		if best == nil || r.SensSquared < best.SensSquared {
			best = r
		}
	}
	return best, nil
}

// reacting returns what package reaction says of a scenario in which hidden nodes react as a class allows, with the worst
// answers for all nodes; nil where nothing but local DP is proven, or answers cannot be played.
func (s Scenario) reacting(ctx context.Context, victim int, c reaction.Class) (*reaction.Result, error) {
	if s.Attacker.Trust.Public() || s.Algorithm.training != nil {
		return nil, nil
	}
	h, err := s.hidden(ctx, math.Inf(1))
	if err != nil || h.system == nil {
		return nil, err
	}
	v, err := h.victims(reaction.Everywhere(c))
	if err != nil {
		return nil, err
	}
	r, err := v.best(ctx, victim)
	if err != nil {
		return nil, err
	}
	if err := v.Attack(ctx, v.victim(victim), r); err != nil {
		return nil, err
	}
	all := make([][]float64, s.steps())
	for t := range all {
		all[t] = slices.Repeat([]float64{1}, s.nodes())
		for i, v := range h.nodes {
			all[t][v] = c.Nearest()
			if r.Answers != nil {
				all[t][v] = r.Answers[t][i]
			}
		}
	}
	r.Answers = all
	return r, nil
}
