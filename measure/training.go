package measure

import (
	"math"

	"mafalda/internal/fault"
	"mafalda/internal/lists"
	"mafalda/workload"
)

// Training is a training of a quadratic loss whose excess risk, how far the loss is above its least value, is known in
// advance. All nodes have the same second derivatives λ_j and begin with the same model, at the distance d_j from the
// optimum along each direction; no gradient is clipped, and what batches differ by is left out.
//
// Errors along different directions add up. Gossip leaves what all nodes have in common, so that the difference between
// model and optimum is -d_j in the beginning and then, with z the noise of the mean gradient of a node,
//
//	θ - θ* = (what the recursion of Spec without a network makes of -d_j) - η·(what that of Spec makes of z),
//
// both with the feedback x_j = ηλ_j of workload.Curvature. Noise has the mean 0 and nothing in common with the rest. The
// mean of ½ Σ m_j λ_j |θ - θ*|² over the nodes and the steps that count is therefore
//
//	bias    ½ Σ m_j λ_j d_j² Π_s (1 - r_s x_j)²          with momentum by its recursion; the mean over the steps
//	noise   η σ²·loss / (2 n T)                          ½ λ_j η² = ½ η x_j
//
// where m_j is the number of directions with λ_j, σ the standard deviation of the noise for a sensitivity of 1, and loss
// that of the strategy for the Gram matrix of Curvature. T is what the steps count together: 1 for the objective Last.
// Weight decay draws models to where they began.
type Training struct {
	Workload  workload.Spec `json:"-"`             // workload with the decay at Rate: Spec.At
	Objective Objective     `json:"-"`             // Mean or Last
	Nodes     int           `json:"-"`             // n
	Steps     int           `json:"-"`             // T
	Rate      float64       `json:"learning_rate"` // η, the base learning rate
	X         []float64     `json:"x"`             // η times the second derivatives of the loss
	// Directions and Distances are, for each of X, how many directions have it, and how far along one of them the models
	// are from the optimum in the beginning, in units of the models.
	Directions []float64 `json:"directions"`
	Distances  []float64 `json:"distances"`
}

// Excess is a predicted excess risk in units of the loss: of what is left of the start, and of the noise.
type Excess struct {
	Bias  float64 `json:"bias"`
	Noise float64 `json:"noise"`
}

// Total returns the predicted excess risk.
func (e Excess) Total() float64 { return e.Bias + e.Noise }

// Check rejects numbers that are negative or not finite, lists of different lengths, and losses without a curvature. The
// errors are fault.Arguments of LearningRate, Curvature and Distance.
func (t Training) Check() error {
	if err := fault.Positive("LearningRate", t.Rate); err != nil {
		return err
	}
	spectrum := workload.Spectrum{Risk: workload.ExcessRisk, X: t.X, Directions: t.Directions}
	if err := spectrum.Check(); err != nil {
		return err
	}
	if len(t.Distances) != len(t.X) {
		return fault.New("Distance", nil, "%d distances for %d second derivatives", len(t.Distances), len(t.X))
	}
	for _, d := range t.Distances {
		if !(d >= 0) || math.IsInf(d, 1) {
			return fault.New("Distance", d, "must be finite and not negative")
		}
	}
	return nil
}

// At returns the same training with another base learning rate.
func (t Training) At(rate float64) Training {
	change := rate / t.Rate
	t.Workload, t.Rate = t.Workload.At(change), rate
	t.X = lists.Map(t.X, func(x float64) float64 { return x * change })
	return t
}

// Evenly returns the same training with models that have a distance from the optimum all together, and as much of it
// along every direction.
func (t Training) Evenly(distance float64) Training {
	var all float64
	for _, m := range t.Directions {
		all += m
	}
	t.Distances = lists.Map(t.X, func(float64) float64 { return distance / math.Sqrt(all) })
	return t
}

// Curvature returns what the Gram matrix of the noise is for.
func (t Training) Curvature() workload.Curvature {
	return (&workload.Spectrum{Risk: workload.ExcessRisk, X: t.X, Directions: t.Directions}).Curvature()
}

// Predict returns the excess risk for noise of this standard deviation in the mean gradient of a node (what is added to
// the sum over a batch, over the batch size) and the squared error of the strategy, tr(C⁻ᵀHC⁻¹) with the H of
// Curvature: both for the same scale of C. It fails for the objective Worst and for missed steps, after which nodes have
// less in common, and as Spec.Check does.
func (t Training) Predict(noiseStd, squaredError float64) (Excess, error) {
	bias, err := t.bias()
	if err != nil {
		return Excess{}, err
	}
	count := float64(t.Nodes) * t.Objective.Steps(t.Workload, t.Steps)
	return Excess{Bias: bias, Noise: t.Rate * noiseStd * noiseStd * squaredError / (2 * count)}, nil
}

// bias returns the excess risk without noise: all nodes have the model of one without a network.
func (t Training) bias() (float64, error) {
	switch {
	case t.Objective == Worst:
		return 0, fault.New("Objective", t.Objective, "excess risk is predicted for mean and last")
	case t.Workload.MissedSteps > 0:
		return 0, fault.New("MissedSteps", t.Workload.MissedSteps, "excess risk is predicted where no node misses a step")
	}
	state, err := workload.NewState[float64](t.Workload.Centralized(), t.Steps, 1, len(t.X), 1)
	if err != nil {
		return 0, err
	}
	weights, err := t.Objective.weights(t.Workload, t.Steps)
	if err != nil {
		return 0, err
	}
	var sum, count float64
	gradients := make([]float64, len(t.X))
	for _, weight := range weights {
		for j, d := range t.Distances {
			gradients[j] = t.X[j] * (state.Models()[j] - d)
		}
		state.Descend(gradients, nil)
		state.Gossip(nil)
		count += weight
		for j, d := range t.Distances {
			e := state.Models()[j] - d
			sum += weight * t.Directions[j] * t.X[j] / t.Rate * e * e / 2
		}
	}
	return sum / count, nil
}

// weights returns how much the error of every step counts.
func (o Objective) weights(s workload.Spec, steps int) ([]float64, error) {
	if o == Mean {
		return s.Weights.Vector(steps)
	}
	return workload.LastSteps(1).Vector(steps)
}
