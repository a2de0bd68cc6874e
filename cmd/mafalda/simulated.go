package main

// simulatedNote is in everything that a simulation writes: its noise is made of seeds, and protects nobody.
const simulatedNote = "simulated, not private"

// simulated marks the JSON of simulations.
type simulated struct {
	Simulated bool   `json:"simulated"`
	Note      string `json:"note"`
}

// isSimulated is the mark where noise comes from a seed; isRevealing that of results that also hold secrets of nodes.
var (
	isSimulated = simulated{true, simulatedNote}
	isRevealing = simulated{true, simulatedNote + ": noise comes from a seed, and here is what nodes keep to themselves"}
)
