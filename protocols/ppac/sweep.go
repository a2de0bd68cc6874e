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
	s := &Sweep{}
	for _, scale := range decades() {
		s.Noises = append(s.Noises, scale*a.Problem.ValueStd)
	}
	if err := a.sweepErrors(ctx, s); err != nil {
		return nil, err
	}
	if err := a.sweepRounds(ctx, s); err != nil {
		return nil, err
	}
	return s, a.sweepLeakages(ctx, s, progress)
}

// swept says how many runs there are under a noise, of how many rounds at most, and how close nodes come before that
// ends one.
type swept struct {
	runs, rounds int
	tolerance    float64
}

// forRuns calls f with a number of runs under every noise, on all processors, each noise with a generator of its own.
func (a *Averaging) forRuns(ctx context.Context, s *Sweep, of swept, f func(i int, run *Run)) error {
	return forEach(ctx, len(s.Noises), nil, func(ctx context.Context, i int) error {
		r := (inputs.Sweep + inputs.Purpose(i)).Random(a.Problem.Seed)
		d := Deviations{a.Problem.ValueStd, s.Noises[i]}
		for range of.runs {
			run, err := a.protocol.Prepare(a.Problem.Values, d, r)
			if err == nil {
				err = a.protocol.Average(ctx, run, of.rounds, of.tolerance)
			}
			if err != nil {
				return err
			}
			f(i, run)
		}
		return nil
	})
}

func (a *Averaging) sweepErrors(ctx context.Context, s *Sweep) error {
	rounds := min(len(a.Run.Values)-1, mostSwept)
	s.Errors = lists.Make(len(s.Noises), func(int) []float64 { return make([]float64, rounds+1) })
	return a.forRuns(ctx, s, swept{Realizations, rounds, 0}, func(i int, run *Run) {
		for t, v := range run.Errors() {
			s.Errors[i][t] += v / Realizations
		}
	})
}

func (a *Averaging) sweepRounds(ctx context.Context, s *Sweep) error {
	w := a.Problem.Network.Gossip
	second, err := w.SecondEigenvalue()
	if err != nil {
		return err
	}
	s.Rounds, s.Bounds = make([]float64, len(s.Noises)), make([]float64, len(s.Noises))
	most := swept{TimedRuns, averaging.MostRounds(a.protocol.Nodes()), Timed}
	err = a.forRuns(ctx, s, most, func(i int, run *Run) {
		s.Rounds[i] += float64(len(run.Values)-1) / TimedRuns
		s.Bounds[i] += math.Ceil(math.Log((1+run.Error(0))/Timed)/math.Log(1/second.Modulus)) / TimedRuns
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
	return slices.Concat(each...), err
}
