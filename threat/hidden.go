package threat

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"mafalda/graph"
	"mafalda/internal/lists"
	"mafalda/strategy"
	"mafalda/threat/reaction"
)

// hidden is what is proven of the nodes that an attacker under PNDP does not see through: the bounds of package reaction, and
// local DP of each node.
type hidden struct {
	*reaction.Victims // nil: only local DP is proven
	scenario          Scenario
	nodes             []int     // the nodes of Victims, by their place there
	why               string    // why only local DP is proven
	local             []float64 // squared sensitivity of local DP, of every node of the network
	always            []float64 // the same whatever networks and absences are drawn; local if none are
}

// hidden returns it for an attacker under PNDP, with local DP of the algorithm, and nodes that answer as is said of their
// system: nil, that nothing is known of them.
//
// Local DP of nodes is lowered by what never reaches an attacker: the noise of the last steps, as many as a message takes,
// and of independent noise the part that W and what is seen forget: [G⁺G]_uu is left, G = [W_U; H]. Whatever is drawn,
// these are only the steps after which no possible network takes a message there in time.
func (s Scenario) hidden(local float64, answers func(*reaction.System) (reaction.Reaction, error)) (*hidden, error) {
	s = s.inOwnUnits()
	h := &hidden{scenario: s, why: s.Algorithm.unbounded(), local: make([]float64, s.nodes())}
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
	system, err := h.look()
	if err != nil || h.why != "" {
		return h, err
	}
	known, err := answers(system)
	if err != nil {
		return nil, err
	}
	var c strategy.Strategy // nil: independent noise
	var stands []reaction.Stand
	if s.Algorithm.filter != nil || s.Algorithm.dense != nil {
		c = s.Algorithm.correlation(0, s.steps())
	}
	if c != nil && known != nil {
		if stands, err = h.stands(c); err != nil {
			return nil, err
		}
	}
	if h.Victims, err = reaction.NewVictims(system, c, stands, known); err != nil {
		return nil, err
	}
	drawn := s.Algorithm.Training().Drawn()
	if drawn {
		arriving, err := s.arriving()
		if err != nil {
			return nil, err
		}
		h.always = h.lowered(h.Reaching(lists.Make(s.steps(), func(t int) []float64 {
			return lists.Map(h.nodes, func(v int) float64 { return math.Min(1, float64(max(0, arriving[v]-t))) })
		}), s.Schema))
	}
	if h.local = h.lowered(h.LocalDP(s.Schema)); !drawn {
		h.always = h.local
	}
	return h, nil
}

// lowered returns local DP, or less where that is proven of the nodes of the system.
func (h *hidden) lowered(proven []float64) []float64 {
	local := slices.Clone(h.local)
	for i, v := range h.nodes {
		local[v] = math.Min(local[v], proven[i])
	}
	return local
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

// look returns the system: of each step the networks of its rounds of gossip, and what nodes do before. It is nil where
// that is not covered.
func (h *hidden) look() (system *reaction.System, err error) {
	s := h.scenario
	c, err := s.course()
	if err != nil {
		return nil, err
	}
	plan := c.layout(nil)
	matrices, rules := map[string]reaction.Step{}, map[float64]reaction.Rule{}
	system = &reaction.System{Steps: make([]reaction.Step, s.steps())}
	seen := map[*graph.CSR]int{}
	for t := range system.Steps {
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
			step, h.nodes = reaction.Look(s.nodes(), exchanges, s.Attacker.Nodes, s.Attacker.SecureSummation)
			matrices[key] = step
		}
		if s.Algorithm.training != nil {
			if c.rates[t] == 0 {
				h.why = "steps with a learning rate of 0 are not covered"
				return nil, nil
			}
			rate := c.rates[t]
			if rules[rate] == nil {
				rules[rate] = plan.step(t, false)
			}
			step.Rule = rules[rate]
		}
		system.Steps[t] = step
	}
	system.Nodes = len(h.nodes)
	return system, nil
}

// all returns what is proven of all nodes at once, of every node of the network: never above local DP, which why explains
// where it is no less for any node.
func (h *hidden) all(ctx context.Context) (squared []float64, why string, err error) {
	if h.Victims == nil {
		return h.local, h.why, nil
	}
	b, err := h.All(ctx, h.scenario.Schema)
	if err != nil {
		return nil, "", err
	}
	return h.lowered(b.SensSquared), b.Why, nil
}

// stands returns what may stand for the strategy, the quickest first.
func (h *hidden) stands(c strategy.Strategy) ([]reaction.Stand, error) {
	schema := h.scenario.Schema
	find := func() ([]reaction.Stand, error) {
		return reaction.Strategies(c, len(h.nodes), reaction.Leading(schema))
	}
	if of := h.scenario.Algorithm.origin; of != nil {
		key := [3]int{len(h.nodes), schema.Participations(), schema.Separation()}
		once, _ := of.stands.LoadOrStore(key, sync.OnceValues(find))
		return once.(func() ([]reaction.Stand, error))()
	}
	return find()
}

// victim returns a node of the network as a victim of the system.
func (h *hidden) victim(node int) reaction.Victim {
	return reaction.Victim{Node: slices.Index(h.nodes, node), Schema: h.scenario.Schema}
}

// reacting returns what package reaction says of a scenario in which hidden nodes react as a class allows, with the worst
// answers for all nodes; nil where nothing but local DP is proven, or answers cannot be played.
func (s Scenario) reacting(ctx context.Context, victim int, c reaction.Class) (*reaction.Result, error) {
	if s.Attacker.Trust.Public() || s.Algorithm.training != nil {
		return nil, nil
	}
	h, err := s.hidden(math.Inf(1), func(*reaction.System) (reaction.Reaction, error) { return reaction.Everywhere(c), nil })
	if err != nil || h.Victims == nil {
		return nil, err
	}
	var r *reaction.Result // the least bound of all looks
	for look := range h.Looks() {
		looked, err := h.Bound(ctx, h.victim(victim), look, 0)
		if err != nil {
			return nil, err
		}
		if r == nil || looked.SensSquared < r.SensSquared {
			r = looked
		}
	}
	if err := h.Attack(ctx, h.victim(victim), r); err != nil {
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
