package ppac

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"mafalda/graph"
	"mafalda/internal/parallel"
	"mafalda/protocols/averaging"
	"mafalda/protocols/internal/inputs"
)

// AverageOptions says how PPAC averages.
type AverageOptions struct {
	NoiseStd float64                // standard deviation of every fragment that is noise; 0 means 15 times the values'
	Chosen   []int                  // m_i; nil: drawn with the problem's seed
	Progress func(fraction float64) // hears how far the leakage is, if not nil
}

// Averaging is a run of PPAC with what it leaks.
type Averaging struct {
	Problem averaging.Problem
	Result  Result
	Run     *Run

	protocol *Protocol
	observed []observed
}

// Average solves a problem with PPAC, and says what every coalition of observers learns. It fails as
// averaging.Problem.Check, New, Protocol.View and View.Leakages do, for noise out of range (*fault.Argument), and when
// the context ends.
func Average(ctx context.Context, p averaging.Problem, o AverageOptions) (*Averaging, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	if o.NoiseStd == 0 {
		o.NoiseStd = 15 * p.ValueStd
	}
	if err := averaging.CheckDeviation("NoiseStd", o.NoiseStd); err != nil {
		return nil, err
	}
	g := p.Network.Graph
	if o.Chosen == nil {
		o.Chosen = ChooseNeighbours(g, inputs.Choice.Random(p.Seed))
	}
	protocol, err := New(g, p.Network.Gossip, o.Chosen)
	if err != nil {
		return nil, err
	}
	run, err := protocol.Prepare(p.Values, Deviations{p.ValueStd, o.NoiseStd}, inputs.Noise.Random(p.Seed))
	if err != nil {
		return nil, err
	}
	rounds, tolerance := p.Limit()
	if err := protocol.Average(ctx, run, rounds, tolerance); err != nil {
		return nil, err
	}
	a := &Averaging{Problem: p, protocol: protocol, Run: run}
	return a, a.finish(ctx, o)
}

// ReadChosen reads lines "node neighbour", one for each node: m_i. Errors name the file and the line.
func ReadChosen(path string, g *graph.Graph) ([]int, error) {
	chosen := make([]int, g.Nodes())
	return chosen, inputs.Read(path, g.Labels(), func(i int, text string) error {
		v := slices.Index(g.Labels(), text)
		if v < 0 || g.Adjacency().At(i, v) == 0 {
			return fmt.Errorf("node %s chooses %q, which is not its neighbour", g.Label(i), text)
		}
		chosen[i] = v
		return nil
	})
}

// observed is what one coalition learns.
type observed struct {
	coalition []int
	view      *View
	leaks     []Leakage // leakage of the victims asked for
}

// leakages keeps what a coalition learns of those asked for.
func (a *Averaging) leakages(ctx context.Context, view *View, noise float64) ([]Leakage, error) {
	leaks, err := view.Leakages(ctx, Deviations{a.Problem.ValueStd, noise})
	return slices.DeleteFunc(leaks, func(l Leakage) bool { return !a.Problem.Asked(l.Victim) }), err
}

// finish finds out what every coalition learns, on all processors, and fills in the result.
func (a *Averaging) finish(ctx context.Context, o AverageOptions) error {
	coalitions := a.Problem.Coalitions()
	a.observed = make([]observed, len(coalitions))
	err := forEach(ctx, len(coalitions), o.Progress, func(ctx context.Context, i int) (err error) {
		of := &a.observed[i]
		of.coalition = coalitions[i]
		if of.view, err = a.protocol.View(ctx, of.coalition, a.Problem.UpTo()); err != nil {
			return err
		}
		of.leaks, err = a.leakages(ctx, of.view, o.NoiseStd)
		return err
	})
	if err == nil {
		a.summarize(o.NoiseStd)
	}
	return err
}

// forEach calls f for every i < n on all processors. The first error ends the others' context, and is returned.
func forEach(ctx context.Context, n int, progress func(float64), f func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex
	done := 0
	parallel.For(n, func(i int) {
		if ctx.Err() != nil {
			return
		}
		if err := f(ctx, i); err != nil {
			cancel(err)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if done++; progress != nil {
			progress(float64(done) / float64(n))
		}
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// summarize fills in the result.
func (a *Averaging) summarize(noise float64) {
	p, r, g := &a.Problem, &a.Result, a.Problem.Network.Graph
	*r = Result{Run: p.Head("ppac", noise), Floor: averaging.Floor(g.Nodes()), Pairs: []PairLeakage{}, Leaves: []Leaf{},
		Recovered: []Recovered{}}
	r.Ran(&a.Run.Trace)
	for i, label := range g.Labels() {
		r.Chosen = append(r.Chosen, Chosen{label, g.Label(a.protocol.Chosen(i))})
	}
	for _, l := range GeneralizedLeaves(g) {
		r.Leaves = append(r.Leaves, Leaf{g.Label(l.Head), g.Label(l.Tail)})
	}
	finite := 0
	for _, o := range a.observed {
		limits := a.protocol.Limits(o.coalition)
		observer := p.Label(o.coalition)
		for _, l := range o.leaks {
			r.Pairs = append(r.Pairs, PairLeakage{observer, g.Label(l.Victim), averaging.Nats(l.Nats),
				averaging.Nats(limits[l.Victim])})
			r.Worst = max(r.Worst, averaging.Nats(l.Nats))
			if !math.IsInf(l.Nats, 1) {
				finite++
				r.MeanLeak += l.Nats
				continue
			}
			r.Infinite++
			if value, err := a.protocol.Recover(a.Run, o.coalition, l.Victim); err == nil {
				r.Recovered = append(r.Recovered, Recovered{observer, g.Label(l.Victim), p.Values[l.Victim], value})
			}
		}
	}
	if finite > 0 {
		r.MeanLeak /= float64(finite)
	}
}
