package measure

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/strategy"
	"mafalda/workload"
)

// estimateRounding is what rounding may add to the relative error of an estimate, amply.
const estimateRounding = 1e-10

// ErrEstimate is returned for an estimate that says nothing of the optimum: it takes more probes and Lanczos steps.
var ErrEstimate = errors.New("the estimate of the Gram matrix is too far off to say anything")

// checkConfidence rejects a confidence other than the sketch's.
func checkConfidence(g *export.Gram, s workload.Estimate) error {
	if want := s.Confidence(); g.Confidence != want {
		return fmt.Errorf("errors of %d vectors for %d nodes have a confidence of %g, not %g",
			s.Probes(), s.Nodes(), want, g.Confidence)
	}
	return nil
}

// Deviation is how far a strategy's loss is from that for the true Gram matrix, by the differences between probes.
type Deviation struct {
	gram      *export.Gram
	random    float64                // mean square of second order, times the square of the sketch's factor
	truncated factorize.Perturbation // perturbation by few Lanczos steps
}

// Judge fills in how far the loss of a strategy may be from what the estimate h says.
//
// Errors are taken as many times as large as the differences between probes say as the sketch's confidence needs, in
// addition to what few Lanczos steps may cost.
func Judge(g *export.Gram, s workload.Estimate, h *mat.SymDense, c strategy.Strategy) (*Deviation, error) {
	if err := checkConfidence(g, s); err != nil {
		return nil, err
	}
	p, err := factorize.NewPerturber(c, h)
	if err != nil {
		return nil, err
	}
	d := &Deviation{gram: g}
	var first, second float64 // mean squares of the probes' errors
	pairs := float64(s.Probes() * (s.Probes() - 1))
	err = s.Deviations(c.Steps(), func(e *mat.SymDense, probe bool) error {
		by := p.By(e)
		if probe {
			first += by.First * by.First / pairs
			second += by.Second / pairs
		} else {
			d.truncated = by
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	factor := s.Factor()
	d.random = factor * factor * second
	g.LossError = new(lossError(factor*math.Sqrt(first), math.Abs(d.truncated.First)))
	return d, nil
}

// Optimum fills in how far above the true optimum the strategy may be, if it is the optimum for the estimate but for
// the gap. It is not for strategies of other classes: their loss does not change with the optimum's.
func (d *Deviation) Optimum(gap float64) error {
	d.gram.ExcessBound = new((1+excess(d.random, d.truncated.Second))*(1+gap) - 1)
	if math.IsInf(*d.gram.ExcessBound, 1) {
		return ErrEstimate
	}
	return nil
}

// lossError adds up the errors of chance, of few Lanczos steps and of rounding.
func lossError(random, truncated float64) float64 { return random + truncated + estimateRounding }

// excess bounds how far above the optimum for the true H the one for the estimate is, given bounds b = tr(EĤ⁻¹EX⁻¹)/f
// for the random part E of its error and for the truncated part. √b is a norm of E, which makes the b of both
// (√b+√b')², and |a| = |tr(EX⁻¹)|/f is at most √b: one event with one probability.
func excess(random, truncated float64) float64 {
	root := math.Sqrt(random) + math.Sqrt(truncated)
	up, down := factorize.Perturbation{First: root, Second: root * root}, factorize.Perturbation{First: -root, Second: root * root}
	return math.Max(up.Excess(), down.Excess())
}

// JudgeLong fills in how far the loss of a strategy may be from what an estimate says.
func JudgeLong(ctx context.Context, g *export.Gram, s *workload.Sketch, c strategy.Strategy) error {
	if err := checkConfidence(g, s); err != nil {
		return err
	}
	standard, truncation, err := s.LossError(ctx, c.Steps(), func(r *workload.Response) (float64, error) {
		return factorize.ResponseError(r, c)
	})
	if err != nil {
		return err
	}
	g.LossError = new(lossError(s.Factor()*standard, truncation))
	return nil
}
