package dpps

import (
	"context"
	"math"

	"mafalda/internal/enum"
	"mafalda/internal/fault"
	"mafalda/internal/rounding"
)

// Source says where the sensitivity of a round is from.
type Source int

const (
	// Sound takes constants and coefficients that are proved to be enough for the network.
	Sound Source = iota
	// Paper takes the constants of the paper, which can be too small.
	Paper
	// Omniscient takes the real one, the largest distance of two messages. No node knows it: it shows what an ideal
	// estimate would do, as in the paper's Table II.
	Omniscient
	// Given takes the constants of a Plan.
	Given
)

// sources names the sources that need nothing else; Given is the recursion of Sound with other constants.
var sources = enum.Of[Source]("estimate", "sound", "paper", "real")

// Sources lists the names ParseSource accepts.
func Sources() []string { return sources.All() }

// String returns the name; Given, which is the recursion of Sound with other constants, is named Sound, too.
func (s Source) String() string {
	if s == Given {
		s = Sound
	}
	return sources.Name(s)
}

// ParseSource returns the source with this name.
func ParseSource(name string) (Source, error) { return sources.Parse(name) }

// Plan says what noise DPPS adds, before anything is known of the network.
type Plan struct {
	B         float64   `in:"(0,)"` // b > 0 of the Laplace scale S/b
	NoiseRate float64   `in:"(0,)"` // γ_n > 0
	Sync      int       `in:"[0,)"` // rounds from one exact average of all nodes, after which S is 0, to the next; 0: no such round
	Source    Source    // source of the sensitivity
	Constants Constants // constants, if Source is Given
}

// Check refuses what makes no sense: a *fault.Argument.
func (p *Plan) Check() error {
	if err := fault.Ranges(*p); err != nil {
		return err
	}
	switch {
	case math.IsInf(p.B/p.NoiseRate, 1):
		return fault.New("B", p.B, "epsilon = b/γ_n, for γ_n = %v, is beyond all numbers", p.NoiseRate)
	case p.Source == Given:
		return p.Constants.check()
	case p.Source < 0 || p.Source > Given:
		return fault.New("Source", int(p.Source), "is none")
	}
	return nil
}

// Calibrate returns the constants that sensitivity estimates need on a sequence. It fails as Sequence.Calibrate does.
func (p *Plan) Calibrate(ctx context.Context, s *Sequence, progress func(fraction float64)) (Calibration, error) {
	switch p.Source {
	case Given:
		return Calibration{Constants: p.Constants}, nil
	case Paper:
		return Calibration{Constants: PaperConstants()}, nil
	case Omniscient:
		return Calibration{}, nil
	}
	return s.Calibrate(ctx, p.Sync, progress)
}

// Epsilon returns b/γ_n, rounded up, for which a round is differentially private (Theorem 1): it hides, given S, whose
// message an answer is.
func (p *Plan) Epsilon() float64 { return rounding.DivUp(p.B, p.NoiseRate) }
