package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"mafalda/accounting"
	"mafalda/accounting/sampling"
	"mafalda/factorize"
	"mafalda/internal/fault"
	"mafalda/measure"
	"mafalda/participation"
	"mafalda/strategy"
)

// Case is what is known for the choice of a way to make noise.
type Case struct {
	Problem Problem // the problem, with Sharing left empty
	// Options holds Privacy (with an ε and δ for batches in secret, and left out with Problem.Levels) and, where
	// memory counts, Budget, whose Memory is +Inf for no limit. What chooses a strategy is left out.
	Options Options

	Secret  Answer                 // can nodes keep secret which records they draw?
	Schemes []participation.Scheme // ways to draw in secret that are looked at

	Collude Answer  // may nodes tell others the secrets that they share with neighbours? No: pairs may share noise
	Sharing Sharing // who shares secrets, and who colludes, unless Collude is Yes

	// Training is what is known of the loss, for ways to be compared by their predicted excess risk, each with its best rate
	// and number of steps up to T; nil: by the errors of models whose gradients do not react. Workload, Objective, Nodes and
	// Steps are those of the Problem, whose decay is at Rate.
	Training *measure.Training
	Records  int // records of a node, for Training: those of a batch, Records/b, share its noise

	Limit time.Duration // longest search for a way; short ones are always made (comparing.short)
}

// Answer is an answer to a question of a case.
type Answer int

// The answers. What nothing was said of is not relied on: ways that would rely on it have no rank.
const (
	Unsaid Answer = iota
	Yes
	No
)

// Way is a way to make noise for a case, and what it costs at the privacy that is wanted.
type Way struct {
	Price
	Shared   bool `json:"-"`                   // pairs of nodes share noise (SecLDP); false: every node has its own (LDP)
	PerNode  bool `json:"per_node,omitempty"`  // a strategy for every node
	OneLevel bool `json:"one_level,omitempty"` // the strictest of Problem.Levels for all nodes, in their place
	Plain    bool `json:"plain,omitempty"`     // the strategy is best for gradients that do not react; false without Case.Training

	Ranked    bool     `json:"-"` // it relies on nothing but what the case says
	Privacy   *Privacy `json:"-"`
	Guarantee string   `json:"guarantee"` // what is promised, and against whom
	// LossError is how far off errors may be, relatively, because the Gram matrix is an estimate; 0: they are exact.
	LossError float64 `json:"loss_error,omitempty"`

	*Prospect // training whose rate and steps all numbers are for; nil without Case.Training
}

// Price is a strategy, and what it costs at the privacy that is wanted.
type Price struct {
	Sampling participation.Scheme `json:"-"` // how batches are drawn
	Class    factorize.Class      `json:"-"` // the class with its parameters
	strategy.NodeCost
	NoiseStd float64 `json:"noise_std"` // standard deviation of a coordinate of Z, in units of the clip
	// SquaredError is tr(C⁻ᵀHC⁻¹), of noise that is shared tr(H(M)(CᵀC)⁻¹).
	SquaredError   float64 `json:"squared_error"`
	ErrorAtPrivacy float64 `json:"error_at_privacy"` // NoiseStd² · SquaredError
}

// priceOf returns what a strategy costs with noise of a standard deviation in units of the clip.
func priceOf(s participation.Scheme, c factorize.Class, of *factorize.Result, noiseStd, squaredError float64) Price {
	return Price{s, c, of.Strategy.NodeCost(), noiseStd, squaredError, measure.ErrorAtPrivacy(noiseStd, squaredError)}
}

// way returns a way that is to be looked at.
func way(s participation.Scheme, c factorize.Class) Way {
	return Way{Price: Price{Sampling: s, Class: c}}
}

// Cost returns what ways are ranked by: the predicted excess risk, or the error at the privacy.
func (w Way) Cost() float64 {
	if w.Prospect != nil {
		return w.Total()
	}
	return w.ErrorAtPrivacy
}

// short reports whether the search for a way is short beside that of the first: own noise, one strategy for all, and batches
// in turn or, where the first is dense, one band.
func (s *comparing) short(w Way) bool {
	drawn := sampling.Of(w.Sampling).Traits().Banded
	inTurn := w.Sampling == participation.InTurn && (s.prospects == nil || w.Class == nil || w.oneBand())
	return !w.Shared && !w.PerNode && (inTurn || drawn && w.oneBand() && !s.long())
}

// oneBand reports whether noise is independent from step to step.
func (w Way) oneBand() bool { return w.Class != nil && w.Class.Parameters().Bandwidth == 1 }

// Name says what a way is.
func (w Way) Name() string {
	parts := []string{"own noise", "in turn"}
	if w.Shared {
		parts[0] = "shared noise"
	}
	if w.Sampling != participation.InTurn {
		parts[1] = w.Sampling.String()
	}
	switch c := w.Class; {
	case w.PerNode:
		parts = append(parts, "a strategy a node")
	case w.oneBand():
		parts = append(parts, "independent")
	case c != nil:
		parts = append(parts, ClassText(c))
	}
	if w.OneLevel {
		parts = append(parts, "one level for all")
	}
	if w.Plain {
		parts = append(parts, "plain")
	}
	return strings.Join(parts, ", ")
}

// LeftOut is a way that cannot be compared, with the reason.
type LeftOut struct {
	Way    string
	Reason error
}

// Comparison is what can be said of a case.
type Comparison struct {
	Case    Case
	Ways    []Way // those with a rank first; both kinds in ascending order of error
	LeftOut []LeftOut
}

// Best returns the way of least error that relies on nothing but what the case says.
func (c *Comparison) Best() Way { return c.Ways[0] }

// knownDraws is why batches in secret are left out where a case denies them.
const knownDraws = "[Sampling] cyclic: others may know which records are drawn"

// perNodeGain is how much less error, relatively, a strategy for every node must have for it to be worth n times the
// matrices.
const perNodeGain = 0.99

// Compare solves a case in all ways that are supported together. It fails where the simplest way, own noise with
// batches in turn, fails: as Check and Solve do.
func Compare(ctx context.Context, c Case) (*Comparison, error) {
	if err := CheckCase(c); err != nil {
		return nil, err
	}
	if err := c.Problem.checkNetwork(); err != nil {
		return nil, err
	}
	s := &comparing{Comparison: Comparison{Case: c}, known: knownGrams{}}
	if err := s.share(); err != nil {
		return nil, err
	}
	if c.Training != nil {
		var err error
		if s.prospects, err = newProspects(s); err != nil {
			return nil, err
		}
	}
	ways := s.candidates()
	for i, w := range ways {
		s.done, s.all = i, len(ways)
		if err := s.look(ctx, w); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(s.Ways, func(a, b Way) int {
		switch {
		case a.Ranked == b.Ranked:
			return cmp.Compare(a.Cost(), b.Cost())
		case a.Ranked:
			return -1
		}
		return 1
	})
	return &s.Comparison, nil
}

// CheckCase refuses, before any work, what Compare refuses; a network may be missing.
func CheckCase(c Case) error {
	p, o := c.Problem, c.Options
	if err := p.check(); err != nil {
		return err
	}
	switch {
	case o.Privacy == nil && p.Levels == nil:
		return fault.New("Epsilon", nil, "errors are compared at a privacy: [Epsilon] and [Delta] are needed")
	case p.Sharing != nil || o.Class != nil || o.Sampling != participation.InTurn || o.split():
		return fault.New("Class", nil, "all ways are compared: which one is not asked for")
	case !(c.Limit > 0):
		return fault.New("Limit", c.Limit, "must be positive")
	}
	if b := o.Budget; b != nil {
		if err := b.checkDim(); err != nil {
			return err
		}
	}
	if err := c.checkTraining(); err != nil {
		return err
	}
	s := comparing{Comparison: Comparison{Case: c}}
	first := s.candidates()[0]
	return s.problem(first).Check(s.options(first))
}

// comparing is a comparison that is being made.
type comparing struct {
	Comparison
	known     knownGrams
	prospects *prospects // nil without Case.Training
	sharing   *Sharing   // Case.Sharing on the network, once it is needed
	done, all int        // ways
}

// limited reports whether memory has a limit.
func (s *comparing) limited() bool {
	b := s.Case.Options.Budget
	return b != nil && !math.IsInf(b.Memory, 1)
}

// long reports whether there are more steps than dense strategies have room for.
func (s *comparing) long() bool { return s.Case.Problem.Schema.Steps() > strategy.LongSteps }

// candidates returns the ways to look at, own noise with batches in turn first. Their class is nil where it is to be
// found.
func (s *comparing) candidates() []Way {
	ways := s.ownInTurn()
	if s.Case.Problem.Network != nil {
		perNode := way(participation.InTurn, factorize.Dense{})
		perNode.PerNode = true
		ways = append(ways, perNode)
	}
	for _, scheme := range s.Case.Schemes {
		if s.Case.Training != nil && scheme != participation.Bins {
			ways = append(ways, way(scheme, factorize.Banded{Bandwidth: 1}))
		}
		ways = append(ways, way(scheme, nil))
	}
	if s.Case.Problem.Network != nil {
		ways = append(ways, Way{Shared: true})
		if slices.Contains(s.Case.Schemes, participation.Poisson) {
			ways = append(ways, Way{Shared: true, Price: Price{Sampling: participation.Poisson}})
		}
	}
	if s.Case.Problem.Levels != nil {
		ways = append(ways, Way{OneLevel: true})
	}
	for i, w := range ways {
		ways[i].Ranked = (w.Sampling == participation.InTurn || s.Case.Secret == Yes) && (!w.Shared || s.Case.Collude == No)
	}
	return ways
}

// ownInTurn returns the ways of own noise with batches in turn: the best for the memory, or for many steps each class
// that fits; then, for comparison, classes of little memory, if there is no limit, and independent noise.
func (s *comparing) ownInTurn() []Way {
	schema := s.Case.Problem.Schema
	numbers := schema.Steps() - 1
	if s.limited() {
		numbers = s.Case.Options.Budget.Floats()
	}
	var ways []Way
	switch {
	case s.long():
		for _, c := range longClasses(s.Case.Problem, numbers) {
			ways = append(ways, way(participation.InTurn, c))
		}
		if numbers > 0 {
			ways = append(ways, way(participation.InTurn, factorize.Toeplitz{Bandwidth: 1}))
		}
		return ways
	case s.limited():
		ways = []Way{{}}
	default:
		ways = []Way{{}}
		for _, c := range longClasses(s.Case.Problem, numbers) {
			if comb, is := c.(factorize.Comb); numbers > 0 && (!is || worthIt(comb, schema)) {
				ways = append(ways, way(participation.InTurn, c))
			}
		}
	}
	if s.Case.Training != nil {
		ways = append(ways, Way{Plain: true})
	}
	return append(ways, way(participation.InTurn, factorize.Banded{Bandwidth: 1}))
}

// worthIt reports whether a comb of period b keeps at most half as many numbers as the dense optimum does.
func worthIt(c factorize.Comb, schema participation.Schema) bool {
	return 2*(schema.Separation()+c.Buffers) <= schema.Steps()
}

// look tries a way, and says why it is left out; where batches are drawn in secret, and that is for want of time, it tries one
// band. It fails where ctx ends, and where the first way does.
func (s *comparing) look(ctx context.Context, w Way) error {
	reason := s.try(ctx, w)
	switch {
	case reason == nil || ctx.Err() != nil:
		return ctx.Err()
	case s.done == 0:
		return reason
	}
	one, left := w, LeftOut{w.Name(), reason}
	one.Class = factorize.Banded{Bandwidth: 1}
	again := left.IsLimit() && s.short(one) && s.prospects == nil
	if again {
		left.Way += ", more than one band"
	}
	if s.LeftOut = append(s.LeftOut, left); again {
		return s.look(ctx, one)
	}
	return nil
}

// try solves the case in one way; the error says why not.
func (s *comparing) try(ctx context.Context, w Way) error {
	nodes, p, o := s.Case.Problem.nodes(), s.problem(w), s.options(w)
	err := cmp.Or(
		fault.If(w.Sampling != participation.InTurn && s.Case.Secret == No, "Sampling", nil, knownDraws),
		fault.If(w.Shared && s.Case.Collude == Yes, "Trust", nil, "[Trust] ldp: nodes may tell others the secrets that they share"),
		fault.If(s.prospects != nil && w.PerNode, "PerNode", nil,
			"[PerNode] is not for [Curvature]: one strategy for all is looked for at every rate"),
		fault.If(w.Shared && nodes > mostThatShare, "Network", nil,
			"the best noise between nodes is looked for on at most %d nodes, not %d", mostThatShare, nodes),
	)
	if err == nil {
		err = p.Check(o)
	}
	if err != nil {
		return err
	}
	limited := ctx
	if !s.short(w) {
		const rough = 2 // how far off a guess may be
		if guess := p.Needs(o).Time; guess > rough*s.Case.Limit {
			return fault.New("Limit", nil, "not tried: roughly %v, by a guess, and [Limit] is %v", guess.Round(time.Second), s.Case.Limit)
		}
		var stop context.CancelFunc
		limited, stop = context.WithTimeout(ctx, s.Case.Limit)
		defer stop()
	}
	o.Progress = s.progress(w.Name())
	var solved *Solution
	if s.prospects != nil {
		solved, w.Prospect, err = s.prospects.search(limited, w, o)
	} else {
		solved, err = Solve(limited, p, o)
	}
	switch {
	case limited.Err() != nil:
		return fault.New("Limit", nil, "stopped after [Limit] %v", s.Case.Limit)
	case err != nil:
		return err
	}
	return s.take(w, solved)
}

// take completes a way by its solution; the error says why it is not worth it.
func (s *comparing) take(w Way, of *Solution) error {
	w.Privacy = of.Options.Privacy
	switch {
	case w.Sampling == participation.InTurn:
		w.Class = of.Options.Class
	case sampling.Of(w.Sampling).Traits().Banded:
		w.Class = factorize.Banded{Bandwidth: of.Strategy().Parameters().Bandwidth}
	}
	squared := of.Quality.SquaredError
	if w.Prospect != nil {
		squared = w.Prospect.squaredError
	}
	w.Price = priceOf(w.Sampling, w.Class, of.best(), of.Privacy.NoiseStd/of.Privacy.Clip, squared)
	if s.limited() && w.Floats > s.Case.Options.Budget.Floats() {
		return fmt.Errorf("keeps %d numbers for each parameter: %d fit", w.Floats, s.Case.Options.Budget.Floats())
	}
	w.Guarantee = of.Manifest().Guarantee()
	if e := of.Gram.LossError; e != nil {
		w.LossError = *e
	}
	if w.PerNode && len(s.Ways) > 0 && s.Ways[0].ErrorAtPrivacy*perNodeGain < w.ErrorAtPrivacy {
		return fmt.Errorf("has %.4f of the error of one strategy for all, which is not worth it",
			w.ErrorAtPrivacy/s.Ways[0].ErrorAtPrivacy)
	}
	if slices.ContainsFunc(s.Ways, func(other Way) bool { return other.Name() == w.Name() }) {
		return errors.New("has one band as the best: see there")
	}
	s.Ways = append(s.Ways, w)
	return nil
}

// problem returns what is solved for a way.
func (s *comparing) problem(w Way) Problem {
	p := s.Case.Problem
	if w.Shared {
		p.Sharing = s.sharing
	}
	if w.OneLevel {
		p.Levels = nil
	}
	return p
}

// options returns what a way is solved with.
func (s *comparing) options(w Way) Options {
	o := s.Case.Options
	o.NoBaselines, o.known = true, s.known
	o.Sampling, o.PerNode, o.Class = w.Sampling, w.PerNode, w.Class
	if w.PerNode {
		o.Class = nil
	}
	if w.OneLevel {
		adjacency := o.Privacy.adjacency()
		o.Privacy = s.Case.Problem.Levels.strictest(adjacency)
	}
	switch {
	case !s.limited() || w.Class != nil && !w.PerNode:
		o.Budget = nil
	case w.Shared || w.Sampling == participation.Bins: // which have no search for what fits
		o.Budget, o.Class = nil, s.fitting(w)
	}
	return o
}

// fitting returns the class of a way that has no search for what fits the budget: as many bands as fit under Bins, the
// class that is best for own noise where batches are in turn, and nil, for the best number of bands, under Poisson
// sampling.
func (s *comparing) fitting(w Way) factorize.Class {
	if w.Sampling == participation.Bins {
		return factorize.Banded{Bandwidth: min(s.Case.Options.Budget.Floats()+1, s.Case.Problem.Schema.Steps())}
	}
	if w.Sampling == participation.InTurn && len(s.Ways) > 0 {
		return s.Ways[0].Class
	}
	return nil
}

// mostThatShare is the most nodes for which it is found out which pairs may share noise: what follows takes a matrix
// of a row a pair.
const mostThatShare = 5000

// share finds out which pairs of the network may share noise, unless none may.
func (s *comparing) share() (err error) {
	n := s.Case.Problem.Network
	if n == nil || s.Case.Collude == Yes || n.Graph.Nodes() > mostThatShare {
		return nil
	}
	s.sharing, err = s.Case.Sharing.Resolve(n)
	return err
}

// progress passes on how far a way is, as a part of all.
func (s *comparing) progress(name string) func(Event) {
	report := s.Case.Options.Progress
	return func(e Event) {
		if report == nil || e.Note != "" {
			return
		}
		report(Event{Phase: name + ": " + e.Phase, Fraction: (float64(s.done) + e.Fraction) / float64(s.all)})
	}
}

// adjacency returns what neighbouring data sets are, zero-out for no privacy.
func (p *Privacy) adjacency() (a accounting.Adjacency) {
	if p != nil {
		a = p.Adjacency
	}
	return a
}

// IsLimit reports whether a way was left out because it takes long.
func (l LeftOut) IsLimit() bool {
	a, is := errors.AsType[*fault.Argument](l.Reason)
	return is && a.Field == "Limit"
}
