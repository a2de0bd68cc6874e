package simulate

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// NoiseError is what noise does, measured, as a mean over the runs, and predicted by a Gram matrix. Of Row.NoiseError it
// is the squared error of the models that the noise alone makes, summed over steps and nodes, of one parameter, for noise
// of standard deviation one (at the strictest node, where nodes have levels of their own) and a learning rate of one,
// which is the squared error of the strategy. Of Row.Prediction it is the loss in the last steps above training with the
// same rate and data without noise, with gradients that answer to it.
type NoiseError struct {
	Measured  float64  `json:"measured"`
	StdErr    *float64 `json:"standard_error,omitempty"`
	Predicted *float64 `json:"predicted,omitempty"`
	Runs      int      `json:"runs"`
}

// noiseError sums up the runs that have one; nil if none has.
func noiseError(runs []*Result) *NoiseError {
	measured := known(runs, func(r *Result) *float64 { return r.NoiseError })
	if len(measured) == 0 {
		return nil
	}
	mean, std := stat.MeanStdDev(measured, nil)
	e := &NoiseError{Measured: mean, StdErr: finite(std / math.Sqrt(float64(len(measured)))), Runs: len(measured)}
	if predicted := known(runs, func(r *Result) *float64 { return r.Predicted }); len(predicted) > 0 {
		e.Predicted = &predicted[0]
	}
	return e
}

// predictionOf compares runs with training without noise, which has the same seeds, where it is predicted; nil otherwise.
func predictionOf(without, runs []*Result) *NoiseError {
	predicted, paired := known(runs, func(r *Result) *float64 { return r.PredictedExcess }), Compare(without, runs)
	if len(predicted) == 0 || paired == nil {
		return nil
	}
	return &NoiseError{Measured: paired.Difference, StdErr: paired.StdErr, Predicted: finite(stat.Mean(predicted, nil)), Runs: paired.Runs}
}

// Deviation returns how many standard errors the measured error is from the predicted one; ok is false if that is not
// known.
func (e *NoiseError) Deviation() (deviation float64, ok bool) {
	if e == nil || e.StdErr == nil || e.Predicted == nil || *e.StdErr == 0 {
		return 0, false
	}
	return math.Abs(e.Measured-*e.Predicted) / *e.StdErr, true
}

// Off reports whether the measured error is further from the predicted one than chance would have it in one of 370
// cases: more than three standard errors, if there are many runs, and more of few, whose standard error is not known well.
func (e *NoiseError) Off() bool {
	d, ok := e.Deviation()
	if !ok {
		return false
	}
	within := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(e.Runs - 1)}.Quantile(distuv.UnitNormal.CDF(3))
	return d > within
}
