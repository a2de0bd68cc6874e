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
	X, Y float64 // of a class: ηβ, and ηλ of StronglyConvex; L of Lipschitz
}

// Kind is a kind of reaction: the name of the flag that asks for it, empty for an unknown one.
type Kind string

// The classes are explained at the constructors of reaction.Class.
const (
	AnyReaction    Kind = ""
	FixedInputs    Kind = "fixed-inputs" // gradients do not depend on models: averaging, fixed streams
	Convex         Kind = "convex"
	Smooth         Kind = "smooth"
	ClippedConvex  Kind = "clipped-convex"
	StronglyConvex Kind = "strongly-convex"
	Lipschitz      Kind = "lipschitz"
)

// kinds are the classes: what their number bounds, in words, and what makes one of it.
var kinds = map[Kind]struct {
	words string
	class func(x float64) (reaction.Class, error)
}{
	Convex:         {"convex, ηβ ≤ ", reaction.Convex},
	Smooth:         {"smooth, ηβ ≤ ", reaction.Smooth},
	ClippedConvex:  {"convex and clipped, ηβ ≤ ", reaction.ClippedConvex},
	StronglyConvex: {"strongly convex, ηβ ≤ ", nil}, // of two numbers
	Lipschitz:      {"Lipschitz, L ≤ ", reaction.Lipschitz},
}

// Classes lists the kinds that are a class of steps, with numbers.
func Classes() []Kind { return []Kind{Convex, Smooth, ClippedConvex, StronglyConvex, Lipschitz} }

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
			return Reaction{}, fault.New("Reaction", numbers, "%s", r.Kind.wants())
		}
	} else if r.classed() {
		return Reaction{}, fault.New("Reaction", text, "%s", r.Kind.wants())
	}
	return r, r.check()
}

// wants says which numbers a kind has.
func (k Kind) wants() string {
	switch k {
	case StronglyConvex:
		return "must be two numbers, ηβ and ηλ, with a comma between them"
	case Lipschitz:
		return "must be a number, L"
	case AnyReaction, FixedInputs:
		return "has no numbers"
	}
	return "must be a number, ηβ"
}

// String returns the kind and its numbers as flags take them, "convex 0.1"; empty for the zero value.
func (r Reaction) String() string {
	switch {
	case !r.classed():
		return string(r.Kind)
	case r.Kind == StronglyConvex:
		return fmt.Sprintf("%s %s,%s", r.Kind, number(r.X), number(r.Y))
	}
	return fmt.Sprintf("%s %s", r.Kind, number(r.X))
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// classed reports whether the reaction is a class of steps.
func (r Reaction) classed() bool { return kinds[r.Kind].words != "" }

// Class returns the class of steps, and false if the reaction is none. The error is a fault.Argument named Reaction.
func (r Reaction) Class() (c reaction.Class, is bool, err error) {
	switch r.Kind {
	case AnyReaction, FixedInputs:
		if r.X != 0 || r.Y != 0 {
			err = fault.New("Reaction", r.X, "%s", r.Kind.wants())
		}
		return c, false, err
	case Convex, Smooth, ClippedConvex, Lipschitz:
		c, err = kinds[r.Kind].class(r.X)
	case StronglyConvex:
		c, err = reaction.StronglyConvex(r.X, r.Y)
	default:
		return c, false, fault.New("Reaction", string(r.Kind), "is no kind of reaction")
	}
	switch {
	case err != nil && r.Kind == StronglyConvex:
		err = fault.New("Reaction", number(r.X)+","+number(r.Y), "must be finite and not negative, the second not above the first")
	case err != nil:
		err = fault.New("Reaction", r.X, "must be finite and not negative")
	case r.Kind != StronglyConvex && r.Y != 0:
		err = fault.New("Reaction", r.Y, "%s", r.Kind.wants())
	}
	return c, err == nil, err
}

func (r Reaction) check() error {
	_, _, err := r.Class()
	return err
}

// From says in words where a class is from: "convex, ηβ ≤ 0.1".
func (r Reaction) From() string {
	text := kinds[r.Kind].words + number(r.X)
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
	return "every training in which each honest node's step θ − ηg(θ) satisfies |Δstep − ρΔθ| ≤ κ|Δθ| (here: " + r.From() +
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
	return &ReactionReport{c.Rho, c.Kappa, r.From()}
}

// in returns what nodes answer, of the rules of a system: a class of gradients, or of whole steps, which have rates and
// decay in them.
func (r Reaction) in(s *reaction.System) (reaction.Reaction, error) {
	class, _, err := r.Class()
	if err != nil || r.Kind != Lipschitz {
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
