package plan

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

const (
	estimateRounding = 1e-10 // what rounding may add to the relative error of an estimate, amply
)

// checkConfidence refuses a confidence other than that of the sketch.
func checkConfidence(g *export.Gram, s *workload.Sketch) error {
	if want := s.Confidence(); g.Confidence != want {
		return fmt.Errorf("errors of %d vectors for %d nodes have a confidence of %g, not %g",
			s.Probes(), s.Nodes(), want, g.Confidence)
	}
	return nil
}

// Judge fills in how far the loss of a strategy may be from what the estimate h says and, if it is the optimum for h but for the
// gap, how far above the true optimum it may be. The latter is not for strategies of other classes (optimum false): their loss
// does not change with the optimum's.
//
// Errors are taken as many times as large as the differences between probes say as the sketch's confidence needs, in
// addition to what few Lanczos steps may cost.
func Judge(g *export.Gram, s *workload.Sketch, h *mat.SymDense, c strategy.Strategy, optimum bool, gap float64) error {
	if s == nil {
		return nil
	}
	if err := checkConfidence(g, s); err != nil {
		return err
	}
	p, err := factorize.NewPerturber(c, h)
	if err != nil {
		return err
	}
	var first, second float64 // mean squares of the probes' errors
	var truncated factorize.Perturbation
	pairs := float64(s.Probes() * (s.Probes() - 1))
	err = s.Deviations(c.Steps(), func(e *mat.SymDense, probe bool) error {
		by := p.By(e)
		if probe {
			first += by.First * by.First / pairs
			second += by.Second / pairs
		} else {
			truncated = by
		}
		return nil
	})
	if err != nil {
		return err
	}
	factor := s.Factor()
	loss := lossError(g, factor*math.Sqrt(first), math.Abs(truncated.First))
	g.LossError = &loss
	if !optimum {
		return nil
	}
	worst := (1+excess(g, factor*factor*second, truncated.Second, loss))*(1+gap) - 1
	g.ExcessBound = &worst
	if math.IsInf(worst, 1) {
		return errors.New("the estimate of the Gram matrix is too far off to say anything: use more --probes and --lanczos-steps")
	}
	return nil
}

// lossError adds up the errors of chance, of few Lanczos steps and of rounding, which manifests without a confidence
// left out.
func lossError(g *export.Gram, random, truncated float64) float64 {
	if g.Confidence == 0 {
		return random + truncated
	}
	return random + truncated + estimateRounding
}

// excess bounds how far above the optimum for the true H the one for the estimate is, given bounds b = tr(EĤ⁻¹EX⁻¹)/f
// for the random part E of its error and for the truncated part. √b is a norm of E, which makes the b of both
// (√b+√b')², and |a| = |tr(EX⁻¹)|/f is at most √b: one event with one probability. In manifests without a confidence
// it is 2(b+b'), and the error of the loss bounds |a|.
func excess(g *export.Gram, random, truncated, loss float64) float64 {
	root := math.Sqrt(random) + math.Sqrt(truncated)
	both, along := root*root, root
	if g.Confidence == 0 {
		both, along = 2*(random+truncated), loss
	}
	up, down := factorize.Perturbation{First: along, Second: both}, factorize.Perturbation{First: -along, Second: both}
	return math.Max(up.Excess(), down.Excess())
}

// JudgeLong fills in how far the loss of a strategy may be from what an estimate says.
func JudgeLong(ctx context.Context, g *export.Gram, s *workload.Sketch, c strategy.Strategy) error {
	if s == nil {
		return nil
	}
	if err := checkConfidence(g, s); err != nil {
		return err
	}
	r, ok := strategy.InverseSeriesOf(c)
	if !ok {
		return fmt.Errorf("no Toeplitz strategy: %w", factorize.ErrUnsupported)
	}
	standard, truncation, err := s.LossError(ctx, c.Steps(), r)
	if err != nil {
		return err
	}
	both := lossError(g, s.Factor()*standard, truncation)
	g.LossError = &both
	return nil
}
