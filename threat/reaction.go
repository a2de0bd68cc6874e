package threat

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"mafalda/internal/fault"
	"mafalda/threat/reaction"
)

// Reaction says how gradients of honest nodes answer to the nodes' models, on which depends what an attacker under PNDP
// learns of a network that trains. The zero value says that nothing is known: whatever is then guaranteed is local DP.
type Reaction struct {
	Kind Kind
	X, Y float64 // the numbers of a class: ηβ, and ηλ of StronglyConvex; L of Lipschitz
}

// Kind is a kind of reaction: the name of the flag that asks for it, empty for an unknown one.
type Kind = reaction.Kind

const (
	AnyReaction    Kind = ""
	FixedInputs    Kind = "fixed-inputs" // gradients do not depend on models: averaging, fixed streams
	Convex              = reaction.Convex
	Smooth              = reaction.Smooth
	ClippedConvex       = reaction.ClippedConvex
	StronglyConvex      = reaction.StronglyConvex
	Lipschitz           = reaction.Lipschitz
)

// Classes lists the kinds that are a class of steps, with numbers.
func Classes() []Kind { return reaction.Kinds() }

// ParseReaction is the inverse of String. The error is a fault.Argument named Reaction.
func ParseReaction(text string) (Reaction, error) {
	name, numbers, _ := strings.Cut(text, " ")
	r := Reaction{Kind: Kind(name)}
	if numbers != "" {
		x, y, two := strings.Cut(numbers, ",")
		var errs [2]error
		r.X, errs[0] = strconv.ParseFloat(strings.TrimSpace(x), 64)
		if two {
			r.Y, errs[1] = strconv.ParseFloat(strings.TrimSpace(y), 64)
		}
		if errs[0] != nil || errs[1] != nil || two != (r.Kind == StronglyConvex) {
			return Reaction{}, fault.New("Reaction", numbers, "%s", r.Kind.Wants())
		}
	} else if r.classed() {
		return Reaction{}, fault.New("Reaction", text, "%s", r.Kind.Wants())
	}
	return r, r.check()
}

// String returns the kind and its numbers as flags take them, "convex 0.1"; empty for the zero value.
func (r Reaction) String() string {
	if !r.classed() {
		return string(r.Kind)
	}
	return string(r.Kind) + " " + r.Kind.Numbers(r.X, r.Y)
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// classed reports whether the reaction is a class of steps.
func (r Reaction) classed() bool { return r.Kind.Words() != "" }

// Class returns the class of steps, and false if the reaction is none. The error is a fault.Argument named Reaction.
func (r Reaction) Class() (c reaction.Class, is bool, err error) {
	if r.Kind != AnyReaction && r.Kind != FixedInputs {
		c, err = r.Kind.Class(r.X, r.Y)
		return c, err == nil, err
	}
	if r.X != 0 || r.Y != 0 {
		err = fault.New("Reaction", r.X, "%s", r.Kind.Wants())
	}
	return c, false, err
}

func (r Reaction) check() error {
	_, _, err := r.Class()
	return err
}

// Origin says in words where a class is from: "convex, ηβ ≤ 0.1".
func (r Reaction) Origin() string {
	text := r.Kind.Words() + number(r.X)
	if r.Kind == StronglyConvex {
		text += ", ηλ ≥ " + number(r.Y)
	}
	return text
}

// Everything is what local DP holds for.
const Everything = "every training, however gradients react: local DP"

// WhateverIsDrawn is what local DP holds for where networks or absences are drawn.
const WhateverIsDrawn = "every training, however gradients react, and whatever is drawn: local DP"

// HoldsFor returns what numbers hold for under a trust model, a sentence for a reader: nothing where all messages are
// public, whose numbers hold however nodes react.
func (r Reaction) HoldsFor(t Trust) string {
	switch {
	case t.Public():
		return ""
	case r.Kind == AnyReaction:
		return Everything
	case r.Kind == FixedInputs:
		return Condition
	}
	return "every training in which each honest node's step θ − ηg(θ) satisfies |Δstep − ρΔθ| ≤ κ|Δθ| (here: " + r.Origin() +
		"); otherwise local DP"
}

// Lost is what numbers of the measure Certain hold for.
const Lost = "nothing: what is certainly lost where inputs do not react to models; the guarantee is local DP"

// HoldsFor returns what numbers of an algorithm hold for, as Reaction.HoldsFor does, and, of networks or absences that are
// drawn, what those of one draw do.
func (o AssessOptions) HoldsFor(a Algorithm, t Trust) (holds, drawn string) {
	if holds = o.Reaction.HoldsFor(t); o.Measure == Certain {
		holds = Lost
	}
	if training := a.Training(); !t.Public() && training.Drawn() {
		return WhateverIsDrawn, fmt.Sprintf("the networks and absences that seed %d draws, and no others, and %s", training.Seed, holds)
	}
	return holds, ""
}

// ReactionReport is the class that the numbers of a Report hold for.
type ReactionReport struct {
	Rho   float64 `json:"rho"`
	Kappa float64 `json:"kappa"`
	From  string  `json:"from"`
}

// Report returns the report of a class; nil for other kinds.
func (r Reaction) Report() *ReactionReport {
	c, is, err := r.Class()
	if !is || err != nil {
		return nil
	}
	return &ReactionReport{c.Rho, c.Kappa, r.Origin()}
}

// answers returns the class of every node's answer in a system: one of gradients, or one of whole steps, which have the
// rates and decay of the rules in them; nil where nothing is known of them.
func (r Reaction) answers(s *reaction.System) (reaction.Reaction, error) {
	class, is, err := r.Class()
	if !is {
		return nil, err
	}
	if r.Kind != Lipschitz {
		return reaction.Everywhere(class), err
	}
	classes := make([]reaction.Class, len(s.Steps))
	for t, step := range s.Steps {
		classes[t] = class
		if step.Rule != nil {
			keep, rate := step.Rule[0][0], step.Rule[0][len(step.Rule)]
			classes[t] = class.AtRate(rate, keep)
		}
		if math.IsNaN(classes[t].Rho) || math.IsInf(classes[t].Rho, 0) {
			return nil, fault.New("Reaction", r.X, "is of steps with a rate of 0")
		}
	}
	return func(t, _ int) reaction.Class { return classes[t] }, nil
}
