package dpps

import (
	"context"

	"mafalda/internal/lists"
	"mafalda/protocols/internal/consensus"
)

// Averaging is what came of averaging single numbers.
type Averaging struct {
	Mean   float64   // of the values
	Errors []float64 // ‖y(t) - Mean·1‖₂ at the start and after every round
	Rounds []Report
}

// Scalars makes vectors of one coordinate, for NewPushSum.
func Scalars(u []float64) [][]float64 {
	return lists.Map(u, func(v float64) []float64 { return []float64{v} })
}

// Average runs the given number of rounds without perturbations and says how far the nodes' first coordinates are from
// their mean before. It fails as Round does, and when the context ends.
func (p *PushSum) Average(ctx context.Context, rounds int) (*Averaging, error) {
	now := p.firsts()
	a := &Averaging{Mean: consensus.Mean(now)}
	a.Errors = append(a.Errors, consensus.Distance(now, a.Mean))
	for range rounds {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		report, err := p.Round(nil)
		if err != nil {
			return nil, err
		}
		a.Rounds = append(a.Rounds, report)
		a.Errors = append(a.Errors, consensus.Distance(p.firsts(), a.Mean))
	}
	return a, nil
}

// firsts returns the first coordinates of y.
func (p *PushSum) firsts() []float64 {
	return lists.Map(p.corrected, func(y []float64) float64 { return y[0] })
}
