package dpps

import (
	"errors"

	"mafalda/internal/fault"
	"mafalda/protocols/internal/consensus"
)

// ErrNetwork is wrapped by errors about a sequence that the protocol cannot run on, or about values that do not
// belong to it. It is the same in all rooms of protocols.
var ErrNetwork = consensus.ErrNetwork

// ErrSensitivity is wrapped by the error about a round whose estimated sensitivity is below the real one: its noise
// was too small.
var ErrSensitivity = errors.New("sensitivity underestimated")

// ErrDiverged is wrapped by the error about messages that have left the range of numbers: noise made the sensitivity
// grow, and the sensitivity the noise.
var ErrDiverged = errors.New("diverged")

// Options says how DPPS runs.
type Options struct {
	Plan
	Calibration Calibration // calibration of the plan, on the sequence
	NoNoise     bool        // run without noise, and without a guarantee: B and NoiseRate do not count
}

func (o Options) check() error {
	if o.NoNoise {
		o.B, o.NoiseRate = 1, 1
	}
	if err := o.Plan.Check(); err != nil {
		return err
	}
	if h := o.Calibration.Horizon; h > 0 && (o.Sync == 0 || o.Sync > h) {
		return fault.New("Sync", o.Sync, "the calibration is for every %d rounds, or more often", h)
	}
	if o.Source == Omniscient {
		return nil
	}
	return o.Calibration.check()
}
