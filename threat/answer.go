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
	"mafalda/threat/reaction"
)

// Answer is how hidden nodes, all but the attackers, react to the model θ that they hold when a step begins: a Clip, a
// Linear answer, or the Worst linear answers of a class. Models are in units of what a record can move a sum of gradients
// by, times the rate.
type Answer interface {
	// String returns the answer as ParseAnswer takes it.
	String() string

	// Class returns a class of steps that the answer is in.
	Class() reaction.Class

	check() error

	// played returns how node v answers in step t. worst has the worst linear answers of the class, for all nodes.
	played(worst [][]float64) react
}

// react is how nodes react to what they hold.
type react interface {
	// add adds how node v reacts in step t to what it sends.
	add(message, model []float64, t, v int)

	// gain returns by what the model is multiplied in the answer or, where that is clipped, in the best linear answer
	// to models of this standard deviation.
	gain(t, v int, std float64) float64
}

// Clip is the answer of nodes that add clip(Gain·θ, Bound), Gain·θ projected on the ball of radius Bound, to what they
// send. Bound is the number of records that react.
//
// With a positive Gain the answer drives a model away from zero: it is the gradient step θ - ηg for the clipped gradients
// of a loss that falls as the model grows. That is the sign that hurts, as what is added then never cancels what gossip
// passes on anyway. A Gain below -2 hurts, too: the message is then (1 + Gain)·θ.
type Clip struct {
	Gain  float64 // finite, not 0
	Bound float64 // positive; +Inf: a linear answer
}

// Linear is the answer of nodes that move from θ to Factor·θ before they add gradient and noise.
type Linear struct{ Factor float64 }

// Worst stands for the linear answers of a class of steps that let the attacker learn most, as far as package reaction
// finds them: nodes move from θ to D·θ, with a D in the class for every step and node.
type Worst struct{ Of Reaction }

var _, _, _ Answer = Clip{}, Linear{}, Worst{}

// claims reports whether the claim that is judged is the bound for the class of an answer. Else it is the number for
// gradients that do not react.
func claims(a Answer) bool {
	_, worst := a.(Worst)
	return worst
}

// ParseAnswer is the inverse of String. The error says what an answer looks like.
func ParseAnswer(text string) (a Answer, err error) {
	name, list, _ := strings.Cut(text, ":")
	var x []float64
	for _, number := range strings.Split(list, ",") {
		if v, err := strconv.ParseFloat(number, 64); err == nil {
			x = append(x, v)
		}
	}
	switch {
	case slices.Contains(Classes(), Kind(name)):
		if r, err := ParseReaction(name + " " + list); err == nil {
			a = Worst{r}
		}
	case len(x) != strings.Count(list, ",")+1: // some are no numbers
	case name == "clip" && len(x) == 2:
		a = Clip{x[0], x[1]}
	case name == "linear" && len(x) == 1:
		a = Linear{x[0]}
	}
	if a == nil || a.check() != nil {
		return nil, fmt.Errorf("answer %q: must be clip:K,B, such as clip:10,1, with a number K and B positive or inf; linear:D with a "+
			"number D; or the worst of a class, convex:X, smooth:X, clipped-convex:X, strongly-convex:X,Y or lipschitz:L, "+
			"with numbers that are not negative", text)
	}
	return a, nil
}

// String returns clip:Gain,Bound.
func (a Clip) String() string {
	bound := "inf"
	if !math.IsInf(a.Bound, 1) {
		bound = number(a.Bound)
	}
	return "clip:" + number(a.Gain) + "," + bound
}

func (a Clip) check() error {
	if a.Gain == 0 || a.Gain-a.Gain != 0 || !(a.Bound > 0) {
		return fault.New("Answer", a, "needs a Gain that is finite and not 0, and a positive Bound")
	}
	return nil
}

// Class returns steps θ + clip(Gain·θ): a projection has a symmetric Jacobian between 0 and 1.
func (a Clip) Class() reaction.Class {
	if a.linear() {
		return reaction.Class{Rho: 1 + a.Gain}
	}
	return reaction.Class{Rho: 1 + a.Gain/2, Kappa: math.Abs(a.Gain) / 2}
}

func (a Clip) played([][]float64) react { return a }

// linear reports whether nothing is clipped.
func (a Clip) linear() bool { return math.IsInf(a.Bound, 1) }

// add adds the answer to a model of every run, one coordinate.
func (a Clip) add(message, model []float64, _, _ int) {
	for i, x := range model {
		message[i] += max(-a.Bound, min(a.Bound, a.Gain*x))
	}
}

// gain passes on as much of a normal model as the best linear answer (Bussgang): Gain times the probability that
// nothing is cut off. It is the answer itself where nothing ever is, and what makes a good direction for a test else.
func (a Clip) gain(_, _ int, std float64) float64 {
	if a.linear() || !(std > 0) {
		return a.Gain
	}
	return a.Gain * (1 - 2*distuv.UnitNormal.CDF(-a.Bound/math.Abs(a.Gain)/std))
}

// String returns linear:Factor.
func (a Linear) String() string { return "linear:" + number(a.Factor) }

func (a Linear) check() error {
	if a.Factor-a.Factor != 0 {
		return fault.New("Answer", a, "needs a Factor that is finite")
	}
	return nil
}

// Class returns the class of this one answer.
func (a Linear) Class() reaction.Class { return reaction.Class{Rho: a.Factor} }

func (a Linear) played([][]float64) react {
	return factors(func(int, int) float64 { return a.Factor })
}

// String returns the name of the class and its numbers, as in convex:0.1.
func (a Worst) String() string { return strings.Replace(a.Of.String(), " ", ":", 1) }

func (a Worst) check() error {
	if _, is, err := a.Of.Class(); err != nil || !is {
		return fault.New("Answer", a, "needs a class of steps")
	}
	return nil
}

// Class returns the class.
func (a Worst) Class() reaction.Class {
	c, _, _ := a.Of.Class() // check has its error
	return c
}

func (a Worst) played(worst [][]float64) react {
	return factors(func(t, v int) float64 { return worst[t][v] })
}

// factors are linear answers: node v moves from θ to factors(t, v)·θ in step t.
type factors func(t, v int) float64

func (f factors) add(message, model []float64, t, v int) { floats.AddScaled(message, f(t, v)-1, model) }

func (f factors) gain(t, v int, _ float64) float64 { return f(t, v) - 1 }

// reactTo makes the hidden nodes of a run answer: in symbols with a linear answer for noise of the standard deviation
// sigma, else as they do. Where nodes have levels of their own, sigma is the victim's, and every node's answer is in
// units of what a record of its own can move its sum by.
func (p *protocol) reactTo(answer react, sigma float64) {
	p.react = func(message, model []float64, t, v int) {
		if slices.Contains(p.attacker.insiders(), v) {
			return
		}
		unit, to := p.algorithm.part(v)*sigma/p.algorithm.Sigma(v, sigma), message
		if unit != 1 {
			to = make([]float64, len(message))
			model = floats.ScaleTo(make([]float64, len(model)), 1/unit, model)
			defer func() { floats.AddScaled(message, unit, to) }()
		}
		if s, written := p.source.(symbols); written {
			std := sigma * floats.Norm(model[s.p.n*s.p.steps:], 2)
			floats.AddScaled(to, answer.gain(t, v, std), model)
			return
		}
		answer.add(to, model, t, v)
	}
}

// answered makes hidden nodes answer, and returns what an attack on them goes by: the change of the victim's gradients
// that tells most in the view with linear answers, and the weights of the statistic. change is for views in which a
// gradient of the victim is seen without noise; worst has the worst answers of the class, of all nodes. out gets what is
// reachable.
func (s Scenario) answered(p *protocol, victim int, change *mat.VecDense, o AuditOptions, worst [][]float64,
	out *AuditResult) (_, test *mat.VecDense, err error) {
	p.reactTo(o.Answer.played(worst), o.Sigma)
	view, err := p.written()
	if err != nil {
		return nil, nil, err
	}
	exposure, weights, err := view.directions(victim)
	if err != nil {
		return nil, nil, err
	}
	if out.Reachable, out.Exposed = 0, exposure.Infinite; out.Exposed {
		test, err = view.test(victim, change)
		return change, test, err
	}
	change, test = worstChange(exposure.M, s.Schema), new(mat.VecDense)
	test.MulVec(weights, change)
	out.Reachable = math.Sqrt(mat.Inner(change, exposure.M, change)) / o.Sigma
	return change, test, nil
}
