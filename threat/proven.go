package threat

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"mafalda/internal/fault"
	"mafalda/internal/rounding"
	"mafalda/threat/internal/contest"
	"mafalda/threat/reaction"
)

// Proven is what is proven of how much an attacker learns of a victim, as μ of Gaussian differential privacy.
type Proven struct {
	Local   float64 // what holds for every training
	Bound   float64 // what holds for every training of a class; Local without one
	Without float64 // if gradients depend on nothing but what the attacker sees, which holds for no training
}

// Proven returns what is proven of an attack on a victim for noise of the standard deviation sigma, in units of what a
// record can move a sum of gradients by, and a class of steps that all hidden nodes are in; nil: nothing is known of
// them. The errors are Account's, a fault.Argument for a sigma that is not positive and finite, and the cause of ctx.
func (s Scenario) Proven(ctx context.Context, victim int, class *reaction.Class, sigma float64) (Proven, error) {
	if !(sigma > 0) || math.IsInf(sigma, 1) {
		return Proven{}, fault.New("sigma", sigma, "must be positive and finite")
	}
	if err := s.check(); err != nil {
		return Proven{}, err
	}
	mu := func(squared float64) float64 { return rounding.DivUp(rounding.SqrtUp(squared), sigma) }
	local, err := s.Algorithm.Local(s.Schema)
	if err != nil {
		return Proven{}, err
	}
	_, without, err := s.claim(ctx, victim, local)
	if err != nil {
		return Proven{}, err
	}
	out := Proven{Local: mu(local), Bound: mu(local), Without: rounding.DivUp(without, sigma)}
	if class == nil {
		return out, nil
	}
	r, err := s.reacting(ctx, victim, *class)
	if err == nil && r != nil {
		out.Bound = math.Min(out.Bound, mu(r.SensSquared))
	}
	return out, err
}

// Statistic is the best linear statistic of the messages that an attacker under PNDP sees.
type Statistic struct {
	Nodes   []int       // the nodes whose messages are seen: the attackers, and those they hear
	Weights [][]float64 // the weights of these messages, in every step
	Mu      float64     // how far the change moves the statistic, in its standard deviations
}

// Statistic returns the best linear test for a change of the victim's gradients, a number a step in units of what a
// record can move a sum by, if the noise has the standard deviation sigma and node v moves from θ to answers[t][v]·θ in
// step t before it adds gradient and noise; with nil answers no node reacts. The view is written out, so that n and T
// must be small. The errors are ErrAudit, for attackers that see sums or everything and for noise or training that is
// not plain, the errors of Explicit, and the cause of ctx.
func (s Scenario) Statistic(ctx context.Context, victim int, change []float64, answers [][]float64,
	sigma float64) (*Statistic, error) {
	a := s.Algorithm
	if s.Attacker.Trust.Public() || s.Attacker.SecureSummation || a.rounds != 1 || a.training != nil || a.zip || a.SharesNoise() {
		return nil, fmt.Errorf("%w: single messages of plain training are needed", ErrAudit)
	}
	if len(change) != s.steps() {
		return nil, fault.New("change", nil, "has %d numbers for %d steps", len(change), s.steps())
	}
	p, err := s.auditable(ctx, AuditOptions{Runs: minRuns})
	if err != nil {
		return nil, err
	}
	if answers != nil {
		p.reactTo(factors(func(t, v int) float64 { return answers[t][v] }), sigma)
	}
	view, err := p.written()
	if err != nil {
		return nil, err
	}
	out := &Statistic{}
	for v := range s.nodes() {
		hears := func(a int) bool { return a == v || s.Gossip.At(a, v) != 0 }
		if slices.ContainsFunc(s.Attacker.Nodes, hears) {
			out.Nodes = append(out.Nodes, v)
		}
	}
	rows, each := len(out.Nodes)*s.steps(), len(out.Nodes)
	_, gradients := view.A.Dims()
	_, noises := view.B.Dims()
	messages := &View{Nodes: view.Nodes, Steps: view.Steps, Known: view.Known, // the rest is what attackers know of themselves
		A: mat.DenseCopyOf(view.A.Slice(0, rows, 0, gradients)), B: mat.DenseCopyOf(view.B.Slice(0, rows, 0, noises))}
	test, err := messages.test(victim, mat.NewVecDense(len(change), change))
	if err != nil {
		return nil, err
	}
	moved, std := 0.0, mat.NewVecDense(noises, nil)
	std.MulVec(messages.B.T(), test)
	for t, c := range change {
		moved += c * mat.Dot(messages.A.ColView(t*view.Nodes+victim), test)
	}
	if moved > 0 {
		out.Mu = moved / mat.Norm(std, 2) / sigma
	}
	for t := range s.steps() {
		out.Weights = append(out.Weights, test.RawVector().Data[t*each:(t+1)*each])
	}
	return out, nil
}

// Tradeoff is a μ of Gaussian differential privacy that an attack proves, with the limits of a confidence interval.
type Tradeoff struct {
	Mu   float64 // an estimate
	Low  float64 // every claim that holds has at least this μ, with the confidence
	High float64 // the upper limit of what this threshold shows; 0 where none is known
}

// ErrRuns is returned for too few runs to say anything.
var ErrRuns = errors.New("too few runs")

// TradeoffOf returns the μ of the least Gaussian trade-off that a threshold of a statistic violates, which was observed
// without a record and with it: the difference of the normal quantiles of its two probabilities, with limits by Clopper
// and Pearson. Low is no more than the μ of any claim that holds, whatever the distribution of the statistic is. The
// threshold is chosen on the first half of the runs and judged on the second. The error is ErrRuns, or a fault.Argument
// for a confidence that is not between 0 and 1.
func TradeoffOf(without, with []float64, confidence float64) (Tradeoff, error) {
	switch {
	case !(confidence > 0 && confidence < 1):
		return Tradeoff{}, fault.New("confidence", confidence, "must be between 0 and 1")
	case min(len(without), len(with)) < minRuns || len(without) != len(with):
		return Tradeoff{}, fmt.Errorf("%w: %d without and %d with the record, not the same number, at least %d", ErrRuns,
			len(without), len(with), minRuns)
	}
	share := (1 - confidence) / 4
	distance := func(under, other float64) float64 {
		return distuv.UnitNormal.Quantile(under) - distuv.UnitNormal.Quantile(other)
	}
	first, second := contest.Halves(with, without)
	threshold := first.Threshold(share, distance)
	pLow, qHigh := second.Limits(threshold, share)
	qLow, pHigh := contest.Contest{P: second.Q, Q: second.P}.Limits(threshold, share)
	high := distance(pHigh, qLow)
	if math.IsInf(high, 1) {
		high = 0
	}
	p, q := second.Shares(threshold)
	return Tradeoff{Mu: distance(p, q), Low: max(distance(pLow, qHigh), -math.MaxFloat64), High: high}, nil
}
