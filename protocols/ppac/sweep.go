package ppac

import (
	"context"
	"errors"
	"math"

	"mafalda/internal/parallel"
	"mafalda/protocols/averaging"
	"mafalda/protocols/internal/seeds"
)

// Sweep is what becomes of a problem under other noise: an entry for each of Noises.
type Sweep struct {
	Noises []float64   // standard deviations
	Errors [][]float64 // ‖v(t) - mean‖₂ of every round, mean of Realizations runs (Fereydounian et al., Figure 4)
	Rounds []float64   // until the error is Timed, mean of TimedRuns runs: they grow with log(noise) (Theorem 7.2)
	Bounds []float64   // of Lemma B.5 on them; nil if it does not apply
	Worst  []float64   // leakage in nats (Figure 5): of the worst pair where it is finite; nil if there is none
	Mean   []float64   // of these pairs
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
	s := &Sweep{}
	for _, scale := range decades() {
		s.Noises = append(s.Noises, scale*a.Problem.ValueStd)
	}
	for _, step := range []func(context.Context, *Sweep) error{a.sweepErrors, a.sweepRounds} {
		if err := step(ctx, s); err != nil {
			return nil, err
		}
	}
	return s, a.sweepLeakages(ctx, s, progress)
}

// forNoises calls f with every noise, on all processors, each with a generator of its own, and returns its errors.
func (a *Averaging) forNoises(s *Sweep, f func(i int, start func() (*Run, error)) error) error {
	errs := make([]error, len(s.Noises))
	parallel.For(len(errs), func(i int) {
		r := (seeds.Sweep + seeds.Purpose(i)).Random(a.Problem.Seed)
		errs[i] = f(i, func() (*Run, error) {
			return a.protocol.Prepare(a.Problem.Values, Uniform(a.Problem.ValueStd, s.Noises[i]), r)
		})
	})
	return errors.Join(errs...)
}

func (a *Averaging) sweepErrors(ctx context.Context, s *Sweep) error {
	rounds := min(len(a.Run.Values)-1, mostSwept)
	s.Errors = make([][]float64, len(s.Noises))
	return a.forNoises(s, func(i int, start func() (*Run, error)) error {
		sums := make([]float64, rounds+1)
		for range Realizations {
			run, err := start()
			if err != nil {
				return err
			}
			if err := a.protocol.Average(ctx, run, rounds, 0); err != nil {
				return err
			}
			for t, v := range run.Errors() {
				sums[t] += v / Realizations
			}
		}
		s.Errors[i] = sums
		return nil
	})
}

func (a *Averaging) sweepRounds(ctx context.Context, s *Sweep) error {
	w := a.Problem.Network.Gossip
	second, err := w.SecondEigenvalue()
	if err != nil {
		return err
	}
	limit := averaging.MostRounds(a.protocol.Nodes())
	s.Rounds, s.Bounds = make([]float64, len(s.Noises)), make([]float64, len(s.Noises))
	err = a.forNoises(s, func(i int, start func() (*Run, error)) error {
		for range TimedRuns {
			run, err := start()
			if err != nil {
				return err
			}
			if err := a.protocol.Average(ctx, run, limit, Timed); err != nil {
				return err
			}
			s.Rounds[i] += float64(len(run.Values)-1) / TimedRuns
			s.Bounds[i] += math.Ceil(math.Log((1+run.Error(0))/Timed)/math.Log(1/second.Modulus)) / TimedRuns
		}
		return nil
	})
	if !w.Symmetric() || !(second.Modulus > 0) {
		s.Bounds = nil
	}
	return err
}

func (a *Averaging) sweepLeakages(ctx context.Context, s *Sweep, progress func(fraction float64)) error {
	for i, noise := range s.Noises {
		leaks, err := a.leakagesUnder(ctx, noise, func(done float64) {
			if progress != nil {
				progress((float64(i) + done) / float64(len(s.Noises)))
			}
		})
		if err != nil {
			return err
		}
		most, sum, finite := 0.0, 0.0, 0
		for _, l := range leaks {
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

// leakagesUnder returns the leakages of all requested pairs with another noise, on all processors.
func (a *Averaging) leakagesUnder(ctx context.Context, noise float64, done func(float64)) ([]Leakage, error) {
	each := make([][]Leakage, len(a.observed))
	err := forEach(ctx, len(each), done, func(ctx context.Context, i int) (err error) {
		each[i], err = a.leakages(ctx, a.observed[i].view, noise)
		return err
	})
	var all []Leakage
	for _, leaks := range each {
		all = append(all, leaks...)
	}
	return all, err
}
