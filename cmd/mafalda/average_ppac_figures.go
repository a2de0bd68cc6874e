package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mafalda/internal/figure"
	"mafalda/protocols"
)

// figures are the counterparts of Figures 3, 4 and 5 of Fereydounian et al. for this graph.
func (a *ppacAveraging) figures(ctx context.Context) ([]namedFigure, error) {
	values, err := a.valuesFigure()
	if err != nil {
		return nil, err
	}
	errors, err := a.errorFigure(ctx)
	if err != nil {
		return nil, err
	}
	times, err := a.timeFigure(ctx)
	if err != nil {
		return nil, err
	}
	list := []namedFigure{{"values", values}, {"error", errors}, {"time", times}}
	leakage, err := a.leakageFigure(ctx)
	if err != nil {
		return nil, err
	}
	if leakage != nil {
		list = append(list, namedFigure{"leakage", leakage})
	}
	return list, nil
}

// shownNodes is how many nodes' values are drawn.
const shownNodes = 7

// valuesFigure is Figure 3: the values of the first nodes over the rounds.
func (a *ppacAveraging) valuesFigure() (*figure.Figure, error) {
	nodes, rounds := a.network.graph.Nodes(), 1
	for rounds < len(a.run.Values) && a.result.Errors[rounds-1] > 0.01*a.result.Errors[0] {
		rounds++
	}
	title := fmt.Sprintf("PPAC on %s, noise %g: values of the nodes", a.result.Graph, a.noise)
	if nodes > shownNodes {
		title = fmt.Sprintf("PPAC on %s, noise %g: values of %d of %d nodes", a.result.Graph, a.noise, shownNodes, nodes)
	}
	var curves []figure.Curve
	mean := figure.Curve{Name: "average", Dashed: true}
	for i := range min(nodes, shownNodes) {
		c := figure.Curve{Name: a.network.graph.Label(i)}
		for t := range rounds {
			c.X, c.Y = append(c.X, float64(t)), append(c.Y, a.run.Values[t][i])
		}
		mean.X = c.X
		curves = append(curves, c)
	}
	for range mean.X {
		mean.Y = append(mean.Y, a.result.Mean)
	}
	return figure.Lines(figure.Axes{Title: title, X: "round t", Y: "v(t)"}, append(curves, mean))
}

// decades are the noises of the figures, in units of the values' standard deviation.
var decades = []float64{1.5, 15, 150, 1500, 15000, 150000}

// realizations is over how many runs Figure 4 averages.
const realizations = 100

// errorFigure is Figure 4: the mean error over the rounds, for every noise.
func (a *ppacAveraging) errorFigure(ctx context.Context) (*figure.Figure, error) {
	rounds := min(len(a.run.Values)-1, 200)
	var curves []figure.Curve
	for _, scale := range decades {
		noise := scale * a.flags.valueStd
		r := a.flags.random(forFigures)
		c := figure.Curve{Name: fmt.Sprintf("noise %g", noise)}
		sums := make([]float64, rounds+1)
		for range realizations {
			run, err := a.protocol.Prepare(a.values, protocols.Uniform(a.flags.valueStd, noise), r)
			if err != nil {
				return nil, err
			}
			if err := a.protocol.Average(ctx, run, rounds, 0); err != nil {
				return nil, err
			}
			for t, v := range run.Values {
				sums[t] += protocols.Distance(v, a.result.Mean) / realizations
			}
		}
		for t, v := range sums {
			if v > 0 {
				c.X, c.Y = append(c.X, float64(t)), append(c.Y, v)
			}
		}
		curves = append(curves, c)
	}
	return figure.Lines(figure.Axes{Title: fmt.Sprintf("PPAC on %s: error, mean of %d runs", a.result.Graph, realizations), X: "round t",
		Y: "‖v(t) - average‖₂", LogY: true}, curves)
}

// timedRuns is over how many runs convergence times are averaged, and timedAt the error that ends them.
const (
	timedRuns = 10
	timedAt   = 1e-3
)

// timeFigure shows the rounds until the error is below a thousandth, for every noise: they grow with its logarithm (Theorem 7.2).
func (a *ppacAveraging) timeFigure(ctx context.Context) (*figure.Figure, error) {
	measured, bound := figure.Curve{Name: fmt.Sprintf("mean of %d runs", timedRuns)}, figure.Curve{Name: "bound of Lemma B.5", Dashed: true}
	second, err := a.network.gossip.SecondEigenvalue()
	if err != nil {
		return nil, err
	}
	limit := max(int(mostNumbers)/a.network.graph.Nodes(), 1)
	for _, scale := range decades {
		noise := scale * a.flags.valueStd
		r := a.flags.random(forFigures)
		var rounds, bounds float64
		for range timedRuns {
			run, err := a.protocol.Prepare(a.values, protocols.Uniform(a.flags.valueStd, noise), r)
			if err != nil {
				return nil, err
			}
			if err := a.protocol.Average(ctx, run, limit, timedAt); err != nil {
				return nil, err
			}
			rounds += float64(len(run.Values)-1) / timedRuns
			start := protocols.Distance(run.Values[0], protocols.Mean(run.Values[0]))
			bounds += math.Ceil(math.Log((1+start)/timedAt)/math.Log(1/second.Modulus)) / timedRuns
		}
		measured.X, measured.Y = append(measured.X, noise), append(measured.Y, rounds)
		if a.network.gossip.Symmetric() && second.Modulus > 0 {
			bound.X, bound.Y = append(bound.X, noise), append(bound.Y, bounds)
		}
	}
	return figure.Lines(figure.Axes{Title: fmt.Sprintf("PPAC on %s: rounds until ‖v(t) - average‖₂ is %g", a.result.Graph, timedAt),
		X: "standard deviation of the noise", Y: "rounds", LogX: true, Marks: true}, []figure.Curve{measured, bound})
}

// leakageFigure is Figure 5: leakage over noise, of the worst finite pair and of the mean over those asked for. It is nil if all
// leakages are infinite.
func (a *ppacAveraging) leakageFigure(ctx context.Context) (*figure.Figure, error) {
	worst, mean := figure.Curve{Name: "worst finite pair"}, figure.Curve{Name: "mean of finite pairs"}
	floor := figure.Curve{Name: "the average alone", Dashed: true}
	for _, scale := range decades {
		noise := scale * a.flags.valueStd
		most, sum, finite := 0.0, 0.0, 0
		for _, o := range a.observed {
			if err := ctx.Err(); err != nil {
				return nil, context.Cause(ctx)
			}
			leaks, err := o.view.Leakages(protocols.Uniform(a.flags.valueStd, noise))
			if err != nil {
				return nil, err
			}
			for _, l := range leaks {
				asked := slices.ContainsFunc(o.leaks, func(other protocols.Leakage) bool { return other.Victim == l.Victim })
				if asked && !math.IsInf(l.Nats, 1) {
					most, sum, finite = max(most, l.Nats), sum+l.Nats, finite+1
				}
			}
		}
		if finite == 0 {
			return nil, nil
		}
		worst.X, worst.Y = append(worst.X, noise), append(worst.Y, most)
		mean.X, mean.Y = append(mean.X, noise), append(mean.Y, sum/float64(finite))
		floor.X, floor.Y = append(floor.X, noise), append(floor.Y, a.result.Floor)
	}
	return figure.Lines(figure.Axes{Title: fmt.Sprintf("PPAC on %s: leakage for values of standard deviation %g", a.result.Graph, a.flags.valueStd),
		X: "standard deviation of the noise", Y: "leakage (nats)", LogX: true, Marks: true}, []figure.Curve{worst, mean, floor})
}
