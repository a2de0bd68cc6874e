package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"mafalda/internal/cli"
	"mafalda/internal/figures"
	"mafalda/internal/parallel"
	"mafalda/protocols/ppac"
)

// figures are the counterparts of Figures 3, 4 and 5 of Fereydounian et al. for this graph.
func (a *ppacAveraging) figures(ctx context.Context, bar *cli.Progress) ([]figures.Named, error) {
	var list []figures.Named
	for _, f := range []struct {
		name string
		draw func() (*figures.Figure, error)
	}{
		{"values", a.valuesFigure},
		{"error", func() (*figures.Figure, error) { return a.errorFigure(ctx) }},
		{"time", func() (*figures.Figure, error) { return a.timeFigure(ctx) }},
		{"leakage", func() (*figures.Figure, error) { return a.leakageFigure(ctx, bar) }},
	} {
		drawn, err := f.draw()
		if err != nil {
			return nil, err
		}
		if drawn != nil {
			list = append(list, figures.Named{Name: f.name, Figure: drawn})
		}
	}
	return list, nil
}

// shownNodes is how many nodes' values are drawn.
const shownNodes = 7

// valuesFigure is Figure 3: the values of the first nodes over the rounds.
func (a *ppacAveraging) valuesFigure() (*figures.Figure, error) {
	nodes, rounds := a.network.Graph.Nodes(), 1
	for rounds < len(a.run.Values) && a.result.Errors[rounds-1] > 0.01*a.result.Errors[0] {
		rounds++
	}
	title := fmt.Sprintf("PPAC on %s, noise %g: values of the nodes", a.result.Graph, a.noise)
	if nodes > shownNodes {
		title = fmt.Sprintf("PPAC on %s, noise %g: values of %d of %d nodes", a.result.Graph, a.noise, shownNodes, nodes)
	}
	var curves []figures.Curve
	mean := figures.Curve{Name: "average", Dashed: true}
	for i := range min(nodes, shownNodes) {
		c := figures.Curve{Name: a.network.Graph.Label(i)}
		for t := range rounds {
			c.X, c.Y = append(c.X, float64(t)), append(c.Y, a.run.Values[t][i])
		}
		mean.X = c.X
		curves = append(curves, c)
	}
	for range mean.X {
		mean.Y = append(mean.Y, a.result.Mean)
	}
	return figures.Lines(figures.Axes{Title: title, X: "round t", Y: "v(t)"}, append(curves, mean))
}

// decades are the noises of the figures, in units of the values' standard deviation.
var decades = []float64{1.5, 15, 150, 1500, 15000, 150000}

// realizations is over how many runs Figure 4 averages.
const realizations = 100

// forNoises calls f with every noise of the figures, on all processors, each with a generator of its own, and returns the first error.
func (a *ppacAveraging) forNoises(f func(i int, noise float64, r *rand.Rand) error) error {
	errs := make([]error, len(decades))
	parallel.For(len(decades), func(i int) {
		errs[i] = f(i, decades[i]*a.flags.valueStd, a.flags.random(forFigures+uint64(i)))
	})
	return errors.Join(errs...)
}

// prepare starts a run with other noise.
func (a *ppacAveraging) prepare(noise float64, r *rand.Rand) (*ppac.Run, error) {
	return a.protocol.Prepare(a.values, ppac.Uniform(a.flags.valueStd, noise), r)
}

// errorFigure is Figure 4: the mean error over the rounds, for every noise.
func (a *ppacAveraging) errorFigure(ctx context.Context) (*figures.Figure, error) {
	rounds := min(len(a.run.Values)-1, 200)
	curves := make([]figures.Curve, len(decades))
	err := a.forNoises(func(i int, noise float64, r *rand.Rand) error {
		sums := make([]float64, rounds+1)
		for range realizations {
			run, err := a.prepare(noise, r)
			if err != nil {
				return err
			}
			if err := a.protocol.Average(ctx, run, rounds, 0); err != nil {
				return err
			}
			for t, v := range run.Errors() {
				sums[t] += v / realizations
			}
		}
		c := figures.Curve{Name: fmt.Sprintf("noise %g", noise)}
		for t, v := range sums {
			if v > 0 {
				c.X, c.Y = append(c.X, float64(t)), append(c.Y, v)
			}
		}
		curves[i] = c
		return nil
	})
	if err != nil {
		return nil, err
	}
	return figures.Lines(figures.Axes{Title: fmt.Sprintf("PPAC on %s: error, mean of %d runs", a.result.Graph, realizations), X: "round t",
		Y: "‖v(t) - average‖₂", LogY: true}, curves)
}

// timedRuns is over how many runs convergence times are averaged, and timedAt the error that ends them.
const (
	timedRuns = 10
	timedAt   = 1e-3
)

// timeFigure shows the rounds until the error is below a thousandth, for every noise: they grow with its logarithm (Theorem 7.2).
func (a *ppacAveraging) timeFigure(ctx context.Context) (*figures.Figure, error) {
	second, err := a.network.Gossip.SecondEigenvalue()
	if err != nil {
		return nil, err
	}
	limit := max(int(mostNumbers)/a.network.Graph.Nodes(), 1)
	noises, rounds, bounds := make([]float64, len(decades)), make([]float64, len(decades)), make([]float64, len(decades))
	err = a.forNoises(func(i int, noise float64, r *rand.Rand) error {
		noises[i] = noise
		for range timedRuns {
			run, err := a.prepare(noise, r)
			if err != nil {
				return err
			}
			if err := a.protocol.Average(ctx, run, limit, timedAt); err != nil {
				return err
			}
			rounds[i] += float64(len(run.Values)-1) / timedRuns
			start := run.Error(0)
			bounds[i] += math.Ceil(math.Log((1+start)/timedAt)/math.Log(1/second.Modulus)) / timedRuns
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	curves := []figures.Curve{{Name: fmt.Sprintf("mean of %d runs", timedRuns), X: noises, Y: rounds}}
	if a.network.Gossip.Symmetric() && second.Modulus > 0 {
		curves = append(curves, figures.Curve{Name: "bound of Lemma B.5", X: noises, Y: bounds, Dashed: true})
	}
	return figures.Lines(figures.Axes{Title: fmt.Sprintf("PPAC on %s: rounds until ‖v(t) - average‖₂ is %g", a.result.Graph, timedAt),
		X: "standard deviation of the noise", Y: "rounds", LogX: true, Marks: true}, curves)
}

// leakageFigure is Figure 5: leakage over noise, of the worst finite pair and of the mean over those asked for. It is nil if all
// leakages are infinite.
func (a *ppacAveraging) leakageFigure(ctx context.Context, bar *cli.Progress) (*figures.Figure, error) {
	worst, mean := figures.Curve{Name: "worst finite pair"}, figures.Curve{Name: "mean of finite pairs"}
	floor := figures.Curve{Name: "the average alone", Dashed: true}
	for i, scale := range decades {
		noise := scale * a.flags.valueStd
		leaks, err := a.leakages(ctx, noise, func(done float64) {
			bar.Show((float64(i)+done)/float64(len(decades)), "leakage by noise")
		})
		if err != nil {
			return nil, err
		}
		most, sum, finite := 0.0, 0.0, 0
		for _, v := range leaks {
			if !math.IsInf(v, 1) {
				most, sum, finite = max(most, v), sum+v, finite+1
			}
		}
		if finite == 0 {
			return nil, nil
		}
		worst.X, worst.Y = append(worst.X, noise), append(worst.Y, most)
		mean.X, mean.Y = append(mean.X, noise), append(mean.Y, sum/float64(finite))
		floor.X, floor.Y = append(floor.X, noise), append(floor.Y, a.result.Floor)
	}
	curves := []figures.Curve{worst, mean, floor}
	if len(a.result.Pairs) == 1 {
		worst.Name = fmt.Sprintf("what %s learns of %s", a.result.Pairs[0].Observer, a.result.Pairs[0].Victim)
		curves = []figures.Curve{worst, floor}
	}
	return figures.Lines(figures.Axes{Title: fmt.Sprintf("PPAC on %s: leakage for values of standard deviation %g", a.result.Graph, a.flags.valueStd),
		X: "standard deviation of the noise", Y: "leakage (nats)", LogX: true, LogY: slices.Max(worst.Y) > 20*a.result.Floor, Marks: true}, curves)
}

// leakages returns those of all pairs that were asked for with another noise, on all processors.
func (a *ppacAveraging) leakages(ctx context.Context, noise float64, done func(fraction float64)) ([]float64, error) {
	each := make([][]float64, len(a.observed))
	errs := make([]error, len(a.observed))
	var mu sync.Mutex
	finished := 0
	parallel.For(len(a.observed), func(i int) {
		if errs[i] = ctx.Err(); errs[i] != nil {
			return
		}
		o := a.observed[i]
		leaks, err := o.view.Leakages(ctx, ppac.Uniform(a.flags.valueStd, noise))
		errs[i] = err
		asked := map[int]bool{}
		for _, l := range o.leaks {
			asked[l.Victim] = true
		}
		for _, l := range leaks {
			if asked[l.Victim] {
				each[i] = append(each[i], l.Nats)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		finished++
		done(float64(finished) / float64(len(a.observed)))
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return slices.Concat(each...), errors.Join(errs...)
}
