package smoothness

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"mafalda/internal/enum"
	"mafalda/internal/fault"
	"mafalda/internal/rounding"
	"mafalda/threat/reaction"
)

// Model is the loss of one record as a function of the parameters.
type Model int

const (
	Linear   Model = iota + 1 // linear regression: (o − y)², o = w·x + b
	Logistic                  // logistic regression of two classes with one output: log(1 + exp(−yo))
	Softmax                   // logistic regression with an output a class: the cross-entropy of their softmax
	Convex                    // any convex loss whose gradients are Lipschitz
	Smooth                    // any loss whose gradients are Lipschitz, convex or not
)

var models = enum.Of[Model]("model", "", "linear", "logistic", "softmax", "convex", "smooth")

// Models lists the names that ParseModel accepts.
func Models() []string { return models.All()[1:] }

// String returns the name that ParseModel accepts; empty for the zero value.
func (m Model) String() string { return models.Name(m) }

// ParseModel is the inverse of String. The error is a fault.Argument.
func ParseModel(name string) (Model, error) {
	if !slices.Contains(Models(), name) {
		return 0, fault.New("Model", fmt.Sprintf("%q", name), "must be %s", strings.Join(Models(), ", "))
	}
	return models.Parse(name)
}

// regression reports whether the model is one whose curvature is known.
func (m Model) regression() bool { return m == Linear || m == Logistic || m == Softmax }

// curvature returns the largest second derivative of the loss by the outputs.
func (m Model) curvature() float64 { return [...]float64{Linear: 2, Logistic: 0.25, Softmax: 0.5}[m] }

// Training is how a node makes its steps. The zero value of a field stands for what is said there.
type Training struct {
	Model Model // needed

	// Norms bound the Euclidean norms of the inputs of a regression, without the 1 of the intercept: one number for all
	// records, or one a record, of which those count that a batch has room for. If smaller batches are divided by their own
	// size give one number: the mean of few records can be larger. Needed for regressions, and for no other model.
	Norms []float64 `in:"[0,)"`

	// NoIntercept is for regressions without the parameter b.
	NoIntercept bool

	// Curvature is the largest second derivative of the loss by an output; 0: the model's, 2 for Linear. A loss ½(o − y)² has 1.
	Curvature float64 `in:"[0,)"`

	// Classes is how many outputs Softmax has; 0: more than two. Two are as good as one.
	Classes int

	// Beta is a Lipschitz constant of one record's gradient, before clipping. Needed for Convex and Smooth, and for no other.
	Beta float64 `in:"[0,)"`

	Rate     float64 `in:"(0,)"` // η, the largest; needed
	Batch    int     // the most records that a batch can have; 0: 1
	Smallest int     // the fewest; only for Ridge; 0: Batch
	Divisor  float64 `in:"[0,)"` // D: the least that a sum of Batch gradients is divided by; 0: 1, the sum

	Clip      float64 `in:"[0,)"` // the norm that gradients are clipped to; 0: it is not known, and gradients may be clipped anywhere
	Unclipped bool    // it is known that no gradient is ever clipped
	PerLayer  bool    // weights and intercept are clipped apart, each to Clip

	Ridge float64 `in:"[0,)"` // λ of a term ½λ‖θ‖² in every record's loss, INSIDE the clip
	Decay float64 `in:"[0,)"` // what a step takes off the model outside the clip: rate·Decay·θ
}

// Row is the class, by the name of its constructor in package reaction.
type Row string

// Found is the class of a training. Numbers are rounded to the side on which the class is larger.
type Found struct {
	Row   reaction.Kind
	Beta  float64        // smoothness of the sum over a batch
	X     float64        // number of the class: the rate times Beta over the divisor
	Y     float64        // strong convexity: the rate times λ over the divisor; 0 for other rows
	Class reaction.Class // class of the gradient, without decay
	Step  reaction.Class // class of the whole step, with decay
	Why   string         // why this row
}

// more is what rounding of a few operations cannot exceed.
const more = 1 + 1e-12

// Class returns the class that all steps of a training are in. The error is a fault.Argument that names a field which is
// missing, wrong, or not for the model.
func (t Training) Class() (Found, error) {
	if err := t.check(); err != nil {
		return Found{}, err
	}
	f := Found{Beta: t.sum()}
	rate := t.Rate / cmp.Or(t.Divisor, 1)
	f.X = rate * f.Beta * more
	smallest := float64(cmp.Or(t.Smallest, t.Batch, 1))
	why, clipped := t.clipped()
	switch {
	case t.Model == Smooth:
		f.Row, f.Why = reaction.Smooth, "the loss need not be convex, and clipping moves no two gradients apart"
	case !clipped && t.Ridge > 0:
		f.Row, f.Why = reaction.StronglyConvex, why
		f.Y = rate * smallest * t.Ridge / more
	case !clipped || t.single():
		f.Row, f.Why = reaction.Convex, why
		if clipped {
			f.Why = "one output, clipped by one norm: the clipped gradient is the gradient of a convex function"
		}
	default:
		f.Row, f.Why = reaction.ClippedConvex, why
	}
	var err error
	if f.Class, err = f.Row.Class(f.X, f.Y); err != nil { // numbers that are too large together
		return Found{}, fault.New("Rate", t.Rate, "makes a class of numbers that are not finite")
	}
	f.Step = reaction.Class{Rho: f.Class.Rho - t.Rate*t.Decay, Kappa: f.Class.Kappa}
	return f, nil
}

// check returns an error unless the training is one whose class can be told.
func (t Training) check() error {
	if t.Model < Linear || t.Model > Smooth {
		return fault.New("Model", t.Model, "must be %s", strings.Join(Models(), ", "))
	}
	if err := fault.Ranges(t); err != nil {
		return err
	}
	switch {
	case t.Batch < 0:
		return fault.New("Batch", t.Batch, "must be at least 1")
	case t.Smallest < 0 || t.Smallest > max(t.Batch, 1):
		return fault.New("Smallest", t.Smallest, "must be between 1 and the largest batch")
	case t.Smallest != 0 && t.Ridge == 0:
		return fault.New("Smallest", t.Smallest, "changes nothing without Ridge")
	case t.Model.regression() && len(t.Norms) == 0:
		return fault.New("Norms", nil, "is needed: how large can the inputs of a record be?")
	case !t.Model.regression() && t.Beta == 0:
		return fault.New("Beta", nil, "is needed: how fast does the gradient of one record change?")
	case t.Model.regression() && t.Beta != 0:
		return fault.New("Beta", t.Beta, "follows from the norms of the inputs")
	case !t.Model.regression() && (len(t.Norms) > 0 || t.NoIntercept || t.Curvature != 0):
		return fault.New("Norms", nil, "describes regressions, not model %v, which has Beta", t.Model)
	case t.Model != Softmax && t.Classes != 0:
		return fault.New("Classes", t.Classes, "only of softmax")
	case t.Classes != 0 && t.Classes < 2:
		return fault.New("Classes", t.Classes, "must be at least 2")
	case t.Model == Softmax && t.Curvature != 0:
		return fault.New("Curvature", t.Curvature, "only of one output")
	}
	return nil
}

// square returns the squared norm of the input of a record, with the 1 of the intercept.
func (t Training) square(norm float64) float64 {
	if t.NoIntercept {
		return norm * norm
	}
	return norm*norm + 1
}

// curvature returns the largest second derivative of the loss with respect to the model's outputs.
func (t Training) curvature() float64 {
	return cmp.Or(t.Curvature, t.Model.curvature())
}

// sum returns β: the sum of the records' constants, of those that a batch can have at worst.
func (t Training) sum() float64 {
	batch := max(t.Batch, 1)
	of := rounding.MulUp(float64(batch), t.Ridge)
	if !t.Model.regression() {
		return (of + float64(batch)*t.Beta) * more
	}
	if len(t.Norms) == 1 {
		return (of + float64(batch)*t.curvature()*t.square(t.Norms[0])) * more
	}
	largest := slices.Sorted(slices.Values(t.Norms))
	for _, norm := range largest[max(0, len(largest)-batch):] {
		of += t.curvature() * t.square(norm)
	}
	return of * (1 + 1e-15*float64(batch)) * more
}

// clipped reports whether a gradient may be clipped, and why not, or why that matters.
func (t Training) clipped() (why string, clipped bool) {
	longest := math.Inf(1) // gradient
	if slope := map[Model]float64{Logistic: 1, Softmax: math.Sqrt2}[t.Model]; slope > 0 && t.Curvature == 0 && t.Ridge == 0 {
		longest = slope * math.Sqrt(t.square(slices.Max(t.Norms))) * more
	}
	switch {
	case t.Unclipped:
		return "no gradient is ever clipped, as is said", false
	case t.Clip >= longest:
		return fmt.Sprintf("no gradient is ever clipped: none is longer than %.4g", longest), false
	case t.Ridge > 0:
		return "an L2 term inside the clip: clipping turns the gradient", true
	case t.PerLayer:
		return "layers are clipped apart: that turns the gradient", true
	}
	return "several outputs, clipped by norm: clipping turns the gradient", true
}

// single reports whether every record's clipped gradient is a number times a fixed vector.
func (t Training) single() bool {
	one := t.Model == Linear || t.Model == Logistic || t.Model == Softmax && t.Classes == 2
	return one && t.Ridge == 0 && (!t.PerLayer || t.NoIntercept)
}
