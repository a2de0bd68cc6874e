package ppac

import (
	"context"
	"math"
	"slices"

	"mafalda/internal/lists"
	"mafalda/protocols/averaging"
	"mafalda/protocols/internal/inputs"
)

// Sweep is what becomes of a problem under other noise: an entry for each of Noises.
type Sweep struct {
	Noises []float64   // standard deviations
	Errors [][]float64 // ‖v(t) - mean‖₂ of every round, mean of Realizations runs (Fereydounian et al., Figure 4)
	Rounds []float64   // rounds until the error is Timed, mean of TimedRuns runs: they grow with log(noise) (Theorem 7.2)
	Bounds []float64   // bounds of Rounds, by Lemma B.5; nil if it does not apply
	Worst  []float64   // leakage in nats of the worst pair where it is finite (Figure 5); nil if no pair is
	Mean   []float64   // mean leakage of these pairs, in nats
}

const (
	Realizations = 100  // runs that errors are the mean of
	TimedRuns    = 10   // runs that rounds are the mean of
	Timed        = 1e-3 // the error that ends them

	mostSwept = 200 // rounds of which there are errors
)

// decades returns the noises of sweeps, in units of the values' standard deviation.
func decades() []float64 { return []float64{1.5, 15, 150, 1500, 15000, 150000} }

// Sweep runs the problem again with noise from 1.5 to 150000 times the values', with the same values, neighbours and
// observers. The only error is the context's, but for networks whose eigenvalues do not converge.
func (a *Averaging) Sweep(ctx context.Context, progress func(fraction float64)) (*Sweep, error) {
	w := a.Problem.Network.Gossip
	second, err := w.SecondEigenvalue()
	if err != nil {
		return nil, err
	}
	s := &Sweep{Noises: lists.Map(decades(), func(scale float64) float64 { return scale * a.Problem.ValueStd })}
	n, rounds := len(s.Noises), min(len(a.Run.Values)-1, mostSwept)
	s.Errors, s.Rounds, s.Bounds = make([][]float64, n), make([]float64, n), make([]float64, n)
	err = forEach(ctx, n, nil, func(ctx context.Context, i int) error {
		s.Errors[i] = make([]float64, rounds+1)
		err := a.forRuns(ctx, i, s.Noises[i], swept{Realizations, rounds, 0}, func(run *Run) {
			for t, v := range run.Errors() {
				s.Errors[i][t] += v / Realizations
			}
		})
		if err != nil {
			return err
		}
		timed := swept{TimedRuns, averaging.MostRounds(a.protocol.Nodes()), Timed}
		return a.forRuns(ctx, i, s.Noises[i], timed, func(run *Run) {
			s.Rounds[i] += float64(len(run.Values)-1) / TimedRuns
			s.Bounds[i] += math.Ceil(math.Log((1+run.Error(0))/Timed)/math.Log(1/second.Modulus)) / TimedRuns
		})
	})
	if err != nil {
		return nil, err
	}
	if !w.Symmetric() || !(second.Modulus > 0) {
		s.Bounds = nil
	}
	return s, a.sweepLeakages(ctx, s, progress)
}

// swept says how many runs there are under a noise, of how many rounds at most, and how close nodes come before that
// ends one.
type swept struct {
	runs, rounds int
	tolerance    float64
}

// forRuns calls f with a number of runs under noise i, which has a generator of its own.
func (a *Averaging) forRuns(ctx context.Context, i int, noise float64, of swept, f func(run *Run)) error {
	r := (inputs.Sweep + inputs.Purpose(i)).Random(a.Problem.Seed)
	for range of.runs {
		run, err := a.protocol.Prepare(a.Problem.Values, Deviations{a.Problem.ValueStd, noise}, r)
		if err == nil {
			err = a.protocol.Average(ctx, run, of.rounds, of.tolerance)
		}
		if err != nil {
			return err
		}
		f(run)
	}
	return nil
}

func (a *Averaging) sweepLeakages(ctx context.Context, s *Sweep, progress func(fraction float64)) error {
	for i, noise := range s.Noises {
		each := make([][]Leakage, len(a.observed))
		err := forEach(ctx, len(each), func(done float64) {
			if progress != nil {
				progress((float64(i) + done) / float64(len(s.Noises)))
			}
		}, func(ctx context.Context, o int) (err error) {
			each[o], err = a.leakages(ctx, a.observed[o].view, noise)
			return err
		})
		if err != nil {
			return err
		}
		most, sum, finite := 0.0, 0.0, 0
		for _, l := range slices.Concat(each...) {
			if !math.IsInf(l.Nats, 1) {
				most, sum, finite = max(most, l.Nats), sum+l.Nats, finite+1
			}
		}
		if finite == 0 {
			s.Worst, s.Mean = nil, nil
			return nil
		}
		s.Worst, s.Mean = append(s.Worst, most), append(s.Mean, sum/float64(finite))
	}
	return nil
}
