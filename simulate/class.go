package simulate

import (
	"mafalda/threat/reaction/smoothness"
)

// Class returns the class of steps that the nodes of a task are in, for records like these and batches of at most batch
// of them, whose mean of clipped gradients the rate multiplies; false if the model is in none. The error comes from
// smoothness.Training.
//
// Linear regression: the gradient of a record is 2(o − y)x̃, x̃ = (x, 1), a number that grows with o = θ·x̃ times a
// fixed vector; clipped to Δ the number is cut off, which is still the derivative of a convex function. The Jacobian is
// at most 2x̃x̃ᵀ: class convex, β = Σ 2(‖x‖² + 1). Logistic regression of several classes: the gradient is (softmax(o)
// − e_y)x̃ᵀ, the Jacobian (diag(p) − ppᵀ) ⊗ x̃x̃ᵀ, at most ½‖x̃‖²; clipping by norm turns such gradients, so that the
// class is clipped-convex, or convex for two classes, whose gradients all have the direction (1, −1) ⊗ x̃.
//
// Perceptrons are in no class. With rectifiers the gradient jumps where a unit is switched on. With tanh it is smooth,
// but a layer's gradient is multiplied by the weights of the layers above: it changes the faster the larger these are,
// without a bound, and clipping does not help, as the direction alone can turn as fast.
func (t Task) Class(records Dataset, batch int, rate, clip float64) (found smoothness.Found, known bool, err error) {
	p := t.Model
	if !p.linear() {
		return found, false, nil
	}
	training := smoothness.Training{Model: smoothness.Linear, Rate: rate, Batch: batch, Divisor: float64(batch), Clip: clip}
	if !p.squared {
		training.Model, training.Classes = smoothness.Softmax, p.outputs()
	}
	largest := 0.0 // of one record: the mean of a smaller batch can be as large
	for i := range records.Len() {
		largest = max(largest, norm(records.Slice(i, i+1).Inputs))
	}
	training.Norms = []float64{largest}
	found, err = training.Class()
	return found, err == nil, err
}
