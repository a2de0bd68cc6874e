// Package simulated marks the results of simulations, so that their noise is not taken for protection.
package simulated

// Note is in everything that a simulation writes: its noise is made of seeds, and protects no record.
const Note = "simulated, not private"

// Mark is what the JSON of simulations starts with.
type Mark struct {
	Simulated bool   `json:"simulated"`
	Text      string `json:"note"`
}

// Noise is the mark where noise comes from a seed.
func Noise() Mark { return Mark{true, Note} }

// Revealing returns the mark of results that also hold secrets of nodes.
func Revealing() Mark {
	return Mark{true, Note + ": noise comes from a seed, and here is what nodes keep to themselves"}
}
