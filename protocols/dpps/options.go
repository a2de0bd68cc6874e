package dpps

import (
	"errors"

	"mafalda/internal/fault"
	"mafalda/internal/rounding"
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

// Estimate says where the sensitivity of a round comes from.
type Estimate int

const (
	// Recursion is Equation 22, or what is smaller with ergodicity coefficients: what the nodes can compute.
	Recursion Estimate = iota
	// Real is the largest distance of two messages. No node knows it: it shows what an ideal estimate would do, as in
	// the paper's Table II.
	Real
)

// Options says how DPPS runs. B and NoiseRate must be set.
type Options struct {
	Calibration Calibration // a sound one is from Sequence.Calibrate
	Estimate    Estimate
	B           float64 // b > 0 of the Laplace scale S/b
	NoiseRate   float64 // γ_n > 0
	Sync        int     // all nodes average exactly in every Sync-th round, after which S is 0; 0: never
	NoNoise     bool    // run without noise, and without a guarantee
}

// Epsilon returns b/γ_n, rounded up, for which a round is differentially private (Theorem 1): it hides, given S, whose
// message an answer is.
func (o Options) Epsilon() float64 { return rounding.DivUp(o.B, o.NoiseRate) }

func (o Options) check() error {
	if !o.NoNoise {
		if err := fault.Positive("B", o.B); err != nil {
			return err
		}
		if err := fault.Positive("NoiseRate", o.NoiseRate); err != nil {
			return err
		}
	}
	if o.Sync < 0 {
		return fault.New("Sync", o.Sync, "must not be negative")
	}
	if h := o.Calibration.Horizon; h > 0 && (o.Sync == 0 || o.Sync > h) {
		return fault.New("Sync", o.Sync, "the calibration is for every %d rounds, or more often", h)
	}
	if o.Estimate == Recursion {
		return o.Calibration.check()
	}
	return nil
}
