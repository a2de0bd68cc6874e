package main

import (
	"encoding/json"
	"fmt"
)

// simulatedMark is in everything that a simulation writes: its noise is made of seeds, and protects nobody.
const simulatedMark = "simulated, not private"

// mark is simulatedMark as a field of JSON that nobody can forget to fill in.
type mark struct{}

func (mark) MarshalJSON() ([]byte, error) { return json.Marshal(simulatedMark) }

func (mark) UnmarshalJSON(text []byte) error {
	var said string
	if err := json.Unmarshal(text, &said); err != nil || said != simulatedMark {
		return fmt.Errorf("%s is not %q", text, simulatedMark)
	}
	return nil
}
