package plan

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/factorize"
	"mafalda/internal/fault"
	"mafalda/internal/lists"
	"mafalda/internal/rounding"
	"mafalda/measure"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/workload"
)

// Prospect is the training of least predicted excess risk for a way to make noise: its rate and its number of steps.
type Prospect struct {
	RateExcess
	Steps          int          `json:"T"`
	Participations int          `json:"participations"` // most participations of one record
	Curve          []RateExcess `json:"curve"`          // excess risk of the same strategy and noise at all rates

	Problem      Problem `json:"-"` // what the strategy was found for; its rate is that of the training, or nearly
	squaredError float64
}

// RateExcess is the predicted excess risk at a base learning rate.
type RateExcess struct {
	Rate float64 `json:"learning_rate"`
	measure.Excess
}

const (
	ratesAnOctave = 4 // rates that are looked at
	octavesOfRate = 10
	// leastGain is the relative gain below which a strategy for another rate is no longer looked for.
	leastGain = 1e-4
	// fewerPasses is the ratio of numbers of participations that are looked at.
	fewerPasses = math.Sqrt2
)

// prospects looks for the training of least predicted excess risk of one way after the other.
type prospects struct {
	*comparing
	rates []float64
	best  map[int]*Prospect // best prospect of all ways so far, by T
}

// checkTraining rejects what no prospect is for.
func (c Case) checkTraining() error {
	t, p := c.Training, c.Problem
	if t == nil {
		return nil
	}
	if err := cmp.Or(p.refuse(c.Options, nodeLevels|unknownFamily|manySteps, "predictions of a training"), t.Check()); err != nil {
		return err
	}
	if batches := p.Schema.Separation(); c.Records < batches {
		return fault.New("Records", c.Records, "must be at least the %d batches of a node", batches)
	}
	_, err := c.trainingOf(p).Predict(0, 0)
	return err
}

// trainingOf returns the training of a problem.
func (c Case) trainingOf(p Problem) measure.Training {
	t := *c.Training
	t.Workload, t.Objective, t.Nodes, t.Steps = p.Workload, p.Objective, p.nodes(), p.Schema.Steps()
	return t
}

// Start returns the excess risk before the first step.
func (c *Comparison) Start() float64 {
	t := c.Case.Training
	var sum float64
	for j, x := range t.X {
		sum += t.Directions[j] * x / t.Rate * t.Distances[j] * t.Distances[j] / 2
	}
	return sum
}

// problemAt returns the problem of a training at a rate.
func (s *prospects) problemAt(p Problem, rate float64) Problem {
	t := s.Case.trainingOf(p).At(rate)
	p.Workload = t.Workload
	p.Curvature = &workload.Spectrum{Risk: workload.ExcessRisk, X: t.X, Directions: t.Directions}
	return p
}

// newProspects finds out which rates are looked at: the largest under which errors do not grow, and smaller ones.
func newProspects(s *comparing) (*prospects, error) {
	p := &prospects{comparing: s, best: map[int]*Prospect{}}
	t := s.Case.Training
	const smaller = 1. / ratesAnOctave
	rate, number := 2*t.Rate/slices.Max(t.X), ratesAnOctave*octavesOfRate
	err := p.problemAt(s.Case.Problem, rate).checkWorkload()
	for i := 0; err != nil && i < number; i++ {
		rate *= math.Exp2(-smaller)
		err = p.problemAt(s.Case.Problem, rate).checkWorkload()
	}
	p.rates = lists.Make(number, func(i int) float64 { return rate * math.Exp2(-smaller*float64(i)) })
	return p, err
}

// schemas returns who takes part when in fewer and fewer steps, with batches of the same size; schemas without a
// formula stay as they are.
func schemas(s participation.Schema) []participation.Schema {
	all := []participation.Schema{s}
	b := s.Separation()
	for k := s.Participations(); k > 1; {
		k = min(k-1, int(math.Round(float64(k)/fewerPasses)))
		switch s.(type) {
		case participation.Cyclic, participation.MinSep:
		default:
			return all
		}
		fewer, err := participation.Leading(s, k*b)
		if err != nil {
			return all
		}
		all = append(all, fewer)
	}
	return all
}

// reacts reports whether the strategy of a way depends on the curvature; a single band in secret batches is the same in
// every step.
func (w Way) reacts() bool { return !w.Plain && (w.Sampling == participation.InTurn || !w.oneBand()) }

// search returns the solution of least predicted excess risk of a way. Numbers of steps are left out that the way is not
// for, and those at which no rate takes models close enough to the optimum, whatever the noise.
func (s *prospects) search(ctx context.Context, w Way, o Options) (best *Solution, found *Prospect, err error) {
	for _, schema := range schemas(s.Case.Problem.Schema) {
		p := s.problem(w)
		p.Schema = schema
		if p.Workload.Check(schema.Steps()) != nil || found != nil && s.leastBias(p) >= found.Total() {
			continue // a workload may count only the last steps, or list rates of all
		}
		solved, trained, wrong := s.train(ctx, w, p, o)
		if _, refused := errors.AsType[*fault.Argument](wrong); refused {
			err = wrong
			continue
		}
		if wrong != nil {
			return nil, nil, wrong
		}
		if found == nil || trained.Total() < found.Total() {
			best, found = solved, trained
		}
	}
	if found != nil {
		err = nil
	}
	return best, found, err
}

// leastBias returns the least excess risk without noise.
func (s *prospects) leastBias(p Problem) float64 {
	least := math.Inf(1)
	for _, rate := range s.rates {
		if e, err := s.Case.trainingOf(p).At(rate).Predict(0, 0); err == nil {
			least = math.Min(least, e.Bias)
		}
	}
	return least
}

// train finds strategy and rate, each the best for the other, for the steps of p. It begins at the best rate of what is
// known, and at first of the same independent noise in every step, so that a class that has that in it is never worse.
func (s *prospects) train(ctx context.Context, w Way, p Problem, o Options) (best *Solution, found *Prospect, err error) {
	steps := p.Schema.Steps()
	if s.best[steps] == nil {
		if s.best[steps], err = s.independent(ctx, p); err != nil {
			return nil, nil, err
		}
	}
	rate := s.best[steps].Rate
	for found == nil || w.reacts() && found.Rate != rate {
		on := p
		if w.reacts() {
			if found != nil {
				rate = found.Rate
			}
			on = s.problemAt(p, rate)
		}
		solved, err := Solve(ctx, on, o)
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return nil, nil, err
		}
		trained, err := s.prospect(ctx, p, solved)
		if err != nil {
			return nil, nil, err
		}
		if found != nil && trained.Total() >= found.Total()*(1-leastGain) {
			break
		}
		trained.Problem = on
		best, found = solved, trained
	}
	if found.Total() < s.best[steps].Total() {
		s.best[steps] = found
	}
	return best, found, nil
}

// independent returns the training of least excess risk with the same independent noise in every step (DP-D-SGD), with
// batches in turn.
func (s *prospects) independent(ctx context.Context, p Problem) (*Prospect, error) {
	j, err := newJob(p, s.options(Way{}))
	if err != nil {
		return nil, err
	}
	if err := j.measures(ctx); err != nil {
		return nil, err
	}
	c := strategy.Identity(p.Schema.Steps())
	sens, err := strategy.Sensitivity(c, p.Schema)
	if err != nil {
		return nil, err
	}
	j.OfClass = &factorize.Result{Strategy: c}
	if j.Privacy, err = j.Options.Privacy.calibrate(rounding.SqrtUp(sens.Squared)); err != nil {
		return nil, err
	}
	return s.prospect(ctx, p, j.Solution)
}

// prospect returns the training of least excess risk with the noise of a solution, for the steps of p.
func (s *prospects) prospect(ctx context.Context, p Problem, of *Solution) (*Prospect, error) {
	var noising mat.TriDense
	if err := of.Strategy().NoisingTo(&noising); err != nil {
		return nil, err
	}
	var y mat.SymDense
	y.SymOuterK(1, &noising)
	noiseStd := of.Privacy.NoiseStd * float64(p.Schema.Separation()) / float64(s.Case.Records)
	found := &Prospect{Steps: p.Schema.Steps(), Participations: p.Schema.Participations()}
	for _, rate := range s.rates {
		on := s.problemAt(p, rate)
		h, err := s.gram(ctx, on, of)
		if err != nil {
			return nil, err
		}
		squared := inner(h, &y)
		e, err := s.Case.trainingOf(p).At(rate).Predict(noiseStd, squared)
		if err != nil {
			return nil, err
		}
		found.Curve = append(found.Curve, RateExcess{rate, e})
		if found.Rate == 0 || e.Total() < found.Total() {
			found.RateExcess, found.squaredError = RateExcess{rate, e}, squared
		}
	}
	return found, nil
}

// inner returns ⟨a, b⟩.
func inner(a, b *mat.SymDense) (sum float64) {
	n := a.SymmetricDim()
	for i := range n {
		for j := range n {
			sum += a.At(i, j) * b.At(i, j)
		}
	}
	return sum
}

// gram returns the Gram matrix of a training at a rate, for the noise between nodes of a solution.
func (s *prospects) gram(ctx context.Context, on Problem, of *Solution) (*mat.SymDense, error) {
	if of.Space != nil {
		spaceTime, err := on.spaceTime()
		if err != nil {
			return nil, err
		}
		return spaceTime.TimeGram(ctx, of.Space.Covariance())
	}
	return on.gramMatrix(ctx, Options{known: s.known})
}
