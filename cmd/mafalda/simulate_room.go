package main

import (
	"fmt"

	"mafalda/internal/cli"
	"mafalda/simulate"
)

// matricesBytes is what a strategy of so many steps takes while it is made: about 60 matrices of T×T.
func matricesBytes(steps int) float64 { return 60 * 8 * float64(steps) * float64(steps) }

// simulatedFeatures and simulatedClasses are what the synthetic tasks have.
const simulatedFeatures, simulatedClasses = 20, 4

// checkRoom refuses what flags alone show to be too large: steps, records, and runs that are kept.
func (f *simulateFlags) checkRoom(steps int) error {
	if err := cli.CheckMemory(fmt.Sprintf("T = %d", steps), matricesBytes(steps)); err != nil {
		return err
	}
	record := 4 * float64(simulatedFeatures+1)
	if err := cli.CheckMemory(fmt.Sprintf("--records %d", f.records),
		3*record*float64(f.records)); err != nil { // made, dealt, and the order
		return err
	}
	runs := float64(f.seeds) * float64(len(f.methods)) * float64(max(len(f.mus), len(f.epsilons), 1))
	run := 500 + 16*float64(min(steps, 128+simulate.Window)) // losses and their steps
	if f.out != "" {
		run *= 4 // as text, in a buffer that grows
	}
	return cli.CheckMemory(fmt.Sprintf("--seeds %d, %.3g runs in all,", f.seeds, runs), run*runs)
}
