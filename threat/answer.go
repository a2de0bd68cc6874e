package threat

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"mafalda/internal/fault"
)

// Answer is how hidden nodes, all but the attackers, react to the model θ that they hold when a step begins: to what they
// send they add clip(Gain·θ, Bound), Gain·θ projected on the ball of radius Bound. Models are in units of what a record can
// move a sum of gradients by, times the rate, so that Bound is the number of records that react.
//
// With a positive Gain the answer drives a model away from zero: it is the gradient step θ - ηg for the clipped gradients
// of a loss that falls as the model grows. That is the sign that hurts, as what is added then never cancels what gossip
// passes on anyway. A Gain below -2 hurts, too: the message is then (1 + Gain)·θ.
type Answer struct {
	Gain  float64 // finite, not 0
	Bound float64 // positive; +Inf: a linear answer
}

// ParseAnswer is the inverse of String. The error says what an answer looks like.
func ParseAnswer(text string) (Answer, error) {
	var a Answer
	numbers, ok := strings.CutPrefix(text, "clip:")
	gain, bound, both := strings.Cut(numbers, ",")
	var errs [2]error
	a.Gain, errs[0] = strconv.ParseFloat(gain, 64)
	a.Bound, errs[1] = strconv.ParseFloat(bound, 64)
	if !ok || !both || errs[0] != nil || errs[1] != nil || a.check() != nil {
		return Answer{}, fmt.Errorf("answer %q: must be clip:K,B, such as clip:10,1, with a number K and B positive or inf", text)
	}
	return a, nil
}

// String returns the answer as ParseAnswer takes it.
func (a Answer) String() string {
	bound := "inf"
	if !math.IsInf(a.Bound, 1) {
		bound = strconv.FormatFloat(a.Bound, 'g', -1, 64)
	}
	return "clip:" + strconv.FormatFloat(a.Gain, 'g', -1, 64) + "," + bound
}

func (a Answer) check() error {
	if a.Gain == 0 || a.Gain-a.Gain != 0 || !(a.Bound > 0) {
		return fault.New("Answer", a, "needs a Gain that is finite and not 0, and a positive Bound")
	}
	return nil
}

// linear reports whether nothing is clipped.
func (a Answer) linear() bool { return math.IsInf(a.Bound, 1) }

// clipped adds the answer to a model of every run, one coordinate, to what is sent.
func (a Answer) clipped(message, model []float64) {
	for i, x := range model {
		message[i] += max(-a.Bound, min(a.Bound, a.Gain*x))
	}
}

// linearized adds the answer to a model that is written out in symbols, whose noise has the standard deviation sigma. A clip
// passes on as much as the best linear answer to a normal model does (Bussgang): Gain times the probability that nothing
// is cut off. It is the answer itself where nothing ever is, and what makes a good direction for a test else.
func (a Answer) linearized(message, model []float64, gradients int, sigma float64) {
	gain := a.Gain
	if std := sigma * floats.Norm(model[gradients:], 2); !a.linear() && std > 0 {
		gain *= 1 - 2*distuv.UnitNormal.CDF(-a.Bound/math.Abs(a.Gain)/std)
	}
	floats.AddScaled(message, gain, model)
}

// reactTo makes the hidden nodes of a run answer: in symbols with a linear answer for noise of the standard deviation
// sigma, else as they do.
func (p *protocol) reactTo(a *Answer, sigma float64) {
	if a == nil {
		return
	}
	p.react = func(message, model []float64, v int) {
		if slices.Contains(p.attacker.Nodes, v) {
			return
		}
		if s, written := p.source.(symbols); written {
			a.linearized(message, model, s.p.n*s.p.steps, sigma)
			return
		}
		a.clipped(message, model)
	}
}

// reaction is what an attack on nodes that answer goes by: the view with linear answers.
type reaction struct {
	change    *mat.VecDense // of the victim's gradients, that tells most
	test      *mat.VecDense // weights of the statistic
	reachable float64       // how far the change moves the statistic, in standard deviations
	exposed   bool          // a gradient is seen without noise, and reachable is 0
}

// answered makes hidden nodes answer, and returns the attack on them. change is for views in which a gradient of the victim
// is seen without noise.
func (s Scenario) answered(p *protocol, victim int, change *mat.VecDense, o AuditOptions) (reaction, error) {
	if s.Algorithm.training != nil {
		return reaction{}, fmt.Errorf("%w: answers are for plain gradient descent", ErrAudit)
	}
	p.reactTo(o.Answer, o.Sigma)
	view, err := p.written()
	if err != nil {
		return reaction{}, err
	}
	exposure, weights, err := view.directions(victim)
	switch {
	case err != nil:
		return reaction{}, err
	case exposure.Infinite:
		test, err := view.test(victim, change)
		return reaction{change: change, test: test, exposed: true}, err
	}
	change = worstChange(exposure.M, s.Schema)
	var test mat.VecDense
	test.MulVec(weights, change)
	return reaction{change: change, test: &test, reachable: math.Sqrt(mat.Inner(change, exposure.M, change)) / o.Sigma}, nil
}

// tradeoff returns the μ of the least Gaussian trade-off that a threshold of the statistic violates: the difference of
// the normal quantiles of its two probabilities, with limits by Clopper and Pearson. It is no more than the μ of any
// claim that holds, whatever the distribution of the statistic is. The threshold is chosen on the first half of the runs
// and judged on the second. high is 0 where no limit is known.
func tradeoff(without, with []float64, confidence float64) (mu, low, high float64) {
	share, half := (1-confidence)/4, len(with)/2
	distance := func(under, other float64) float64 {
		return distuv.UnitNormal.Quantile(under) - distuv.UnitNormal.Quantile(other)
	}
	first := contest{slices.Clone(with[:half]), slices.Clone(without[:half])}
	first.sort()
	second := contest{with[half:], without[half:]}
	threshold := first.threshold(share, distance)
	pLow, qHigh := second.limits(threshold, share)
	qLow, pHigh := contest{second.q, second.p}.limits(threshold, share)
	p, q := second.shares(threshold)
	if high = distance(pHigh, qLow); math.IsInf(high, 1) {
		high = 0
	}
	return distance(p, q), max(distance(pLow, qHigh), -math.MaxFloat64), high
}

// shares returns how often the statistic is at least the threshold, never quite 0 or 1.
func (c contest) shares(threshold float64) (p, q float64) {
	share := func(all []float64) float64 {
		count := 0.5
		for _, x := range all {
			if x >= threshold {
				count++
			}
		}
		return count / float64(len(all)+1)
	}
	return share(c.p), share(c.q)
}
