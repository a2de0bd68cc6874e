package report

import (
	"fmt"

	"mafalda/internal/study"
	"mafalda/threat"
)

// words says an input of a study for people: what it is called, and its value; no name if it says nothing. Inputs that
// are not known here are as they are in the file.
func words(in study.Inputs, name, value string) (called, text string) {
	unless := func(none, called, text string) (string, string) {
		if value == none {
			return "", ""
		}
		return called, text
	}
	switch name {
	case "graph", "gossip", "algorithm", "adjacency", "objective":
		return name, value
	case "dropped nodes":
		return unless("0", "left out", value+" nodes outside the largest component")
	case "directed":
		return "edges", "directed"
	case "T":
		return "steps", "T = " + value
	case "rounds":
		return unless("1", "gossip", value+" rounds a step")
	case "own noise", "shared noise":
		if Setting(in, "algorithm") != "decor" {
			return "", ""
		}
		return name, "standard deviation " + upText(value)
	case "trust":
		return "the attacker", views(value)
	case "secure summation":
		return name, "nodes see only weighted sums of messages"
	case "forget own noise":
		return "the attacker's own noise", "counts as protection"
	case "bound":
		if of := Setting(in, "gradients"); of != "" && of != string(threat.FixedInputs) {
			return "", "" // it is of gradients that do not react
		}
		return "sensitivity", bounds(value)
	case "gradients":
		return name, gradients(value)
	case "refined":
		return unless("false", "bounds", "the best ones of the pairs that lose most at each distance")
	case "worst answers":
		return unless("false", name, "of the class, as far as they are found")
	case "sigma":
		return "noise", "standard deviation " + upText(value) + ", over what a record can move a sum of gradients by"
	case "delta":
		return unless("0", "δ", upText(value))
	case "epsilon":
		return "ε", value
	case "alpha":
		return "Rényi divergence", "of order " + value
	case "data":
		if task := Setting(in, "task"); task == "linear" || task == "logistic" {
			return "data", value + " made records"
		}
	case "clip":
		return name, "gradients have a norm of at most " + value
	case "test rows":
		return unless("0", "test loss", "on the first "+value+" test records")
	case "steps between losses":
		return unless("1", "losses", "every "+value+" steps")
	case "samples":
		return name, value + " of the accountant"
	case "failure":
		return "chance that the accountant's samples err", upText(value)
	}
	return name, value
}

// gradients says how gradients react to models.
func gradients(value string) string {
	r, err := threat.ParseReaction(value)
	of := r.Report()
	switch {
	case value == "any":
		return "any: they may react to models in every way"
	case r.Kind == threat.FixedInputs:
		return "none: inputs do not react to models"
	case err != nil || of == nil:
		return value
	}
	return fmt.Sprintf("%s: ρ = %.6g, κ = %.6g", of.From, of.Rho, of.Kappa)
}

// bounds says how a sensitivity was bounded, by the name of the measure.
func bounds(measure string) string {
	switch measure {
	case "best":
		return "the smallest proven bound"
	case "abs":
		return "the bound by absolute values (Bellet et al., Theorem 7)"
	case "spectral":
		return "the bound by the largest eigenvalue (Koskela & Kulkarni)"
	case "exact":
		return "the value for vector gradients, within a proven gap"
	case "lower":
		return "what is certainly lost: a record can lose more"
	}
	return measure
}
