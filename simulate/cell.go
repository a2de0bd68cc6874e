package simulate

import "math"

// Cell is a place in the grid of a Study: one run.
type Cell struct {
	Method string  `json:"method"`           // as of StudyOptions.Methods
	Export string  `json:"export,omitempty"` // digest of the export, if the method is one
	Mu     float64 `json:"mu,omitempty"`     // 0: without noise, or batches drawn in secret
	Seed   uint64  `json:"seed"`

	Sampling string  `json:"sampling,omitempty"` // the scheme, if batches are drawn in secret
	Epsilon  float64 `json:"epsilon,omitempty"`  // in the place of Mu, where batches are drawn in secret
}

// level is μ, or ε where batches are drawn in secret; 0 without noise.
func (c Cell) level() float64 { return max(c.Mu, c.Epsilon) }

// Kept is a Result as plain data. Numbers that a diverged run does not have are absent.
type Kept struct {
	Steps    []int     `json:"steps"`
	Losses   []float64 `json:"losses"`
	Mean     *float64  `json:"mean_last50,omitempty"`
	Final    *float64  `json:"final,omitempty"`
	Full     *float64  `json:"final_full_test,omitempty"`
	Accuracy *float64  `json:"accuracy,omitempty"` // on all test records, of classifications
	Clipped  float64   `json:"clipped_fraction"`
	Diverged int       `json:"diverged_at,omitempty"`
	Seconds  float64   `json:"seconds"`

	Groups     int     `json:"groups,omitempty"` // of Poisson sampling
	Multiplier float64 `json:"noise_multiplier,omitempty"`

	NoiseError *float64 `json:"noise_error,omitempty"`           // as of Result
	Predicted  *float64 `json:"predicted_noise_error,omitempty"` // likewise
}

func keep(r *Result) Kept {
	k := Kept{Steps: r.Steps, Losses: r.Losses, Accuracy: r.Accuracy, Clipped: r.Clipped, Diverged: r.Diverged,
		Seconds: r.Seconds, Groups: r.Groups, Multiplier: r.Multiplier,
		NoiseError: r.NoiseError, Predicted: r.Predicted}
	if r.Diverged == 0 {
		k.Mean, k.Final, k.Full = &r.Mean, &r.Final, &r.Full
	}
	return k
}

func (k Kept) result() *Result {
	value := func(v *float64) float64 {
		if v == nil {
			return math.NaN()
		}
		return *v
	}
	return &Result{Steps: k.Steps, Losses: k.Losses, Mean: value(k.Mean), Final: value(k.Final), Full: value(k.Full),
		Accuracy: k.Accuracy, Clipped: k.Clipped, Diverged: k.Diverged, Seconds: k.Seconds,
		Groups: k.Groups, Multiplier: k.Multiplier, NoiseError: k.NoiseError, Predicted: k.Predicted}
}
