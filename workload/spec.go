package workload

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"mafalda/internal/enum"
	"mafalda/internal/fault"
	"mafalda/internal/lists"
)

// Spec says what is trained and what counts: whose errors, in which steps, under which optimizer, over which networks.
// The zero value is the plain workload of the models: all steps count alike, the rate is constant, and every step ends
// with one round of gossip over the same network.
//
// In step t = 0 … T-1 every node takes the gradient g_t at its model θ, adds its noise to it, and does what State does:
//
//	m ← β m + g_t                                        u = m, or g_t + β m with Nesterov
//	θ ← (1 - η_t λ) θ - η_t u                            what is sent: the message
//	θ ← W_t θ, GossipRounds times, after every LocalSteps-th step      the model
//
// and with gradient tracking, where x is the model, y the tracker, and both are sent,
//
//	x ← W_t x,  y ← W_t y, GossipRounds times
//	y ← y + g_t - g_(t-1)
//	m ← β m + y                                          u = m, or y + β m
//	x ← (1 - η_t λ) x - η_t u                            the message, which is the model, too
//
// Momentum stays where it is, it is not gossiped. Noise enters with g_t, all that follows is linear: an error is the
// response to the noise, whatever the gradients are. A step after which there is no gossip has its model as message.
type Spec struct {
	Kind    Kind    // whose errors count
	Weights Weights // how much every step counts
	Optimizer
	Changes
	Absence
}

// Optimizer is what a node does with its gradients. The zero value is plain gradient descent.
type Optimizer struct {
	LearningRates Schedule `json:"-"`                       // η_t, multiples of the base rate: 1, unless Spec.At says another
	Momentum      float64  `json:"momentum,omitempty"`      // β, in [0, 1)
	Nesterov      bool     `json:"nesterov,omitempty"`      // u = g + βm instead of m, for m with g in it
	WeightDecay   float64  `json:"weight_decay,omitempty"`  // λ, in [0, 1), decoupled; η_t λ must be below 1, too
	LocalSteps    int      `json:"local_steps,omitempty"`   // steps from one gossip to the next; 0 means 1
	GossipRounds  int      `json:"gossip_rounds,omitempty"` // rounds of gossip at a time; 0 means 1

	GradientTracking bool `json:"gradient_tracking,omitempty"`
}

// MaxGossipRounds is a limit for GossipRounds: every round takes its time, and the manifest of an export could ask for
// any.
const MaxGossipRounds = 10_000

// Changes says how the network changes from step to step. The zero value is a network that does not.
//
// All that fails does so independently of everything else, and anew in every round of gossip. What is left of a row of
// W is divided by its sum; a node with no node left, itself included, keeps its model.
type Changes struct {
	GraphSequence    *Sequence `json:"-"`                           // matrices that take turns, one a step; nil: W stays
	NodeFailures     float64   `json:"node_failures,omitempty"`     // probability that a node keeps its model, unheard
	LinkFailures     float64   `json:"link_failures,omitempty"`     // probability that two nodes do not hear each other
	RandomNeighbours int       `json:"random_neighbours,omitempty"` // others that a node averages over, drawn from all; 0: its own
}

// Absence says that nodes may miss steps: they have no gradient then and send no row of noise with it, but gossip.
type Absence struct {
	MissedSteps float64 `json:"missed_steps,omitempty"` // probability, for every node and step
	Carry       bool    `json:"carry,omitempty"`        // the next message has the rows that were not sent; otherwise they are lost
}

// IsPlain reports whether nothing but the Kind differs from the zero value: what there was before optimizers.
func (s Spec) IsPlain() bool {
	o := s.Optimizer
	o.LocalSteps, o.GossipRounds, o.LearningRates = s.localSteps()-1, s.gossipRounds()-1, Schedule{}
	return s.Weights.allOne() && s.LearningRates.constant() && o.isZero() && s.Changes.none() && s.Absence == (Absence{})
}

func (o Optimizer) isZero() bool { return reflect.ValueOf(o).IsZero() }

// update returns the part of the optimizer that makes updates of gradients, at the node that has them: all but rates, decay
// and what is about gossip.
func (o Optimizer) update() Optimizer {
	o.LearningRates, o.WeightDecay, o.LocalSteps, o.GossipRounds, o.GradientTracking = Schedule{}, 0, 0, 0, false
	return o
}

// updatesByGradient reports whether the update of a model is the gradient of the step.
func (o Optimizer) updatesByGradient() bool { return o.update().isZero() && !o.GradientTracking }

func (c Changes) none() bool { return c.given() == "" }

// random reports whether the network is drawn.
func (c Changes) random() bool {
	return c.NodeFailures > 0 || c.LinkFailures > 0 || c.RandomNeighbours > 0
}

// IsStatic reports whether all steps have the same network.
func (s Spec) IsStatic() bool { return s.Changes.none() }

// IsTimeInvariant reports whether the response to a gradient depends only on how long ago that was, as structured
// strategies for very many steps need: the rates do not change, gossip follows every step, the network stays, and
// no node is absent. Steps may count differently.
func (s Spec) IsTimeInvariant() bool { return s.checkInvariant() == nil }

// checkInvariant refuses what is not time-invariant.
func (s Spec) checkInvariant() error {
	const reason = "structured strategies for very many steps need the same recursion in every step: leave out [%s]"
	field := s.Changes.given()
	switch {
	case !s.LearningRates.constant():
		field = "LearningRates"
	case s.localSteps() > 1:
		field = "LocalSteps"
	case field == "" && s.MissedSteps > 0:
		field = "MissedSteps"
	}
	if field == "" {
		return nil
	}
	return fault.New(field, nil, reason, field)
}

// given returns the first field by which the network changes, empty if it stays.
func (c Changes) given() string {
	switch {
	case c.GraphSequence != nil:
		return "GraphSequence"
	case c.NodeFailures > 0:
		return "NodeFailures"
	case c.LinkFailures > 0:
		return "LinkFailures"
	case c.RandomNeighbours > 0:
		return "RandomNeighbours"
	}
	return ""
}

func (s Spec) localSteps() int { return max(1, s.LocalSteps) }

func (s Spec) gossipRounds() int { return max(1, s.GossipRounds) }

// gossips reports whether gossip follows step t.
func (s Spec) gossips(t int) bool { return s.Kind != Prefix && (t+1)%s.localSteps() == 0 }

// Centralized returns the workload of the same optimizer without a network: of the kind Prefix, with the rates,
// momentum, decay, weights and absences of s.
func (s Spec) Centralized() Spec {
	s.Kind, s.Changes = Prefix, Changes{}
	s.LocalSteps, s.GossipRounds, s.GradientTracking = 0, 0, false
	return s
}

// Plain returns the plain workload of the same kind.
func (s Spec) Plain() Spec { return Spec{Kind: s.Kind} }

// At returns the workload of the same training at the base learning rate, which multiplies decay, too. The models'
// squared errors are the errors of the returned workload times rate².
func (s Spec) At(rate float64) Spec {
	s.WeightDecay *= rate
	return s
}

// Check finds what is wrong with the spec for T = steps. Its errors are fault.Arguments that name the field.
func (s Spec) Check(steps int) error {
	if steps < 1 {
		return fault.New("Steps", steps, "at least one step is needed")
	}
	return fault.First(func() error { return s.checkNumbers(steps) }, func() error { return s.checkRates(steps) },
		s.checkCombinations, s.GraphSequence.check, func() error {
			if s.Weights.list == nil && s.Weights.last == 0 {
				return nil
			}
			_, err := s.Weights.Vector(steps)
			return err
		})
}

func (s Spec) checkNumbers(steps int) error {
	share := func(field string, v float64) error { return fault.CheckRange(field, v, "[0,1)") }
	return cmp.Or(
		fault.If(s.Kind < Model || s.Kind > Prefix, "Workload", int(s.Kind), "is none that there is"),
		share("Momentum", s.Momentum),
		share("WeightDecay", s.WeightDecay),
		share("NodeFailures", s.NodeFailures),
		share("LinkFailures", s.LinkFailures),
		share("MissedSteps", s.MissedSteps),
		fault.If(s.LocalSteps < 0, "LocalSteps", s.LocalSteps, "must be at least 1"),
		fault.If(s.LocalSteps > steps, "LocalSteps", s.LocalSteps,
			"more than the %d steps: there would be no gossip at all", steps),
		fault.If(s.GossipRounds < 0 || s.GossipRounds > MaxGossipRounds, "GossipRounds", s.GossipRounds,
			"must be at least 1 and at most %d", MaxGossipRounds),
		fault.If(s.RandomNeighbours < 0, "RandomNeighbours", s.RandomNeighbours, "must be at least 1"),
	)
}

func (s Spec) checkRates(steps int) error {
	if s.LearningRates.form == constantRates {
		if s.WeightDecay < 1 { // no vector of very many steps before their memory is asked for
			return nil
		}
		steps = 1
	}
	rates, err := s.LearningRates.Rates(steps)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(rates, func(r float64) bool { return r*s.WeightDecay >= 1 }); i >= 0 {
		return fault.New("WeightDecay", s.WeightDecay, "times the rate %v of step %d is %v: it must be below 1",
			rates[i], i+1, rates[i]*s.WeightDecay)
	}
	return nil
}

func (s Spec) checkCombinations() error {
	return cmp.Or(
		fault.If(s.Nesterov && s.Momentum == 0, "Nesterov", nil, "is a form of momentum: give [Momentum]"),
		fault.If(s.GradientTracking && s.localSteps() > 1, "GradientTracking", nil,
			"gossips in every step: leave out [LocalSteps]"),
		fault.If(s.GradientTracking && !s.update().isZero() && !s.Changes.none(), "GradientTracking", nil,
			"with [Momentum] is for networks that do not change"),
		fault.If(s.RandomNeighbours > 0 && (s.GraphSequence != nil || s.NodeFailures > 0 || s.LinkFailures > 0),
			"RandomNeighbours", s.RandomNeighbours,
			"are drawn from all nodes: leave out [GraphSequence], [NodeFailures] and [LinkFailures]"),
		fault.If(s.Carry && s.MissedSteps == 0, "Carry", nil, "is about rows of missed steps: give [MissedSteps]"),
		fault.If(s.Kind == Prefix && (!s.Changes.none() || s.localSteps() > 1 || s.gossipRounds() > 1 || s.GradientTracking),
			"Workload", Prefix, "has no network: leave out whatever is about gossip"),
	)
}

// rates returns η_t; s must have been checked.
func (s Spec) rates(steps int) []float64 {
	rates, err := s.LearningRates.Rates(steps)
	if err != nil {
		panic(err)
	}
	return rates
}

// keeps returns 1 - η_t λ, what decay leaves of a model in step t.
func (s Spec) keeps(rates []float64) []float64 {
	return lists.Map(rates, func(r float64) float64 { return math.Max(0, 1-r*s.WeightDecay) })
}

// Kind says whose error the Gram matrix measures.
type Kind int

const (
	// Model is (I ⊗ W) W_T: the averaged models, the default.
	Model Kind = iota
	// Message is W_T: the models as they are sent, before averaging.
	Message
	// Prefix is the centralized workload: the T×T lower-triangular matrix of ones, without any network.
	Prefix
)

var kinds = enum.Of[Kind]("workload", "model", "message", "prefix")

// Kinds lists the names ParseKind accepts.
func Kinds() []string { return kinds.All() }

// String returns the name used in flags and manifests.
func (k Kind) String() string { return kinds.Name(k) }

// ParseKind is the inverse of String.
func ParseKind(name string) (Kind, error) { return kinds.Parse(name) }

// Facts returns what is trained and what counts in words, with the names of the facts, if it is more than plain gradient
// descent.
func (s Spec) Facts() (facts [][2]string) {
	fact := func(name string, parts ...string) {
		parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
		if len(parts) > 0 {
			facts = append(facts, [2]string{name, strings.Join(parts, ", ")})
		}
	}
	when := func(there bool, format string, args ...any) string {
		if !there {
			return ""
		}
		return fmt.Sprintf(format, args...)
	}
	fact("optimizer", when(s.Momentum > 0, "momentum %g%s", s.Momentum, when(s.Nesterov, " (Nesterov)")),
		when(s.LearningRates.String() != "constant", "rates %v", s.LearningRates),
		when(s.WeightDecay > 0, "weight decay %g", s.WeightDecay),
		when(s.LocalSteps > 1, "gossip after every %d steps", s.LocalSteps),
		when(s.GossipRounds > 1, "%d rounds of gossip", s.GossipRounds),
		when(s.GradientTracking, "gradient tracking"))
	q := s.GraphSequence
	fact("changes", when(q != nil, "networks that take turns"),
		when(s.NodeFailures > 0, "nodes fail with probability %g", s.NodeFailures),
		when(s.LinkFailures > 0, "links fail with probability %g", s.LinkFailures),
		when(s.RandomNeighbours > 0, "%d random neighbours", s.RandomNeighbours))
	fact("missed steps", when(s.MissedSteps > 0, "with probability %g, rows of noise %s", s.MissedSteps,
		map[bool]string{true: "carried over", false: "lost"}[s.Carry]))
	fact("counted", when(!s.CountsAll(), "steps %v", s.Weights))
	return facts
}
