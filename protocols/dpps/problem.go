package dpps

import (
	"context"
	"errors"
	"fmt"

	"mafalda/accounting"
	"mafalda/internal/lists"
	"mafalda/protocols/averaging"
	"mafalda/protocols/internal/consensus"
	"mafalda/protocols/internal/inputs"
	"mafalda/simulated"
)

// Problem is a network whose nodes average their values with DPPS.
type Problem struct {
	Plan
	Sequence *Sequence
	Name     string    // name of the sequence
	Values   []float64 // values of the nodes
	Rounds   int
	Delta    float64 // δ for which rounds are composed
	Seed     uint64  // seed of the noise

	Progress func(fraction float64) // hears how far the calibration is, if not nil
	Unsound  func(c Constants)      // hears, before the first round, of constants that are not known to be sound
}

// DefaultRounds is the number of rounds by default.
const DefaultRounds = 10

// Result is what came of a problem, as plain data.
type Result struct {
	simulated.Mark
	Protocol   string    `json:"protocol"`
	Graph      string    `json:"graph"`
	Nodes      int       `json:"nodes"`
	Period     int       `json:"period"`
	Seed       uint64    `json:"seed"`
	B          float64   `json:"b"`
	NoiseRate  float64   `json:"gamma_n"`
	Sync       int       `json:"sync"`
	Estimate   string    `json:"estimate"`
	C          float64   `json:"c_prime,omitempty"`
	Lambda     float64   `json:"lambda,omitempty"`
	Sound      *bool     `json:"constants_sound,omitempty"` // absent: not known, or not used
	Needed     float64   `json:"c_prime_needed,omitempty"`  // least C' that is sound with this lambda
	Ergodicity []float64 `json:"ergodicity,omitempty"`
	Broadcast  int       `json:"broadcast_rounds"` // rounds of max-consensus, in every round
	Mean       float64   `json:"mean"`
	Rounds     []Report  `json:"rounds"`
	Errors     []float64 `json:"errors"` // ‖y(t) - mean‖₂ at the start and after every round
	MeanRatio  float64   `json:"mean_real_over_estimated"`
	MostRatio  float64   `json:"largest_real_over_estimated"`
	Epsilon    float64   `json:"epsilon_per_round"`
	Basic      float64   `json:"epsilon_basic"` // ε as if rounds had noise of their own: no guarantee
	Advanced   float64   `json:"epsilon_advanced"`
	Delta      float64   `json:"delta"`
	Composed   bool      `json:"composition_proved"`
}

// check finds, before anything is computed, what makes no sense.
func (p *Problem) check() error {
	if err := p.Plan.Check(); err != nil {
		return err
	}
	if len(p.Values) != p.Sequence.Nodes() {
		return fmt.Errorf("%w: %d values for %d nodes", ErrNetwork, len(p.Values), p.Sequence.Nodes())
	}
	if err := averaging.CheckRounds(p.Sequence.Nodes(), p.Rounds); err != nil {
		return err
	}
	_, err := accounting.ComposeAdvanced(p.Epsilon(), p.Rounds, p.Delta)
	return err
}

// Average solves a problem with DPPS. It fails for arguments out of range (*fault.Argument; ErrNetwork;
// accounting.ComposeAdvanced), as Sequence.Calibrate and PushSum.Round do (ErrSensitivity and ErrDiverged among their
// errors), and when the context ends.
func Average(ctx context.Context, p Problem) (*Result, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	s := p.Sequence
	c, err := p.Calibrate(ctx, s, p.Progress)
	if err != nil {
		return nil, err
	}
	r := &Result{Mark: simulated.Revealing(), Protocol: "dpps", Graph: p.Name, Nodes: s.Nodes(), Period: s.Period(),
		Seed: p.Seed, B: p.B, NoiseRate: p.NoiseRate, Sync: p.Sync, Estimate: p.Source.String(), C: c.C,
		Lambda: c.Lambda, Ergodicity: c.Ergodicity, Delta: p.Delta}
	if r.Broadcast, err = s.BroadcastRounds(ctx); err != nil {
		return nil, err
	}
	if err := r.judge(ctx, p, c.Constants); err != nil {
		return nil, err
	}
	vectors := lists.Map(p.Values, func(v float64) []float64 { return []float64{v} })
	sum, err := NewPushSum(s, vectors, Options{Plan: p.Plan, Calibration: c}, inputs.Noise.Random(p.Seed))
	if err != nil {
		return nil, err
	}
	if err := r.run(ctx, sum, p.Rounds); err != nil {
		return nil, err
	}
	return r, r.account(p.Epsilon(), p.Rounds)
}

// judge says whether constants are sound.
func (r *Result) judge(ctx context.Context, p Problem, c Constants) error {
	switch p.Source {
	case Omniscient:
		return nil
	case Sound:
		sound := true
		r.Sound, r.Needed = &sound, c.C
		return nil
	}
	necessary, enough, err := p.Sequence.SoundConstant(ctx, c.Lambda, p.Sync, p.Progress)
	switch {
	case errors.Is(err, ErrTooLarge): // unknown
	case err != nil:
		return err
	default:
		sound := c.C >= enough
		if r.Needed = necessary; sound || c.C < necessary*(1-1e-9) {
			r.Sound = &sound
		}
	}
	if p.Unsound != nil && (r.Sound == nil || !*r.Sound) {
		p.Unsound(c)
	}
	return nil
}

// still is the share of the first sensitivity below which a round does nothing but rounding.
const still = 1e-9

// Moves reports whether this much sensitivity is more than what rounding makes of the first.
func (r *Result) Moves(sensitivity float64) bool { return sensitivity > still*r.Rounds[0].Estimated }

// run fills in what a number of rounds come to.
func (r *Result) run(ctx context.Context, p *PushSum, rounds int) error {
	values := func() []float64 { return lists.Map(p.corrected, func(y []float64) float64 { return y[0] }) }
	r.Mean = consensus.Mean(values())
	r.Errors = append(r.Errors, consensus.Distance(values(), r.Mean))
	counted := 0
	for range rounds {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		report, err := p.Round(nil)
		if err != nil {
			return err
		}
		r.Rounds = append(r.Rounds, report)
		r.Errors = append(r.Errors, consensus.Distance(values(), r.Mean))
		if r.Moves(report.Estimated) {
			ratio := report.Real / report.Estimated
			r.MeanRatio += ratio
			r.MostRatio = max(r.MostRatio, ratio)
			counted++
		}
	}
	if counted > 0 {
		r.MeanRatio /= float64(counted)
	}
	return nil
}

// account composes the rounds.
func (r *Result) account(epsilon float64, rounds int) (err error) {
	r.Epsilon = epsilon
	if r.Basic, err = accounting.ComposeBasic(epsilon, rounds); err != nil {
		return err
	}
	r.Advanced, err = accounting.ComposeAdvanced(epsilon, rounds, r.Delta)
	return err
}
